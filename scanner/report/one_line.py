"""Text from files that others wrote, made fit for a line of a report."""

from __future__ import annotations


def one_line(text: str) -> str:
    """The text with nothing in it that could end the line or move a terminal's cursor."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else "?" for character in text)
