"""One file a command of the composer."""
