"""One file a rule. A rule knows what it finds, what it becomes and why; its samples are tests."""
