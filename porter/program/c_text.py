"""A C file taken apart, and what its names mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from porter.program.functions import Definition, functions_in
from porter.source.balanced import balanced
from porter.source.blanking import Expanded
from porter.source.c_lexer import LexedSource, Token
from porter.source.c_tree import FileTrees
from porter.source.conditions import ConditionMap
from porter.source.evaluate import Evaluator
from porter.source.grammar import CPLUSPLUS, C, Grammar
from porter.source.source_file import SourceFile
from porter.source.written_names import WrittenNames


@dataclass
class CText:
    """A C file taken apart; trees are made when somebody asks.

    `is_named_elsewhere`: whether another file of the project has a name; `is_known`: whether a
    compiler has seen the file, so that every name in what it compiles is defined; `own`: names of
    CMSIS that the project has given to functions of its own.
    """

    file: SourceFile
    evaluator: Evaluator
    lexed: LexedSource
    is_named_elsewhere: Callable[[bytes], bool] = lambda _name: False
    is_known: bool = False
    grammar: Grammar = C
    own: frozenset[bytes] = frozenset()
    conditions: ConditionMap = field(init=False)
    trees: FileTrees = field(init=False)
    written: WrittenNames = field(init=False)
    _expanded: dict[bytes, Expanded | None] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.conditions = ConditionMap(self.lexed)
        self.trees = FileTrees(
            self.file.data, self.lexed, self.conditions, self.expansion, self.grammar
        )
        self.written = WrittenNames(self.evaluator, self.lexed, self.file.data)

    @cached_property
    def balanced(self) -> list[Token]:
        """The tokens, with braces that match."""
        return balanced(self.lexed)

    @cached_property
    def functions(self) -> list[Definition]:
        """Function definitions outside classes, among the balanced tokens."""
        return list(functions_in(self.balanced, self._stands_alone))

    @cached_property
    def with_members(self) -> list[Definition]:
        """The same, and those inside classes and namespaces."""
        return list(functions_in(self.balanced, self._stands_alone, in_classes=True))

    @property
    def is_cplusplus(self) -> bool:
        """Whether the file is read as C++."""
        return self.grammar is CPLUSPLUS

    def is_argument(self, start: int) -> bool:
        """Whether an arm of #if that begins there stands among a macro's arguments."""
        return start in self._arms_in_arguments

    @cached_property
    def _arms_in_arguments(self) -> frozenset[int]:
        """Where arms begin whose text a macro takes."""
        found: set[int] = set()
        starts = [arm.start for arm in self.conditions][1:]
        open_uses: list[bool] = []
        before = b""
        for token in self.lexed.tokens if starts else ():
            while starts and starts[0] <= token.start:
                start = starts.pop(0)
                if any(open_uses):
                    found.add(start)
            if token.text == b"(":
                open_uses.append(before in self.evaluator.macros)
            elif token.text == b")" and open_uses:
                open_uses.pop()
            elif token.text in (b";", b"{", b"}") and not any(open_uses):
                open_uses.clear()  # in arms that exclude each other they need not match
            before = token.text
        return frozenset(found)

    def expansion(self, token: Token) -> Expanded | None:
        """What a name stands for, None if it is no macro."""
        if token.text not in self._expanded:
            macros = self.evaluator.macros
            macro = macros.get(token.text)
            self._expanded[token.text] = None if macro is None else Expanded(
                macros.expanded(macro.text), macro.parameters
            )  # fmt: skip
        return self._expanded[token.text]

    def _stands_alone(self, token: Token) -> bool:
        """Whether a name, with the parentheses behind it, is no function's: the macro only
        qualifies a declaration, or makes whole ones, or nothing."""
        made = self.expansion(token)
        if made is None or not made.takes_arguments:
            return False
        return made.is_attribute or not made.texts or made.texts[-1] in (b"}", b";")
