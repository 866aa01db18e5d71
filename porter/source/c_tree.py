"""Syntax trees of C and C++ text: whole files, macro bodies and expanded expressions.

Nodes count bytes of the parsed buffer; a SyntaxTree translates them to offsets of the file.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Any
from weakref import WeakValueDictionary

import tree_sitter

from porter.source.blanking import Expansion, parsable, without_noise
from porter.source.c_lexer import LexedSource
from porter.source.comments import without_comments
from porter.source.conditions import ConditionMap
from porter.source.cplusplus_text import plain_cplusplus
from porter.source.grammar import CPLUSPLUS, C, Grammar, of_expression

Node = tree_sitter.Node
Queries = tuple[tree_sitter.Query, tree_sitter.Query]
"""One query for trees of C and one for those of C++."""

_STATEMENT_PREFIX = b"void f(void){"
_BEGINS_STATEMENT = re.compile(rb"\s*(?:\{|(?:if|for|while|do|switch|return|goto)\b)")
_EXPRESSION_PREFIX = b"int x=("
CONDITION = "condition_clause"
"""What C++ has for the parentheses of `if`, `while` and `switch`: there may be a declaration."""
PARENTHESES = frozenset({"parenthesized_expression", CONDITION})
_SAME_VALUE = PARENTHESES | {"cast_expression"}
_MAX_BRANCHES = 4  # arms of one #if group that are tried one at a time


class SyntaxTree:
    """A parsed buffer whose byte 0 is at offset `delta` of the file (it may be negative).

    `limit` is where the parsed part of the file ends, if text was added behind it: a macro body's
    last statement ends there, not with the semicolon that it was given.
    """

    def __init__(
        self, text: bytes, delta: int, limit: int | None = None, grammar: Grammar = C
    ) -> None:
        self._tree = grammar.parser.parse(text)
        self._grammar = grammar
        self.delta = delta
        self.text = text
        self._limit = len(text) + delta if limit is None else limit

    @property
    def root(self) -> Node:
        """All of it. A node keeps the nodes below it that were asked for; one that is made anew
        each time lets go of them."""
        return self._tree.root_node

    @property
    def is_cplusplus(self) -> bool:
        """Whether the text was read as C++."""
        return self._grammar is CPLUSPLUS

    def start(self, node: Node) -> int:
        """File offset of a node's first byte."""
        return min(node.start_byte + self.delta, self._limit)

    def end(self, node: Node) -> int:
        """File offset just past a node."""
        return min(node.end_byte + self.delta, self._limit)

    def smallest(self, start: int, end: int) -> Node | None:
        """The smallest node that covers file offsets [start, end)."""
        return self.root.descendant_for_byte_range(start - self.delta, end - self.delta)

    def function_around(self, node: Node) -> Node | None:
        """The same as `enclosing_function`, for trees so deep that the way up takes long."""
        return self._parts["function"].around(node)

    def is_in_error(self, node: Node) -> bool:
        """Whether a node is a part of what the parser didn't understand."""
        return self._parts["error"].around(node) is not None

    @cached_property
    def _parts(self) -> dict[str, _Nodes]:
        found = tree_sitter.QueryCursor(self._grammar.large_parts).captures(self.root)
        return {kind: _Nodes(found.get(kind, [])) for kind in ("function", "error")}


class _Nodes:
    """Nodes of one tree by where they are."""

    def __init__(self, nodes: list[Node]) -> None:
        self._nodes = sorted(nodes, key=lambda node: (node.start_byte, -node.end_byte))
        self._starts = [node.start_byte for node in self._nodes]
        self._farthest = list(accumulate((node.end_byte for node in self._nodes), max))

    def around(self, node: Node) -> Node | None:
        """The innermost one that has a node in it or is that node."""
        place = bisect_right(self._starts, node.start_byte) - 1
        while place >= 0 and self._farthest[place] >= node.end_byte:
            if self._nodes[place].end_byte >= node.end_byte:
                return self._nodes[place]
            place -= 1
        return None


