"""Runs a program's C text on values that are partly known, to see what its set-up writes where."""
