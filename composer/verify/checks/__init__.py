"""One file a subject; each check is a function that yields its findings."""
