"""What a legacy project is, and what its port will look like, before any description exists."""
