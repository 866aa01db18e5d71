"""A firmware that was never ported doesn't get into an image; one that was does."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.example import CONSOLES
from tests.system.road import Road, digests, fvmkit

# Instructions that do nothing without privilege, and that nobody notices. Reading CONTROL and
# the flags is harmless.
SILENT = re.compile(r"cps|msr\s+(?!CPSR)|mrs\s+\w+, (?!CONTROL|CPSR)", re.IGNORECASE)


def findings(road: Road, name: str, elf: Path) -> dict[str, Any]:
    """The scanner's JSON about one file."""
    said = fvmkit("scan", elf, "--policy", road.policy(name), "--json", cwd=road.room)
    document = json.loads(said.out)
    assert document["schema"] == 1
    (file,) = document["files"]
    assert said.status == (1 if file["verdict"] == "reject" else 0)
    assert isinstance(file, dict)
    return file


def disassembly(elf: Path) -> dict[int, str]:
    """Address -> function of every such instruction, as binutils reads the program."""
    listing = subprocess.run(
        ["arm-none-eabi-objdump", "-d", "--no-show-raw-insn", elf],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    function, found = "", {}
    for line in listing.splitlines():
        if label := re.match(r"\w+ <(.*)>:", line):
            function = label[1]
        elif (code := re.match(r"\s*(\w+):\t(.*)", line)) and SILENT.match(code[2]):
            found[int(code[1], 16)] = function
    return found


def source_lines(elf: Path, addresses: list[int]) -> list[str]:
    """FILE:LINE of addresses, as binutils reads the debug information."""
    words = ["arm-none-eabi-addr2line", "-e", str(elf), *map(hex, addresses)]
    out = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return [line.split(" (")[0] for line in out.splitlines()]


@pytest.mark.parametrize("name", CONSOLES)
def test_unported_is_rejected_with_every_place(road: Road, name: str) -> None:
    elf = road.legacy_elf(name)
    file = findings(road, name, elf)
    assert file["verdict"] == "reject"
    silent = [
        entry
        for entry in file["findings"]
        if (entry["severity"], entry["certainty"]) == ("silent", "certain")
        and entry["rule"] in ("cps", "msr", "mrs")
    ]
    expected = disassembly(elf)
    assert len(expected) > 10
    assert {int(str(e["address"]), 0): e["function"] for e in silent} == expected
    lines = source_lines(elf, [int(str(entry["address"]), 0) for entry in silent])
    for entry, line in zip(silent, lines, strict=True):
        assert line.endswith("/" + entry["source"]), entry
        assert entry["fix"]


@pytest.mark.parametrize("name", CONSOLES)
def test_ported_is_accepted(road: Road, name: str) -> None:
    said = road.said[f"scan {name}"]
    assert ": accepted (armv7em)" in said.out
    assert "reject" not in said.out
    assert findings(road, name, road.elf(name))["verdict"] in ("accept", "warn")
    assert disassembly(road.elf(name)) == {}


@pytest.mark.parametrize("name", CONSOLES)
def test_link_refuses_an_unported_firmware(road: Road, name: str, tmp_path: Path) -> None:
    out = tmp_path / "one is not ported"
    shutil.copytree(road.out, out, ignore=shutil.ignore_patterns("image", "ported", "obj"))
    shutil.copy(road.legacy_elf(name), out / name / f"{name}.elf")
    before = digests(tmp_path)
    said = fvmkit("link", out.name, cwd=tmp_path)
    assert said.status == 1
    assert f"{name}.elf: rejected: " in said.err
    assert said.out == ""
    assert digests(tmp_path) == before


def test_the_image_is_complete(road: Road) -> None:
    image = road.out / "image"
    assert sorted(path.name for path in image.iterdir()) == [
        "system.bin",
        "system.elf",
        "system.hex",
        "system.json",
    ]
