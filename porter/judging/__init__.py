"""One file while it is judged, verdicts on it, and what is decided of a project as a whole."""
