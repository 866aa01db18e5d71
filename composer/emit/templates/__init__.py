"""Texts of the generated files."""
