"""What the project files of IDEs say of a build: which files, which options, for which core."""
