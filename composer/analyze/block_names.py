"""Blocks of registers as the headers of a project call them, by the names in its code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from porter.registers.shared_blocks import is_device
from porter.source.c_lexer import Token
from porter.source.evaluate import Evaluator
from porter.source.values import Number, Place, Pointer

_BASE = re.compile(rb"[A-Z]\w*_BASE", re.ASCII)
_DEEPEST = 5  # macros in macros
_BUSES = re.compile(r"(?:PERIPH|D?\d?_?A[HP]B)\w*")  # where buses begin, not blocks
_BIT_BAND = range(0x4200_0000, 0x4400_0000)
_COMPARES = (b"==", b"!=", b"<", b">", b"<=", b">=")


@dataclass(frozen=True)
class Block:
    """A block or a register, by the name that a header gives its address."""

    name: str
    address: int


class BlockNames:
    """What names of one file's code lead to; each is asked for once."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._known: dict[bytes, tuple[Block, ...]] = {}

    def of(self, name: bytes, depth: int = 0) -> tuple[Block, ...]:
        """The blocks that a name stands for, or that are used where a macro of that name is."""
        if name not in self._known:
            self._known[name] = ()  # a name that is defined by itself leads nowhere
            self._known[name] = self._asked(name, depth)
        return self._known[name]

    def _asked(self, name: bytes, depth: int) -> tuple[Block, ...]:
        macro = self._evaluator.macros.get(name)
        if macro is None:
            return self._variable(name)
        if macro.parameters is None:
            address = _address(name, self._evaluator)
            if address is not None:
                block = Block(self._first_name(name, address), address)
                return () if _BUSES.fullmatch(block.name) or address in _BIT_BAND else (block,)
        if depth >= _DEEPEST:
            return ()
        body = macro.body
        named = [it.text for at, it in enumerate(body) if not is_compared(body, at)]
        found = [it for text in named if text != name for it in self.of(text, depth + 1)]
        return tuple(dict.fromkeys(found))

    def _variable(self, name: bytes) -> tuple[Block, ...]:
        """A constant of C that keeps an address, as some headers have them."""
        if not self._evaluator.keeps_address(name):
            return ()
        address = _address(name, self._evaluator)
        return () if address is None else (Block(name.decode("latin-1"), address),)

    def _first_name(self, name: bytes, address: int) -> str:
        """A header's name behind those that the project gives: TIM1 behind RIGHT_TIM."""
        macros = self._evaluator.macros
        for _ in range(_DEEPEST):
            macro = macros.get(name)
            if macro is None or len(macro.text) != 1 or macro.text[0] not in macros:
                break
            name = macro.text[0]
        macro, shown = macros.get(name), name.decode("latin-1").removesuffix("_BASE")
        texts = macro.text if macro is not None else ()
        if _BASE.fullmatch(name) or any(_BASE.fullmatch(it) for it in texts):
            return shown
        return self._bases.get(address, shown)

    @cached_property
    def _bases(self) -> dict[int, str]:
        """Names of blocks by their base, where the project makes names of its own of a number."""
        found: dict[int, str] = {}
        for name in self._evaluator.macros.matching(_BASE):
            address = self._evaluator.number_of_name(name)
            shown = name.decode("latin-1").removesuffix("_BASE")
            if address is not None and is_device(address) and not _BUSES.fullmatch(shown):
                found.setdefault(address, shown)
        return found


def is_compared(tokens: Sequence[Token], at: int) -> bool:
    """`instance == USART1` asks which block it is; it doesn't use that block. Parentheses and a
    cast may be around it."""
    first = last = at
    while _text(tokens, first - 1) == b"(" and _text(tokens, last + 1) == b")":
        first, last = first - 1, last + 1
    if _text(tokens, first - 1) == b")" and _text(tokens, first - 3) == b"(":
        first -= 3
    before, behind = _text(tokens, first - 1), _text(tokens, last + 1)
    is_case = before == b"case" and behind == b":"
    return before in _COMPARES or behind in _COMPARES or is_case


def _text(tokens: Sequence[Token], at: int) -> bytes:
    return tokens[at].text if 0 <= at < len(tokens) else b""


def _address(name: bytes, evaluator: Evaluator) -> int | None:
    """That of a device, if a name is an object there or a block's base."""
    match evaluator.name(name):
        case Pointer(address=int() as address) | Place(address=int() as address):
            return address if is_device(address) else None
        case Number(value=address) if _BASE.fullmatch(name) and is_device(address):
            return address
    return None
