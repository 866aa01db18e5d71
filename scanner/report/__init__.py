"""Findings, errors for users, and one file an output format."""
