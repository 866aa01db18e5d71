"""Chip and board facts as data, and what a chip family needs to turn them into register writes."""
