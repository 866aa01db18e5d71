"""Kinds of declared objects, as far as C that uses them has to know."""

from __future__ import annotations

POINTER = "pointer"
INTEGER = "integer"
ARRAY = "array"  # that no C declares, and that is used beyond its first word
OTHER = "other"  # an array, a structure, a typedef of one: only its address can be used