def walk(node: Node) -> Iterator[Node]:
    """A node and everything below it, in source order."""
    # By a cursor: a node that was asked for its children keeps them, as long as somebody keeps it.
    cursor = node.walk()
    while True:
        if cursor.node is not None:
            yield cursor.node
        if cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return


def query(pattern: str, of_cplusplus: str = "") -> Queries:
    """What to look for in trees, as tree-sitter writes it, in C's and in C++'s, which may have
    more."""
    return C.query(pattern), CPLUSPLUS.query(pattern + of_cplusplus)


def captured(node: Node, wanted: Queries, name: str) -> list[Node]:
    """The nodes below a function or a file that a query captures under a name."""
    found = wanted[0 if C.made(node) else 1]
    return tree_sitter.QueryCursor(found).captures(node).get(name, [])


def ancestors(node: Node) -> Iterator[Node]:
    """The nodes around a node, innermost first."""
    current = node.parent
    while current is not None:
        yield current
        current = current.parent


def text_of(node: Node) -> bytes:
    """A node's text as parsed (blanked parts are spaces)."""
    return node.text or b""


_WITH_PARENTHESES = frozenset(
    {"if_statement", "while_statement", "do_statement", "switch_statement"}
)


def is_of_statement(node: Node) -> bool:
    """Whether parentheses are those of `if (...)` and its like, which can't go."""
    parent = node.parent
    if node.type == CONDITION:
        return True
    if node.type != "parenthesized_expression" or parent is None:
        return False
    return parent.type in _WITH_PARENTHESES


def parts_of(node: Node | None) -> list[Node]:
    """Statements of a block, elements of a list: what is below a node, without comments."""
    return [] if node is None else [it for it in node.named_children if it.type != "comment"]


def arguments_of(call: Node) -> list[Node]:
    """What a call hands over."""
    return parts_of(call.child_by_field_name("arguments"))


def operands(node: Node) -> tuple[Node, bytes, Node] | None:
    """Left side, operator and right side of an assignment or a binary expression, if all are
    there."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    sign = node.child_by_field_name("operator")
    return None if left is None or right is None or sign is None else (left, text_of(sign), right)


def strip_parentheses(node: Node) -> Node:
    """The expression inside any number of parentheses."""
    while node.type in PARENTHESES and len(parts := parts_of(node)) == 1:
        node = parts[0]
    return node


def index_of(subscript: Node) -> Node | None:
    """`i` of `a[i]`, which in C++ might have several."""
    indices = subscript.child_by_field_name("indices")
    if indices is None:
        return subscript.child_by_field_name("index")
    return indices.named_children[0] if indices.named_child_count == 1 else None


def outermost(node: Node) -> Node:
    """An expression with the parentheses and casts around it."""
    while node.parent is not None and node.parent.type in _SAME_VALUE:
        node = node.parent
    return node


def enclosing_function(node: Node) -> Node | None:
    """The function definition around a node, or the node itself."""
    around = (node, *ancestors(node))
    return next((it for it in around if it.type == "function_definition"), None)


def one_line(node: Node, most: int = 60) -> str:
    """A node's text for a message: on one line, cut after `most` characters."""
    text = b" ".join(text_of(node).split()).decode("latin-1")
    return text if len(text) <= most else f"{text[: most - 3]}..."


@lru_cache(maxsize=1 << 14)
def parse_expression(text: bytes) -> Node | None:
    """The expression a text is, or None if it isn't one. What macros make is the same again and
    again."""
    whole = _EXPRESSION_PREFIX + text + b"\n);"
    tree = SyntaxTree(whole, -len(_EXPRESSION_PREFIX), grammar=of_expression(text))
    if tree.root.has_error:
        return None
    declarator: Any = tree.root.named_children[0].child_by_field_name("declarator")
    value: Node | None = declarator.child_by_field_name("value") if declarator else None
    return None if value is None else strip_parentheses(value)


