"""Which variables are as good as constants: the mid-section keeps a value from when it was made."""

from __future__ import annotations

import re

from porter.sites.local_names import declarations
from porter.source.c_tree import Node, SyntaxTree, text_of
from porter.source.c_types import declared_name
from porter.source.evaluate import Evaluator, Scope
from porter.source.values import Number, Pointer, Value

_WORD = re.compile(rb"[A-Za-z_]\w*")


def constants_only(
    scope: Scope, file: SyntaxTree, tree: SyntaxTree, function: Node, words_of: Words
) -> Scope:
    """A scope without the values of what may change: volatile objects, numbers of the file or
    static ones that aren't const, pointers that other files can write."""
    numbers: set[bytes] = set()
    pointers: set[bytes] = set()
    for source, root, file_level in ((file, file.root, True), (tree, function, False)):
        for kind, declarator, _ in declarations(root, file_level):
            name = declared_name(declarator)
            if name is None:
                continue
            words = words_of(source, kind.parent or kind, declarator)
            lasting = b"volatile" not in words
            lives = file_level or b"static" in words
            if not lasting or (lives and b"const" not in words):
                numbers.add(text_of(name))
            if not lasting or (file_level and not words & {b"const", b"static"}):
                pointers.add(text_of(name))

    def look_up(name: bytes) -> Value | None:
        value = scope(name)
        known = isinstance(value, Number) and name in numbers
        return None if known or (isinstance(value, Pointer) and name in pointers) else value

    return look_up


class Words:
    """What a declaration says of the object itself, not of what it points to."""

    def __init__(self, data: bytes, evaluator: Evaluator) -> None:
        self._data = data
        self._macros = evaluator.macros

    def __call__(self, tree: SyntaxTree, declaration: Node, declarator: Node) -> set[bytes]:
        """The words, and those that macros stand for."""
        middle = tree.start(declarator)
        head = self._between(tree.start(declaration), middle)
        if declarator.type == "pointer_declarator":
            return self._between(middle, tree.end(declarator)) | (head & {b"static"})
        return head

    def _between(self, start: int, end: int) -> set[bytes]:
        words: set[bytes] = set(_WORD.findall(self._data[start:end]))
        for word in tuple(words):
            macro = self._macros.get(word)
            if macro is not None and macro.parameters is None:
                words |= set(self._macros.expand(macro.body))
        return words
