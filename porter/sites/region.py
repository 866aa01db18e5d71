"""Stretches of C code: the code of a file and the bodies of its macros."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from porter.registers.intrinsics import INTRINSIC_BYTES
from porter.source.c_lexer import LexedSource, Token
from porter.source.evaluate import Evaluator
from porter.source.inline_asm import ASM_WORDS
from porter.source.macros import parse_define
from porter.source.token_tools import has_word
from porter.source.values import Number


@dataclass(frozen=True)
class Region:
    """`name` is None for the file's own code, else that of the macro."""

    tokens: tuple[Token, ...]
    name: bytes | None = None
    parameters: tuple[bytes, ...] = ()

    @property
    def start(self) -> int:
        """Offset of the first token."""
        return self.tokens[0].start

    @property
    def end(self) -> int:
        """Offset just past the last token."""
        return self.tokens[-1].end


def regions(
    lexed: LexedSource, evaluator: Evaluator, calls: Collection[int] = ()
) -> Iterator[Region]:
    """The file's code, then every macro whose body is code rather than a name for something.
    `calls`: offsets of tokens that are sites whatever stands around them."""
    if lexed.tokens:
        yield Region(tuple(lexed.tokens))
    for directive in lexed.directives:
        macro = parse_define(directive)
        if macro is None or not macro.text:
            continue
        has_call = bool(calls) and any(token.start in calls for token in macro.body)
        if not has_call and is_name(macro.text, evaluator):
            continue
        yield Region(macro.body, macro.name, macro.parameters or ())


def is_name(body: tuple[bytes, ...], evaluator: Evaluator) -> bool:
    """Whether a macro body only names a number, an address or a register: its uses are the sites.

    What computes with a register's content, or does something, is code and is its own site.
    """
    if not ASM_WORDS.isdisjoint(body) or not INTRINSIC_BYTES.isdisjoint(body):
        return False
    if len(body) == 1:
        return True
    return evaluator.text(b" ".join(evaluator.macros.expanded(body))) is not None


def constant_in(
    evaluator: Evaluator, parameters: tuple[bytes, ...] = ()
) -> Callable[[bytes], int | None]:
    """Which constant an expression is, if it is one; a macro's parameters are none."""

    def constant(text: bytes) -> int | None:
        if any(has_word(text, name) for name in parameters):
            return None
        value = evaluator.text(text)
        return value.value if isinstance(value, Number) else None

    return constant
