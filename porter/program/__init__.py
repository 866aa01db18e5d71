"""The one model of a project's C and C++: files, names, definitions, calls, what is built."""
