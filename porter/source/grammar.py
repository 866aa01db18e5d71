"""The grammars of C and C++, and which of them a text is parsed by."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

import tree_sitter
import tree_sitter_c
import tree_sitter_cpp

from porter.source.c_lexer import LexedSource


@dataclass(frozen=True)
class Grammar:
    """A parser, and the query for what holds much of a file."""

    language: tree_sitter.Language
    parser: tree_sitter.Parser
    large_parts: tree_sitter.Query

    def query(self, pattern: str) -> tree_sitter.Query:
        """A query for trees of this grammar."""
        found: tree_sitter.Query = tree_sitter.Query(self.language, pattern)
        return found

    def made(self, node: tree_sitter.Node) -> bool:
        """Whether a node is of a tree of this grammar: the grammars number their nodes apart."""
        while node.parent is not None:
            node = node.parent
        return bool(self.language.node_kind_for_id(node.kind_id) == node.type)


def _grammar(language: tree_sitter.Language) -> Grammar:
    query = "(function_definition) @function (ERROR) @error"
    return Grammar(language, tree_sitter.Parser(language), tree_sitter.Query(language, query))


C = _grammar(tree_sitter.Language(tree_sitter_c.language()))
CPLUSPLUS = _grammar(tree_sitter.Language(tree_sitter_cpp.language()))

_EXPRESSION = re.compile(
    rb"::|\b(?:(?:static|reinterpret|const|dynamic)_cast\s*<|nullptr\b)|\[[&=]?\]\s*[({]"
)
_BEFORE_NAME = frozenset({b"namespace", b"class", b"constexpr", b"typename", b"using"})
_ACCESS = frozenset({b"public", b"private", b"protected"})


def of_expression(text: bytes) -> Grammar:
    """The grammar for what may stand in a macro of either language: what C can say is C."""
    return CPLUSPLUS if _EXPRESSION.search(text) else C


def has_cplusplus(lexed: LexedSource) -> bool:
    """Whether a header has what only C++ has."""
    for token, after in pairwise(lexed.tokens):
        name, following = token.text, after.text
        if (
            (name in _BEFORE_NAME and after.kind == "identifier")
            or (name == b"template" and following == b"<")
            or (name in _ACCESS and following == b":")
            or (name == b"operator" and after.kind == "punctuator" and following not in b",;)=")
            or (name == following == b":" and token.end == after.start)
        ):
            return True
    return False
