"""Finding instructions at every even address, and grading which of them are certain."""
