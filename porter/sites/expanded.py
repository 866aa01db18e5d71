"""What the preprocessor makes of a file's lines: the intrinsics, instructions and register accesses
that are there in the end, whatever macros and `##` put them together."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from porter.asm.privileged import privileged
from porter.program.preprocess import TranslationUnit
from porter.registers.intrinsics import INTRINSICS
from porter.sites.context import Context
from porter.sites.objects import object_around
from porter.sites.registers import Registers
from porter.sites.site import SiteKind
from porter.sites.written_values import given_register
from porter.source.c_lexer import lex_fragment
from porter.source.c_tree import Node, SyntaxTree, ancestors
from porter.source.cplusplus_casts import named_cast
from porter.source.evaluate import no_scope
from porter.source.inline_asm import ASM_WORDS, find_asm
from porter.source.values import Number, Place, Pointer

_INTRINSIC = "|".join(sorted(INTRINSICS))
_ASM = "|".join(sorted(word.decode() for word in ASM_WORDS))
_LEADING = frozenset({"cast_expression", "call_expression", "identifier", "number_literal"})
_POINTER = r"\*\s*(?:(?:const|volatile|restrict)\s*)*[)>]"
_SYSTEM = r"0[xX][eE]00[0-9a-fA-F]{5}"


@dataclass(frozen=True)
class Made:
    """`name` is that of an intrinsic, an instruction's mnemonic, a register's name in its block,
    "" where only an address is known; `what` is for people."""

    kind: SiteKind
    name: str
    what: str


@lru_cache(maxsize=64)
def _telling(kept: frozenset[bytes]) -> re.Pattern[bytes]:
    """What a text must have; `kept`: variables that keep the address of a register."""
    names = sorted(name.decode() for name in kept)
    words = "|".join([f"(?P<intrinsic>{_INTRINSIC})", f"(?P<asm>{_ASM})", *names])
    return re.compile(rf"\b(?:{words}|{_SYSTEM})\b|{_POINTER}".encode())


class Expanded:
    """Answers for one preprocessed text."""

    def __init__(self, text: bytes, registers: Registers, tree: SyntaxTree | None = None) -> None:
        self._text = text
        self._registers = registers
        self._parsed = tree

    @property
    def _tree(self) -> SyntaxTree:
        self._parsed = self._parsed or SyntaxTree(self._text, 0)
        return self._parsed

    def spots(self) -> Iterator[re.Match[bytes]]:
        """Where the text may have something that is a site."""
        return _telling(self._registers.kept).finditer(self._text)

    def made(self, spot: re.Match[bytes]) -> Iterator[Made]:
        """What there is at a spot."""
        if spot["intrinsic"] is not None:
            name = spot.group().decode()
            yield Made(SiteKind.INTRINSIC, name, name)
        elif spot["asm"] is not None:
            yield from self._in_asm(spot.start())
        elif (found := self._register(spot)) is not None:
            yield found

    def _in_asm(self, start: int) -> Iterator[Made]:
        """The instructions of a statement that a macro made, which is all on one line."""
        end = self._text.find(b"\n", start)
        text = self._text[start : end if end >= 0 else None]
        for statement in find_asm(lex_fragment(text), text, ASM_WORDS.__contains__):
            for instruction in filter(privileged, statement.instructions):
                yield Made(SiteKind.ASM, instruction.mnemonic, str(instruction))
            return

    def _register(self, spot: re.Match[bytes]) -> Made | None:
        """The register that an expression leads to, or the address of one in the system space."""
        leaf = self._tree.smallest(spot.start(), spot.end())
        if leaf is not None and spot.group().endswith((b")", b">")):
            leaf = next((it for it in (leaf, *ancestors(leaf)) if _is_cast(it, spot)), None)
        if leaf is None or leaf.type not in _LEADING:
            return None
        context = Context(self._tree, self._tree.root, no_scope, "", "file")
        _, value = object_around(leaf, context, self._registers.evaluator)
        if isinstance(value, Place):
            register = self._registers.identify(value)
            return Made(SiteKind.REGISTER, register.name, str(register)) if register else None
        match value:
            case Pointer(address=int() as address) | Number(value=address):
                is_system = self._registers.space.sure and self._registers.space.holds(address)
                if is_system and given_register(leaf, context, self._registers) is None:
                    what = self._registers.describe(address) or ""
                    return Made(SiteKind.REGISTER, "", what)
        return None


def _is_cast(node: Node, spot: re.Match[bytes]) -> bool:
    named = named_cast(node)
    is_c = node.type == "cast_expression"
    kind = node.child_by_field_name("type") if is_c else named[0] if named is not None else None
    return kind is not None and kind.end_byte < spot.end()


class Lines:
    """The lines of files in preprocessed texts. What two texts make of a header's line alike is
    looked at once."""

    def __init__(self) -> None:
        self._seen: dict[tuple[Path, int, bytes], int] = {}

    def made(
        self, unit: TranslationUnit, registers: Registers, wanted: frozenset[Path]
    ) -> dict[tuple[Path, int], list[Made]]:
        """What a text has on each line of the files `wanted`."""
        text = unit.tree.text
        expanded = Expanded(text, registers, unit.tree)
        found: dict[tuple[Path, int], list[Made]] = {}
        for spot in expanded.spots():
            path, line = unit.line_at(spot.start())
            if path is None or path not in wanted:
                continue
            begins = text.rfind(b"\n", 0, spot.start()) + 1
            whole = text[begins : text.find(b"\n", spot.start())]
            if self._seen.setdefault((path, line, whole), id(unit)) == id(unit):
                found.setdefault((path, line), []).extend(expanded.made(spot))
        return {place: made for place, made in found.items() if made}
