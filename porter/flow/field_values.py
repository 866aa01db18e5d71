"""Which constants the fields of structs hold, wherever in a project they are written.

A driver's settings come in structs that one place fills with constants: `init.Mode = 3;`. What may
be in a field is then one of these constants, or 0 before anything was written. The order of the
writes is not looked at. Nothing is known of a project of which the compiler couldn't preprocess
all C files: what they leave unsaid may be a write.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

from porter.flow.stores import WORD, Stores, holds_number, words_of_texts
from porter.flow.struct_stores import FileStores
from porter.libraries.data import Libraries
from porter.program.knowledge import Knowledge
from porter.program.linked import Linked
from porter.program.preprocess import TranslationUnit
from porter.project.linker_sections import keeps_contents
from porter.source.c_tree import Node
from porter.source.c_types import CType, TypeTable
from porter.source.evaluate import Evaluator, Scope
from porter.source.source_file import SourceFile
from porter.source.values import Place

_PLACES = re.compile(rb"(?i)section|location|persist|no_?init|seg\b")
_PASTES = re.compile(rb"##|\\[A-Za-z_]")
_PIECE = re.compile(rb"\w+")
_HIDES = frozenset({b"union", b"volatile", b"__volatile__", b"__volatile"})
_BODY = re.compile(rb"\b(?:struct|class)\b[^;{}]*\{")


class FieldValues:
    """Answers for the compiled files of one project; `program`: what of them is linked and runs."""

    def __init__(
        self, knowledge: Knowledge, sources: Iterable[SourceFile], program: Linked
    ) -> None:
        self._knowledge = knowledge
        self._sources = list(sources)
        self._program = program
        self._data = {it.path.resolve(): it.data for it in self._sources}
        self._hidden: dict[bytes, bool] = {}

    def of(self, node: Node, evaluator: Evaluator, scope: Scope) -> frozenset[int] | None:
        """What is written to a field, which holds 0 before; None if it may be anything."""
        place = evaluator.value(node, scope)
        if not isinstance(place, Place) or not place.owner or not place.member or place.part:
            return None
        if place.address is not None or not holds_number(place.type) or self._is_open:
            return None
        owner = evaluator.types.first_name(place.owner)
        if owner.startswith(b"@") or owner in self._stores.lost or self._hides(owner):
            return None
        found = self._stores.values.get((owner, place.member), set())
        return frozenset(found) if found is not None else None

    @cached_property
    def _is_open(self) -> bool:
        """Whether nobody knows what the code does, or where a pragma puts which objects."""
        if not self._knowledge.sees_all_code:
            return True
        if keeps_contents(self._program.outside.scripts):
            return True
        return any(_PLACES.search(pragma) for pragma in self._pragmas())

    def _pragmas(self) -> Iterator[bytes]:
        """Those that may be compiled."""
        for source in self._sources:
            if source.is_asm or b"pragma" not in source.data:
                continue
            text = self._knowledge.text(source)
            for line in text.lexed.directives:
                if line.name == b"pragma" and self._knowledge.is_arm_compiled(
                    text, line.start, line.end
                ):
                    yield source.data[line.start : line.end]

    def _hides(self, owner: bytes) -> bool:
        """Whether a field of a struct may be another's too, or changes by itself, or files don't
        agree on what the struct is."""
        if owner not in self._hidden:
            types = [unit.evaluator.types for unit in self._knowledge.units]
            spelt = {
                (b" ".join(text.split()), _layout(owner, it))
                for it in types
                if (text := _spelt(owner, it))
            }
            text = next(iter(spelt))[0] if spelt else b""
            self._hidden[owner] = (
                len(spelt) != 1
                or len(_BODY.findall(text)) != 1
                or not _HIDES.isdisjoint(WORD.findall(text))
            )
        return self._hidden[owner]

    @cached_property
    def _stores(self) -> Stores:
        stores = Stores()
        seen: set[bytes] = set()
        for unit in self._knowledge.units:
            if unit.tree.is_cplusplus:
                _cplusplus(unit, stores)
            else:
                FileStores(unit, stores, self._runs).read(seen)
        has_unseen = bool(
            self._program.unknown_calls.found(
                Libraries(()), lambda name: self._program.why_not(name) is not None
            )
        )
        stores.settle(self._words(), self._pieces(), has_unseen)
        return stores

    def _runs(self, name: bytes, path: Path | None) -> bool:
        """Of a function whose name a macro puts together nobody knows who calls it."""
        written = self._data.get(path, name) if path is not None else name
        return name not in written or self._program.why_not(name.decode("latin-1")) is None

    def _pieces(self) -> set[bytes]:
        """Of what assembler puts names together, if it does."""
        found: set[bytes] = set()
        for source in self._sources:
            if source.is_asm and _PASTES.search(source.data):
                found.update(_PIECE.findall(source.data))
        for unit in self._knowledge.units:
            if b".macro" in unit.tree.text and b"\\\\" in unit.tree.text:
                found.update(_PIECE.findall(unit.tree.text))
        return found

    def _words(self) -> Iterator[bytes]:
        """What assembler, the linker and files beside the project name, and pragmas."""
        outside = self._program.outside
        renamed = (
            it
            for linking in self._knowledge.build.linked
            for pair in linking.renamed
            for it in pair
        )
        for name in (*outside.used(), *outside.archived(), *renamed):
            yield from WORD.findall(name.encode("latin-1"))
        for source in self._sources:
            if source.is_asm:
                yield from WORD.findall(source.data)
            elif b"_Pragma" in source.data:
                yield from words_of_texts(source.data)
        for pragma in self._pragmas():
            yield from WORD.findall(pragma)


def _spelt(owner: bytes, types: TypeTable) -> bytes:
    return types.spelt(owner.split()[-1])


def _layout(owner: bytes, types: TypeTable) -> tuple[tuple[int, int, bool], ...]:
    members = types.members(CType("struct", 0, owner)).values()
    return tuple((it.offset, it.type.size, it.type.is_unsigned) for it in members)


def _cplusplus(unit: TranslationUnit, stores: Stores) -> None:
    """A file of C++ may do anything with what it names: nobody looks into it."""
    words = set(WORD.findall(unit.tree.text))
    stores.words |= words
    stores.lost |= words | {b"struct " + word for word in words}
