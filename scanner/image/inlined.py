"""Which calls the compiler replaced by the callee's body: DW_TAG_inlined_subroutine (3.3.8)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from scanner.image.address_ranges import stretches
from scanner.image.debug_entries import DebugSections, Declaration, Entry, Unit
from scanner.image.demangle import readable
from scanner.image.dwarf import EndOfDataError
from scanner.image.symbols import printable

_SUBPROGRAM, _INLINED = 0x2E, 0x1D
_SIBLING, _NAME, _LINKAGE_NAME, _LINES = 0x01, 0x03, 0x6E, 0x10
_ORIGIN, _SPECIFICATION, _CALL_FILE, _CALL_LINE = 0x31, 0x47, 0x58, 0x59
_HOPS = 4
_DEEPEST = 64


@dataclass(frozen=True)
class InlinedCall:
    """A function's name, and `file:line` of the call that its body stands for."""

    function: str
    source: str | None


def inlined_calls(
    sections: DebugSections,
    file_name: Callable[[int, int], str | None],
    addresses: Iterable[int],
) -> dict[int, tuple[InlinedCall, ...]]:
    """For each address in a body that stands for a call the calls, the innermost first.

    `file_name` says what a number means in the line program at a place of its section.
    """
    bounds = sections.units()
    search = _Search(sections, bounds, file_name, sorted(set(addresses)))
    for begin, end in bounds if search.wanted else ():
        try:
            search.look_through(Unit(sections, begin, end))
        except EndOfDataError:
            continue  # a unit that lies about itself: the next may be sound
    return {address: tuple(reversed(calls)) for address, calls in search.found.items()}


class _Search:
    """`found` has the calls for each of the `wanted` addresses, the outermost first."""

    def __init__(
        self,
        sections: DebugSections,
        bounds: Sequence[tuple[int, int]],
        file_name: Callable[[int, int], str | None],
        wanted: list[int],
    ) -> None:
        self._sections, self._bounds, self._file_name = sections, bounds, file_name
        self.wanted = wanted
        self.found: dict[int, list[InlinedCall]] = defaultdict(list)
        self._names: dict[int, str] = {}

    def look_through(self, unit: Unit) -> None:
        """Note the calls in a unit."""
        root = unit.root()
        if self._covered(unit, unit.root_declaration, root) == []:
            return
        while unit.reader.position < unit.reader.end:
            code = unit.reader.uleb128()
            if code == 0:
                continue
            declaration = unit.declaration(code)
            if declaration.tag not in (_SUBPROGRAM, _INLINED):
                unit.skip(declaration)
                continue
            entry = unit.entry(declaration)
            behind = unit.reader.position
            inside = self._covered(unit, declaration, entry)
            sibling = entry.get(_SIBLING)
            if inside and declaration.tag == _INLINED:
                self._note(unit, root, entry, inside)
            elif not inside and isinstance(sibling, int) and sibling > behind:
                behind = sibling  # nothing wanted is in there
            unit.reader.position = behind

    def _note(self, unit: Unit, root: Entry, entry: Entry, inside: list[int]) -> None:
        lines, origin = root.get(_LINES), entry.get(_ORIGIN)
        file, line = entry.get(_CALL_FILE), entry.get(_CALL_LINE)
        source = None
        if isinstance(lines, int) and isinstance(file, int) and isinstance(line, int):
            name = self._file_name(lines, file)
            source = None if name is None else f"{name}:{line}"
        function = self._name(origin, unit) if isinstance(origin, int) else "?"
        for address in inside:
            if len(self.found[address]) < _DEEPEST:
                self.found[address].append(InlinedCall(function, source))

    def _covered(self, unit: Unit, declaration: Declaration, entry: Entry) -> list[int] | None:
        """The wanted addresses in an entry; None if it doesn't say where it lies."""
        forms = {name: form for name, form, _ in declaration.attributes}
        covered = stretches(self._sections, unit, entry, forms)
        if not covered:
            return None
        return [
            address
            for begin, end in covered
            for address in self.wanted[
                bisect_left(self.wanted, begin) : bisect_left(self.wanted, end)
            ]
        ]

    def _name(self, place: int, unit: Unit) -> str:
        """What the function declared at a place is called."""
        if place not in self._names:
            self._names[place] = "?"
            with suppress(EndOfDataError):
                self._names[place] = self._read_name(place, unit)
        return self._names[place]

    def _read_name(self, place: int, unit: Unit) -> str:
        for _ in range(_HOPS):
            if not unit.begin <= place < unit.reader.end:
                row = bisect_right(self._bounds, (place, len(self._sections.info))) - 1
                if row < 0:
                    break
                unit = Unit(self._sections, *self._bounds[row])
                unit.root()
            entry = unit.at(place)
            name = entry.get(_LINKAGE_NAME, entry.get(_NAME))
            if isinstance(name, bytes):
                return readable(printable(name))
            onward = entry.get(_SPECIFICATION, entry.get(_ORIGIN))
            if not isinstance(onward, int):
                break
            place = onward
        return "?"
