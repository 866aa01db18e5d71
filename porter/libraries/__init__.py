"""What functions of libraries do that a project calls and doesn't contain."""
