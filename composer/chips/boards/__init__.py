"""Board data, one JSON file a board."""
