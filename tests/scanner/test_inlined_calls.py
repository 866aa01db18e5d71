"""Findings in bodies that the compiler put in place of calls name the functions that called."""

from __future__ import annotations

import json
import struct
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from scanner import scan_file
from scanner.cli import scan
from scanner.image.debug_entries import DebugSections
from scanner.image.inlined import InlinedCall, inlined_calls
from scanner.report.finding import Finding
from tests.scanner.conftest import Build

SOURCE = """
#line 7 "cmsis.h"
static inline __attribute__((always_inline)) void mask(void) { __asm volatile("cpsid i"); }
#line 3 "own.c"
static int helper(int x) { mask(); return x * 3; }
int twice(int x) { return helper(x) + helper(x + 1); }
void unused(void) { mask(); }
void _start(void) {
    mask();
    twice(3);
    for (;;) ;
}
"""


def chain(elf: Path, address: int) -> list[tuple[str, str]]:
    """Function and place of all frames, as binutils has them."""
    command = ["arm-none-eabi-addr2line", "-i", "-f", "-e", elf.name, hex(address)]
    answer = subprocess.run(command, cwd=elf.parent, check=True, capture_output=True, text=True)
    lines = answer.stdout.split("\n")
    return [
        (name, Path(place.split(" (")[0]).name)
        for name, place in zip(lines[0:-1:2], lines[1::2], strict=False)
    ]


def frames(finding: Finding) -> list[tuple[str, str]]:
    functions = [call.function for call in finding.inlined]
    sources = [finding.source, *(call.source for call in finding.inlined)]
    names = [*functions, finding.function]
    return [(name or "?", source or "?") for name, source in zip(names, sources, strict=True)]


@pytest.mark.parametrize("version", ["-gdwarf-2", "-gdwarf-3", "-gdwarf-4", "-gdwarf-5"])
@pytest.mark.parametrize(
    "flags",
    [("-O0",), ("-O2", "-ffunction-sections", "-Wl,--gc-sections"), ("-Os", "-gz=zlib"),
     ("-O2", "-flto", "-ffat-lto-objects"), ("-O3", "-freorder-blocks-and-partition")],
)  # fmt: skip
def test_calls_agree_with_addr2line(build: Build, version: str, flags: tuple[str, ...]) -> None:
    elf = build(SOURCE, version, *flags, c=True)
    findings = scan_file(elf).findings
    assert len(findings) >= 2
    for finding in findings:
        assert finding.address is not None
        assert frames(finding) == chain(elf, finding.address)


def test_every_report_names_who_called(build: Build, tmp_path: Path) -> None:
    elf = build(SOURCE, "-O2", c=True)
    files = {form: tmp_path / form for form in ("sarif", "html", "comment")}
    options = [part for form, file in files.items() for part in (f"--{form}", str(file))]
    text = CliRunner().invoke(scan, [*options, "--github", str(elf)]).stdout
    words = "mask inlined at own.c:3 in helper"
    assert f"twice cmsis.h:7 ({words}; helper inlined at own.c:4 in twice): reject cps" in text
    assert any(words in line for line in text.splitlines() if line.startswith("::error"))
    assert words in files["html"].read_text()
    assert words in files["comment"].read_text().replace("\\", "")
    result = json.loads(files["sarif"].read_text())["runs"][0]["results"][0]
    assert words in result["message"]["text"]
    related = [one["message"]["text"] for one in result["relatedLocations"]]
    assert related == ["in the linked program", words, "helper inlined at own.c:4 in twice"]
    document = json.loads(CliRunner().invoke(scan, ["--json", str(elf)]).stdout)
    assert document["files"][0]["findings"][0]["inlined"] == [
        {"function": "mask", "source": "own.c:3", "caller": "helper"},
        {"function": "helper", "source": "own.c:4", "caller": "twice"},
    ]


def test_a_path_left_out_keeps_what_others_inlined(build: Build) -> None:
    elf = str(build(SOURCE, "-O2", c=True))

    def status(*options: str) -> int:
        return CliRunner().invoke(scan, [*options, elf]).exit_code

    assert status("--ignore-path", "cmsis.h") == 1
    assert status("--ignore-path", "cmsis.h", "--ignore-path", "own.c") == 0
    assert status("--path", "own.c") == 1
    assert status("--path", "other.c") == 0


def test_debug_information_that_lies_costs_nothing_but_names(build: Build) -> None:
    elf = build(SOURCE, "-O2", "-gdwarf-4", c=True)
    data = bytearray(elf.read_bytes())
    sections = subprocess.run(
        ["arm-none-eabi-readelf", "-SW", elf.name], cwd=elf.parent, check=True, capture_output=True,
        text=True,
    )  # fmt: skip
    for line in sections.stdout.splitlines():
        if " .debug_abbrev" in line or " .debug_ranges" in line or " .debug_info" in line:
            offset, size = (int(field, 16) for field in line.split("]")[1].split()[3:5])
            data[offset + 12 : offset + size] = b"\xff" * (size - 12)
    elf.write_bytes(data)
    findings = scan_file(elf).findings
    assert findings and all(finding.inlined == () for finding in findings)


def test_forms_that_stand_beside_their_values_are_read() -> None:
    """armcc writes references so (DW_FORM_indirect)."""
    declared = b"\x01\x11\x01\x03\x08\x00\x00\x02\x1d\x00\x11\x01\x12\x01\x31\x16\x00\x00"
    declared += b"\x03\x2e\x00\x03\x16\x00\x00\x00"
    entries = b"\x01unit\x00" + b"\x02" + struct.pack("<II", 0x100, 0x104) + b"\x13"
    place = 11 + len(entries) + 4
    entries += struct.pack("<I", place) + b"\x03\x08mask\x00"
    info = struct.pack("<IHIB", len(entries) + 7, 3, 0, 4) + entries
    found = inlined_calls(DebugSections(info, declared), lambda *_: None, [0x100, 0x104])
    assert found == {0x100: (InlinedCall("mask", None),)}
