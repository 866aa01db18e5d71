"""Links original and port so that whatever both know has one address in both.

Then a word of memory can be compared as it is, pointers too. The project's linker reads the
relocations, not the transcriber.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection

from porter.context_switch.assemble import CompileError, run
from porter.context_switch.proof.callees import callees_of, with_callees
from porter.context_switch.proof.image import (
    ARENA,
    CODE,
    CONSTANTS,
    DATA,
    HANDLERS,
    PAGE,
    STATE,
    STUBS,
    Image,
)
from porter.context_switch.proof.model import USR_REG
from porter.context_switch.proof.targets import target_of
from porter.context_switch.result import NotTranscribable

DATA_SIZE = 0x8000
VARIABLE = 0x100  # bytes of a variable that another file defines
BLOCK = "fvm_state"
_USR_REG = "virt_usr_reg"  # a handler's port finds the task through this pointer
_STACK = 512  # bytes: less is no stack
_PLAIN = re.compile(r"[\w.$]+")
_WRITE, _ALLOCATE, _EXECUTE = 1, 2, 4


class _Unit:
    """What the layout has to know of a relocatable object."""

    def __init__(self, raw: bytes, called: Iterable[str]) -> None:
        """`called`: functions whose calls may not show in the relocations."""
        self.raw = raw
        self.sections: dict[str, tuple[int, int, int]] = {}  # flags, size, alignment
        self.undefined: set[str] = set()
        self.called = set(called)
        self.near: dict[str, str] = {}  # by function elsewhere, a section that needs it nearby
        elf = ELFFile(BytesIO(raw))
        self.target = target_of(raw)
        for section in elf.iter_sections():
            if section["sh_flags"] & _ALLOCATE and section["sh_size"]:
                if not _PLAIN.fullmatch(section.name):
                    raise NotTranscribable(f"can't be proved: a section is called '{section.name}'")
                self.sections[section.name] = (
                    section["sh_flags"], section["sh_size"], section["sh_addralign"]
                )  # fmt: skip
        table: Any = elf.get_section_by_name(".symtab")
        for symbol in table.iter_symbols():
            if symbol["st_shndx"] == "SHN_UNDEF" and symbol.name:
                self.undefined.add(symbol.name)
        for section in elf.iter_sections():
            if isinstance(section, RelocationSection):
                for entry in section.iter_relocations():
                    name, kind = table.get_symbol(entry["r_info_sym"]).name, entry["r_info_type"]
                    jumps = kind in self.target.jumps and name in self.undefined
                    if kind in self.target.calls or jumps:
                        self.called.add(name)
                    short = kind in self.target.short and name in self.undefined
                    if short and _PLAIN.fullmatch(name):
                        self.near[name] = elf.get_section(section["sh_info"]).name


def mentions(raw: bytes, symbol: str) -> bool:
    """Whether an object needs a symbol from elsewhere."""
    return symbol in _Unit(raw, ()).undefined


def link_pair(
    original: bytes,
    ported: bytes,
    symbols: tuple[str, str],
    called: Iterable[str],
    command: Sequence[str],
    own: Iterable[str] = (),
    compared: frozenset[str] = frozenset(),
) -> tuple[Image, Image]:
    """Images of two relocatable objects and the function to look at in each. `called` are functions
    that the handler may call through a register, `command` is the compiler with the options that
    select the processor, `own` are variables of a word that only the second has, `compared` those
    of whose addresses more isn't asked. NotTranscribable if they can't be linked."""
    units = (_Unit(original, called), _Unit(ported, called))
    target = units[0].target
    places, words = _places(units, compared)
    first = _link(units[0], places, {}, command)
    known = {name: value for name, (value, called) in _symbols(first).items() if not called}
    second = _link(units[1], places, known, command)
    there = _symbols(second)
    alone = frozenset(there[name][0] for name in own if name in there)
    # What the original has itself and the port doesn't call, it goes on in.
    elsewhere = units[0].called & units[0].undefined
    callees = elsewhere | units[1].called if target.tells_calls else set()
    scratch = next((places[f"={name}"] for name in target.scratch), 0)
    handlers = _handlers(first, second) if target.sets_handlers else [(), ()]
    images = [
        replace(_image(raw, name, words, callees), own=alone, scratch=scratch, handlers=found)
        for raw, name, found in zip((first, second), symbols, handlers, strict=True)
    ]
    if not target.tells_calls:
        callees = {*called, *units[0].near, *callees_of(images[0]), *callees_of(images[1])}
    first_image, second_image = (with_callees(image, callees, target.ends) for image in images)
    return first_image, second_image


def _places(units: tuple[_Unit, _Unit], compared: frozenset[str]) -> tuple[dict[str, int], int]:
    """One address for each section's name, and the words of data they take. Names that are only
    compared lie among the places where pointers lead: these are below, above and equal."""
    found: dict[str, int] = {}
    free = {CODE: CODE, CONSTANTS: CONSTANTS, DATA: DATA}
    for name in {**units[0].sections, **units[1].sections}:
        both = [unit.sections[name] for unit in units if name in unit.sections]
        constant = DATA if both[0][0] & _WRITE else CONSTANTS
        kind = CODE if both[0][0] & _EXECUTE else constant
        alignment = max(4, *(alignment for _, _, alignment in both))
        start = -(-free[kind] // alignment) * alignment
        found[name] = start
        free[kind] = start + max(size for _, size, _ in both) + 64
    slot = -(-free[DATA] // VARIABLE) * VARIABLE
    missing = (units[0].undefined | units[1].undefined) - units[0].called - units[1].called
    missing -= {BLOCK, _USR_REG}
    missing |= units[0].target.scratch
    for place, name in enumerate(sorted(missing & compared)):
        found[f"={name}"] = ARENA + PAGE // 2 + 8 * place
    for name in sorted(missing - compared):
        found[f"={name}"], slot = slot, slot + VARIABLE
    if slot > DATA + DATA_SIZE:
        raise NotTranscribable("can't be proved: the file has too many variables")
    return found, (slot - DATA) // 4 or 1


def _link(
    unit: _Unit, places: dict[str, int], known: dict[str, int], command: Sequence[str]
) -> bytes:
    lines = [f"{BLOCK} = {STATE:#x};"]
    for name in sorted(unit.undefined - unit.called - {BLOCK, _USR_REG}):
        lines.append(f'"{name}" = {known.get(name, places.get(f"={name}", 0)):#x};')
    lines.append("SECTIONS {")
    for name in unit.sections:
        near = "".join(f" KEEP(*(.near.{it}))" for it, home in unit.near.items() if home == name)
        lines.append(f"{name} {places[name]:#x} : {{ KEEP(*({name})){near} }}")
    lines += [f".stubs {STUBS:#x} : {{ KEEP(*(.stubs)) }}", "/DISCARD/ : { *(.ARM.*) }", "}"]
    stubs = "".join(_stubs(sorted(unit.undefined & unit.called), unit))
    with tempfile.TemporaryDirectory(prefix="fvmkit-") as folder:
        script, source = Path(folder, "proof.ld"), Path(folder, "stubs.s")
        target, image = Path(folder, "unit.o"), Path(folder, "image.elf")
        script.write_text("\n".join(lines) + "\n")
        source.write_text(stubs)
        target.write_bytes(unit.raw)
        options = ["-nostdlib", "-w", "-Wl,-e0", "-Wl,--no-check-sections", f"-Wl,-T,{script}"]
        options += unit.target.options
        # A C library's specs may bring a linker script of their own.
        command = [word for word in command if not word.startswith(("--specs", "-specs"))]
        try:
            run([*command, *options, "-o", str(image), str(target), str(source)])
        except CompileError as error:
            raise NotTranscribable(f"can't be linked for its proof: {error}") from error
        return image.read_bytes()


def _stubs(names: Iterable[str], unit: _Unit) -> Iterator[str]:
    """Text of functions that only return, and of the pointer to USR_REG."""
    yield unit.target.head
    if _USR_REG in unit.undefined:
        yield '.section .stubs, "ax", %progbits\n.balign 4\n'
        yield f".global {_USR_REG}\n{_USR_REG}: .word {BLOCK} + {USR_REG}\n"
    for name in names:
        section = f".near.{name}" if name in unit.near else ".stubs"
        yield f'.section {section}, "ax", %progbits\n' + unit.target.stub.format(name)


def _symbols(raw: bytes) -> dict[str, tuple[int, bool]]:
    """Value, and whether it is a function, by name."""
    table: Any = ELFFile(BytesIO(raw)).get_section_by_name(".symtab")
    found: dict[str, tuple[int, bool]] = {}
    for symbol in table.iter_symbols():
        kind, value = symbol["st_info"]["type"], symbol["st_value"]
        if symbol.name.startswith("$") or kind in ("STT_FILE", "STT_SECTION"):
            continue
        if kind == "STT_FUNC":
            found[symbol.name] = (value & ~1, True)
        else:
            found.setdefault(symbol.name, (value, False))
    return found


def _handlers(first: bytes, second: bytes) -> list[tuple[tuple[int, int], ...]]:
    """Addresses of code that has a name in both images, each with a number for both."""
    both = [{name: value for name, (value, _) in _symbols(raw).items()} for raw in (first, second)]
    names = [name for name in both[0] if CODE <= both[0][name] < CONSTANTS and name in both[1]]
    return [tuple((them[name], HANDLERS + 4 * i) for i, name in enumerate(names)) for them in both]


def _image(raw: bytes, symbol: str, words: int, called_too: Iterable[str] = frozenset()) -> Image:
    """`called_too`: functions that the symbol table doesn't call so."""
    symbols = _symbols(raw)
    if symbol not in symbols:
        raise NotTranscribable(f"can't be proved: no function {symbol} in the object")
    entry = symbols[symbol][0]
    functions = {
        value: name
        for name, (value, called) in symbols.items()
        if (called or name in called_too) and value != entry
    }
    elf = ELFFile(BytesIO(raw))
    chunks = tuple(
        (section["sh_addr"], section.data())
        for section in elf.iter_sections()
        if section["sh_flags"] & _ALLOCATE and not section["sh_flags"] & _WRITE
    )
    is_half = elf["e_flags"] & target_of(raw).half
    stacks = tuple(_stacks(elf, sorted(value for value, _ in symbols.values())))
    named = tuple(_variables(elf))
    return Image(chunks, entry, functions, words, 16 if is_half else 32, stacks=stacks, named=named)


def _variables(elf: ELFFile) -> Iterator[tuple[str, int, int]]:
    """Name, begin and end; of what another file has, as much as it gets here."""
    table: Any = elf.get_section_by_name(".symtab")
    for symbol in table.iter_symbols():
        place, size = symbol["st_value"], symbol["st_size"]
        if symbol["st_shndx"] == "SHN_ABS" and DATA <= place < DATA + DATA_SIZE:
            size = VARIABLE
        if size and place >= DATA:
            yield symbol.name, place, place + size


def _stacks(elf: ELFFile, named: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Variables of the file in which a stack has room."""
    for section in elf.iter_sections():
        if section["sh_flags"] & _ALLOCATE and section["sh_flags"] & _WRITE:
            begin, end = section["sh_addr"], section["sh_addr"] + section["sh_size"]
            places = [begin, *(place for place in named if begin < place < end), end]
            yield from ((here, after) for here, after in pairwise(places) if after - here >= _STACK)
