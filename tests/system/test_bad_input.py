"""Bad input gets one clear line and the right exit status, and nothing is written."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.support.built import change
from tests.support.example import MOTOR, SENSOR
from tests.system.road import Road, Said, digests, fvmkit

DESCRIPTION = "bad.xml"

# What is changed in the description, the exit status, what the line says behind FILE:LINE:COLUMN.
DESCRIPTIONS = {
    "missing project": ('path="sensor-node"', 'path="nowhere"', 2, "project folder 'nowhere'"),
    "unknown chip": ("STM32F405RG", "STM32F999ZZ", 1, "unknown chip 'STM32F999ZZ'; known: "),
    "flash too small": ('flash="64K"', 'flash="2M"', 1, "flash doesn't fit: asked 2132K of 1M"),
    "RAM too small": ('ram="48K"', 'ram="512K"', 1, "RAM doesn't fit: asked 551K of 128K"),
    "one interrupt, two owners": (
        '<irq name="USART2"',
        '<irq name="USART1"',
        1,
        f"interrupt 'USART1' (37) is claimed by '{MOTOR}' and '{SENSOR}'; ",
    ),
    "not XML": ("</system>", "", 1, "not well-formed XML: "),
    "no such attribute": ('slice="5ms"', 'slcie="5ms"', 1, "<kernel> has no attribute 'slcie'; "),
    "no number": ('report="1s"', 'report="often"', 1, "'report' of <kernel> is 'often'; "),
}


@pytest.fixture
def desk(road: Road, tmp_path: Path) -> Path:
    """A folder with the user's projects, a composed system, and files to spoil."""
    shutil.copytree(road.checkout, tmp_path / "my projects")
    ignored = shutil.ignore_patterns("image", "ported", "obj")
    shutil.copytree(road.out, tmp_path / "out", ignore=ignored)
    return tmp_path


def refused(said: Said, status: int, line: str) -> None:
    """One line, as the pattern says, and nothing else."""
    assert (said.status, said.out) == (status, "")
    assert re.fullmatch(rf"fvmkit: {line}\n", said.err), said.err


@pytest.mark.parametrize("case", DESCRIPTIONS.values(), ids=DESCRIPTIONS)
def test_a_description(desk: Path, case: tuple[str, str, int, str]) -> None:
    old, new, status, text = case
    folder = desk / "my projects"
    original = (folder / "system.xml").read_text("utf-8")
    (folder / DESCRIPTION).write_text(change(original, old, new), "utf-8")
    place = rf"my projects/{DESCRIPTION}:\d+:\d+: {re.escape(text)}.*"
    before = digests(desk)
    for out in ("fresh", "out"):  # what was composed before stays, too
        words = ("compose", f"my projects/{DESCRIPTION}", "--out", out)
        refused(fvmkit(*words, cwd=desk), status, place)
        assert digests(desk) == before
    assert not (desk / "fresh").exists()


def test_the_line_of_the_description_is_the_right_one(desk: Path) -> None:
    folder = desk / "my projects"
    lines = (folder / "system.xml").read_text("utf-8").splitlines(keepends=True)
    number = next(i for i, line in enumerate(lines) if '<irq name="USART2"' in line)
    lines[number] = lines[number].replace('"USART2"', '"USART1"')
    (folder / DESCRIPTION).write_text("".join(lines), "utf-8")
    said = fvmkit("compose", f"my projects/{DESCRIPTION}", "--out", "fresh", cwd=desk)
    assert said.err.startswith(f"fvmkit: my projects/{DESCRIPTION}:{number + 1}:5: ")


def test_a_program_that_outgrew_its_memory(desk: Path) -> None:
    folder = desk / "my projects"
    text = (folder / "system.xml").read_text("utf-8")
    (folder / DESCRIPTION).write_text(change(text, 'flash="32K"', 'flash="4K"'), "utf-8")
    before = digests(desk)
    said = fvmkit("compose", f"my projects/{DESCRIPTION}", "--out", "out", cwd=desk)
    refused(said, 1, rf"my projects/{DESCRIPTION}:\d+:\d+: .*'{SENSOR}'.*")
    assert digests(desk) == before


def test_a_project_that_is_not_there(desk: Path) -> None:
    before = digests(desk)
    policy = f"out/{SENSOR}.domain.json"
    for words in (
        ("port", "nowhere", "--domain", policy, "--out", "ported"),
        ("port", f"my projects/{SENSOR}", "--domain", "nowhere.json", "--out", "ported"),
        ("compose", "nowhere.xml", "--out", "fresh"),
        ("build", "nowhere"),
        ("link", "nowhere"),
        ("run", "nowhere"),
        ("scan", "nowhere.elf"),
    ):
        refused(fvmkit(*words, cwd=desk), 2, r"(.*/)?nowhere.*: .+")
    assert digests(desk) == before


def test_a_truncated_program(desk: Path) -> None:
    elf = desk / "out" / SENSOR / f"{SENSOR}.elf"
    elf.write_bytes(elf.read_bytes()[:700])
    before = digests(desk)
    refused(fvmkit("link", "out", cwd=desk), 1, rf"out/{SENSOR}/{SENSOR}\.elf: .*truncated.*")
    words = ("compose", "my projects/system.xml", "--out", "out")
    refused(fvmkit(*words, cwd=desk), 1, rf".*/{SENSOR}\.elf: can't be read as ELF: .*")
    assert digests(desk) == before
    said = fvmkit("scan", f"out/{SENSOR}/{SENSOR}.elf", cwd=desk)
    assert said.status == 1
    finding, verdict = said.out.splitlines()
    assert re.match(rf"out/{SENSOR}/{SENSOR}\.elf: reject elf-malformed: .*truncated", finding)
    assert ": rejected" in verdict


@pytest.mark.parametrize("content", ["{", "[]", '{"schema": 1}', "\0\xff"])
def test_a_policy_that_cannot_be_parsed(desk: Path, content: str) -> None:
    (desk / "bad.json").write_text(content, "latin-1")
    before = digests(desk)
    project, elf = f"my projects/{SENSOR}", f"out/{SENSOR}/{SENSOR}.elf"
    for words in (
        ("port", project, "--domain", "bad.json", "--out", "ported"),
        ("scan", elf, "--policy", "bad.json"),
    ):
        refused(fvmkit(*words, cwd=desk), 1, r"bad\.json.*: .+")
    assert digests(desk) == before