def parse_macro_body(
    data: bytes, start: int, end: int, is_statement: bool = False
) -> SyntaxTree | None:
    """The body of a macro as an expression or as statements; None if it is neither.
    `is_statement`: nobody asks for its value."""
    body = without_comments(data[start:end])
    body = re.sub(rb"\\(?=\r?\n)", b" ", body).replace(b"##", b"__")
    body = without_noise(re.sub(rb"#(?=\s*[A-Za-z_])", b" ", body))
    grammar = of_expression(body)
    if not is_statement and not _BEGINS_STATEMENT.match(body):
        # if (x) *p = 1 reads like a product
        text = _EXPRESSION_PREFIX + body + b"\n);"
        tree = SyntaxTree(text, start - len(_EXPRESSION_PREFIX), end, grammar)
        if not tree.root.has_error:
            return tree
    for tail in (b"\n;}", b"\n}", b"\n;while(0);}"):
        text = _STATEMENT_PREFIX + body + tail
        tree = SyntaxTree(text, start - len(_STATEMENT_PREFIX), end, grammar)
        if not tree.root.has_error:
            return tree
    return None


_PARSED: WeakValueDictionary[tuple[bool, bytes], SyntaxTree] = WeakValueDictionary()


def _parsed(text: bytes, grammar: Grammar) -> SyntaxTree:
    """The tree of a file's text. Many ways to read a file come to the same text, and share it."""
    key = grammar is CPLUSPLUS, text
    tree = _PARSED.get(key)
    if tree is None:
        tree = _PARSED[key] = SyntaxTree(text, 0, grammar=grammar)
    return tree


class FileTrees:
    """The trees of one file: every #if arm at once, and when that fails one arm at a time."""

    def __init__(
        self,
        data: bytes,
        lexed: LexedSource,
        conditions: ConditionMap,
        expansion: Expansion,
        grammar: Grammar = C,
    ) -> None:
        self._data = data
        self._grammar = grammar
        self._lexed = lexed
        self._conditions = conditions
        self._expansion = expansion
        self._by_branch: list[SyntaxTree | None] = []

    @cached_property
    def whole(self) -> SyntaxTree:
        """Every arm at once."""
        return self._parse(None)

    @property
    def _branches(self) -> Iterator[SyntaxTree]:
        """One arm of each group at a time, made when they are asked for; none that says what one
        before says."""
        for branch in range(min(self._conditions.most_arms, _MAX_BRANCHES)):
            if branch == len(self._by_branch):
                tree = self._parse(branch)
                is_known = any(tree is it for it in (self.whole, *self._by_branch))
                self._by_branch.append(None if is_known else tree)
            if (found := self._by_branch[branch]) is not None:
                yield found

    def _parse(self, branch: int | None) -> SyntaxTree:
        text = parsable(self._data, self._lexed, self._conditions, self._expansion, branch)
        if self._grammar is CPLUSPLUS:
            text = plain_cplusplus(text, self._lexed)
        return _parsed(text, self._grammar)

    def function_at(self, start: int, end: int) -> tuple[SyntaxTree, Node] | None:
        """The function definition around [start, end) and its tree, without an error if any."""
        best: tuple[SyntaxTree, Node] | None = None
        for tree in self._candidates():
            node = self._enclosing_function(tree, start, end)
            if node is not None and not node.has_error:
                return tree, node
            if node is not None and best is None:
                best = tree, node
        return best

    def clean_at(self, start: int, end: int) -> tuple[SyntaxTree, Node] | None:
        """The node at [start, end) of the first tree that has no error up to the top level."""
        for tree in self._candidates():
            node = tree.smallest(start, end)
            if node is None or node.has_error or not tree.text[start:end].strip():
                continue
            if not tree.is_in_error(node):
                return tree, node
        return None

    def readable(self) -> Iterator[SyntaxTree]:
        """Trees in which everything stands that a parse could read."""
        yield self.whole
        if self.whole.root.has_error:
            yield from self._branches

    def _candidates(self) -> Iterator[SyntaxTree]:
        yield self.whole
        yield from self._branches

    @staticmethod
    def _enclosing_function(tree: SyntaxTree, start: int, end: int) -> Node | None:
        node = tree.smallest(start, end)
        if node is None or not tree.text[start:end].strip():
            return None
        return tree.function_around(node)
