"""Where values go inside a file: what can be taken out because nothing else depends on it."""
