"""Programs with picolibc as they really are, compared with what objdump shows of them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from scanner import scan_file
from tests.scanner.riscv.conftest import Build
from tests.scanner.riscv.programs import LIBRARIES

FORBIDDEN = re.compile(r"csr|[msu]ret|wfi|ebreak|fence\.i|sfence|dret")
ALLOWED = re.compile(r"cycle|time|instret|fcsr|fflags|frm")
LINE = re.compile(r"^ *([0-9a-f]+):\t[0-9a-f ]+\t(\S+)\t?([^#<]*)")


def shown_by_objdump(elf: Path) -> set[int]:
    """Addresses of forbidden instructions in a linear disassembly of functions.

    Names of constants end a function: picolibc's tables stand between its functions.
    """
    command = ["riscv64-unknown-elf-objdump", "-d", elf.name]
    listing = subprocess.run(command, cwd=elf.parent, check=True, capture_output=True, text=True)
    functions = functions_of(elf)
    found = set()
    for line in listing.stdout.splitlines():
        match = LINE.match(line)
        if match and FORBIDDEN.match(match[2]) and not ALLOWED.search(match[3]):
            address = int(match[1], 16)
            if any(start <= address < end for start, end in functions):
                found.add(address)
    return found


def functions_of(elf: Path) -> list[tuple[int, int]]:
    command = ["riscv64-unknown-elf-readelf", "-sW", elf.name]
    table = subprocess.run(command, cwd=elf.parent, check=True, capture_output=True, text=True)
    rows = re.findall(r": ([0-9a-f]{8}) +(\d+) FUNC", table.stdout)
    return [(int(start, 16), int(start, 16) + int(size)) for start, size in rows]


@pytest.mark.parametrize("arch", ["rv32imac", "rv32imafc"])
@pytest.mark.parametrize("flags", [("-O0",), ("-O2",), ("-Os", "-fPIC")], ids=" ".join)
def test_finds_what_objdump_shows_and_nothing_else_for_certain(
    build: Build, strip: Callable[[Path], Path], arch: str, flags: tuple[str, ...]
) -> None:
    elf = build(LIBRARIES, *flags, "-lm", c=True, arch=arch)
    shown = shown_by_objdump(elf)
    assert len(shown) >= 8
    rules = ("csr", "privileged", "wfx", "ebreak", "fence-i", "custom")
    certain = {
        f.address for f in scan_file(elf).findings if f.certainty == "certain" and f.rule in rules
    }
    assert certain == shown
    bare = scan_file(strip(elf))
    assert bare.verdict == "reject"
    found = {f.address for f in bare.findings if f.certainty == "certain" and f.rule in rules}
    assert found == shown, "everything here is reached by direct branches and switch tables"


def test_constants_in_text_are_never_certain(build: Build, strip: Callable[[Path], Path]) -> None:
    """Linker scripts put .rodata behind .text, where the last mapping symbol still says code."""
    elf = build(
        ".type _start, %function\n_start: ret\n.size _start, . - _start\n"
        '.section .rodata, "a"\n.word 0x80059073, 0x8041a573, 0x30200073, 0x0000000b\n'
    )
    for program in (elf, strip(elf)):
        report = scan_file(program)
        assert {(f.rule, f.certainty) for f in report.findings} == {("csr", "possible")}
        assert report.verdict == "warn"


def test_a_program_without_any_name_of_a_core_is_known_by_its_returns(build: Build) -> None:
    elf = build(LIBRARIES, "-O2", "-lm", c=True, arch="rv32imac")
    command = ["riscv64-unknown-elf-objcopy", "-O", "ihex", elf.name, "bare.hex"]
    subprocess.run(command, cwd=elf.parent, check=True)
    report = scan_file(elf.with_name("bare.hex"))
    assert (report.arch, report.verdict) == ("rv32imac", "reject")
    assert {f.address for f in report.findings if f.certainty == "certain"} >= shown_by_objdump(elf)
