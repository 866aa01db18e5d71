"""Architectures: which instruction set and which rules a core brings, and which chip has which."""
