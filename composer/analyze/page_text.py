"""Labels, lines and words of the page."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from composer.analyze.model import Told

WIDTH = 100
LABEL = 12
PLACES = 3  # that are told without -v


def told(fact: Told) -> str:
    """A fact and how it is known."""
    shown = [it for it in fact.places if it not in fact.by][:PLACES]
    if fact.value is None:
        places = f" ({', '.join(shown)})" if shown else ""
        return f"not known: {fact.by}{places}"
    why = "; ".join(filter(None, (fact.by, ", ".join(shown))))
    return f"{fact.value} ({why})" if why else fact.value


def rest_of(all_: Sequence[str], shown: Sequence[str]) -> str:
    """How many aren't shown."""
    return f" and {len(all_) - len(shown)} more" if len(all_) > len(shown) else ""


def many(count: int, what: str) -> str:
    """1 place, 2 places, 3 lines of assembler."""
    noun, _, rest = what.partition(" of ")
    return f"{count} {noun}{'' if count == 1 else 's'}{' of ' if rest else ''}{rest}"


def entry(label: str, *texts: str) -> Iterator[str]:
    """A label and what belongs to it, each text from a new line."""
    for text in filter(None, texts):
        yield from wrapped(f"{label:{LABEL}}{text}", " " * LABEL)
        label = ""


def wrapped(text: str, indent: str) -> list[str]:
    """Lines of the page's width."""
    return textwrap.wrap(text, WIDTH, subsequent_indent=indent, break_long_words=False,
                         break_on_hyphens=False, drop_whitespace=True) or [""]  # fmt: skip
