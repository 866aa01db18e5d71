"""A port that a person takes piece by piece."""
