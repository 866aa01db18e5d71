"""Which variables are as good as constants: the mid-section keeps a value from when it was made."""

from __future__ import annotations

from porter.program.c_text import CText
from porter.sites.local_names import declarations
from porter.sites.own_words import own_words
from porter.source.c_tree import Node, text_of
from porter.source.declared import declared_name
from porter.source.evaluate import Scope
from porter.source.values import Initial, Number, Pointer, Value


def constants_only(scope: Scope, text: CText, function: Node) -> Scope:
    """A scope without the values of what may change: volatile objects, numbers of the file or
    static ones that aren't const, pointers that other files can write."""
    numbers: set[bytes] = set()
    pointers: set[bytes] = set()
    for root, file_level in ((text.trees.whole.root, True), (function, False)):
        for kind, declarator, _ in declarations(root, file_level):
            name = declared_name(declarator)
            if name is None:
                continue
            words = own_words(text, kind, declarator)
            lasting = b"volatile" not in words
            lives = file_level or b"static" in words
            if not lasting or (lives and b"const" not in words):
                numbers.add(text_of(name))
            if not lasting or (file_level and not words & {b"const", b"static"}):
                pointers.add(text_of(name))

    def look_up(name: bytes) -> Value | None:
        value = scope(name)
        changes = isinstance(value, Initial) or (isinstance(value, Number) and name in numbers)
        return None if changes or (isinstance(value, Pointer) and name in pointers) else value

    return look_up
