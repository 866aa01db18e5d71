"""Templates of the page, one a section."""
