"""Whether an object always holds what it is initialised with."""

from __future__ import annotations

from porter.program.c_text import CText
from porter.sites.own_words import own_words
from porter.source.c_tree import Node, text_of
from porter.source.declared import declared_name


def is_fixed(text: CText, kind: Node, declarator: Node, file_level: bool) -> bool:
    """Whether nobody can change an object that no statement in its scope writes.

    Outside functions another file may, and assembler text, which knows it by its name.
    """
    words = own_words(text, kind, declarator)
    name = declared_name(declarator)
    if name is None or b"volatile" in words:
        return False
    if not file_level or b"const" in words:
        return True
    return b"static" in words and not (
        text.written.is_named_in_asm(text_of(name)) or text.is_named_elsewhere(text_of(name))
    )
