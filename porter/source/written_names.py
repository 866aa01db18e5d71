"""Which variables the code of a file writes, also by asm statements and through macros."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property, lru_cache

from porter.source.asm_names import asm_text, spells, written_by
from porter.source.c_lexer import LexedSource, Token, lex_fragment
from porter.source.c_tree import (
    Node,
    SyntaxTree,
    captured,
    query,
    strip_parentheses,
    text_of,
)  # fmt: skip
from porter.source.evaluate import Evaluator
from porter.source.inline_asm import ASM_WORDS, AsmStatement, find_asm, is_asm_word

_MAY_WRITE = re.compile(rb"(?<![=!<>])=(?!=)|<<=|>>=|\+\+|--|(?<!&)&(?!&)|asm|ASM")
_IDENTIFIERS = query("(identifier) @it")
_TARGETS = query(
    "[(assignment_expression left: (_) @it) (update_expression argument: (_) @it)"
    ' (pointer_expression operator: "&" argument: (_) @it)]'
)


class WrittenNames:
    """Answers for one file."""

    def __init__(self, evaluator: Evaluator, lexed: LexedSource, data: bytes) -> None:
        self._evaluator = evaluator
        self._lexed = lexed
        self._data = data
        self._may_write: dict[bytes, bool] = {}

    def inside(self, node: Node) -> frozenset[bytes]:
        """Names written, or whose address is taken, in a node of one of the file's trees."""
        names = set(_assigned(node))
        for item in captured(node, _IDENTIFIERS, "it"):
            names |= self._by_macro(item)
        for statement in self._asm:
            if node.start_byte <= statement.start < node.end_byte:
                names.update(written_by(statement))
        return frozenset(names)

    def besides(self, node: Node, assignment: Node | None) -> frozenset[bytes]:
        """The same without what one assignment there writes on its left side."""
        if assignment is None or not (node.start_byte <= assignment.start_byte < node.end_byte):
            return self.inside(node)
        if node == assignment:
            right = node.child_by_field_name("right")
            return self.inside(right) if right is not None else frozenset()
        return frozenset().union(*(self.besides(it, assignment) for it in node.children))

    @cached_property
    def asm_text(self) -> tuple[Token, ...]:
        """The tokens of the file that are assembler text."""
        return asm_text(self._lexed, self._asm)

    def is_named_in_asm(self, name: bytes) -> bool:
        """Whether assembler text of the file has a name."""
        return any(spells(token, name) for token in self.asm_text)

    @cached_property
    def _asm(self) -> tuple[AsmStatement, ...]:
        macros = self._evaluator.macros
        return tuple(find_asm(self._lexed.tokens, self._data, lambda it: is_asm_word(it, macros)))

    def _by_macro(self, identifier: Node) -> frozenset[bytes]:
        """What a use of a macro writes: `#define SAVE(x) asm("mrs %0, primask" : "=r"(x))`."""
        macro = self._evaluator.macros.get(text_of(identifier))
        if macro is None:
            return frozenset()
        if macro.name not in self._may_write:
            body = b" ".join(self._evaluator.macros.expanded(macro.text))
            self._may_write[macro.name] = _MAY_WRITE.search(body) is not None
        if not self._may_write[macro.name]:
            return frozenset()
        if macro.parameters is None:
            return _written_in(b" ".join(self._evaluator.macros.expanded(macro.text)))
        call = identifier.parent
        text = self._evaluator.call_text(call) if call is not None else None
        return _written_in(text) if text is not None else frozenset()


def _assigned(node: Node) -> Iterator[bytes]:
    for item in captured(node, _TARGETS, "it"):
        if (target := strip_parentheses(item)).type == "identifier":
            yield text_of(target)


@lru_cache(maxsize=4096)
def _written_in(code: bytes) -> frozenset[bytes]:
    """What the expansion of a macro writes, be it an expression or statements."""
    names = set(_assigned(SyntaxTree(b"void f(void){" + code + b"\n;}", 0).root))
    for statement in find_asm(lex_fragment(code), code, lambda word: word in ASM_WORDS):
        names.update(written_by(statement))
    return frozenset(names)
