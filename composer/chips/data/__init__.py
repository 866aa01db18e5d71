"""Chip data, one JSON file a chip (made by composer.chips.import_metapac)."""
