"""The statement of coverage misses no branch, and says what never happened."""

from __future__ import annotations

import re
import subprocess

import pytest

from composer.sources import runtime_folder
from tests.configurations.branches import FALLS, TAKEN, Assembler, holds
from tests.configurations.campaign import make
from tests.configurations.statement import NOT_HERE, Statement, excepted
from tests.configurations.switches import configurations, name_of, short_form
from tests.support.built import once

CONDITIONS = "eq|ne|cs|cc|mi|pl|vs|vc|hi|ls|ge|lt|gt|le"
Z, CARRY = 1 << 30, 1 << 29


def test_every_conditional_instruction_is_known(tmp_path_factory: pytest.TempPathFactory) -> None:
    index = short_form(1)[0]
    name = name_of(configurations()[index])
    system = once(tmp_path_factory, name, lambda room: make(index, room.parent))
    elf = system.folder / "kernel" / "kernel.elf"
    found = Assembler(elf)
    command = ["arm-none-eabi-objdump", "-d", "--no-show-raw-insn", str(elf)]
    listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    wanted = {}
    for line in listing.splitlines():
        said = re.match(rf"\s*([0-9a-f]+):\t(b(?:{CONDITIONS})|cbn?z|tbh|it\w*)\S*\s+(.*)", line)
        if said and int(said[1], 16) in found.range:
            target = re.search(r"\b([0-9a-f]{5,8}) <", said[3])
            wanted[int(said[1], 16)] = int(target[1], 16) if target else None
    assert len(wanted) > 50
    assert {branch.address for branch in found.branches} == set(wanted)
    for branch in found.branches:
        if len(branch.ways) == 2:
            assert branch.ways[0] == (wanted[branch.address], TAKEN)
            assert branch.ways[1][1] == FALLS


@pytest.mark.parametrize(
    ("condition", "flags", "met"),
    [(0, Z, True), (1, Z, False), (2, CARRY, True), (8, CARRY, True), (8, CARRY | Z, False),
     (10, 0, True), (12, Z, False), (13, Z, True), (4, 1 << 31, True), (10, 1 << 31, False)],
)  # fmt: skip
def test_conditions_are_those_of_the_architecture(condition: int, flags: int, met: bool) -> None:
    assert holds(condition, flags) == met


def test_a_way_that_nobody_went_is_told() -> None:
    one, other = ("wait.inc:20", TAKEN), ("wait.inc:20", FALLS)
    statement = Statement()
    statement.add("c00", [one, other], [one])
    assert statement.never() == [other]
    statement.add("c01", [one, other], [other])
    assert statement.never() == []
    assert "2 of 2 directions" in statement.sentence()


@pytest.mark.parametrize("exception", NOT_HERE, ids=str)
def test_an_exception_is_of_one_line(exception: tuple[str, str, str]) -> None:
    name, text, way = exception
    lines = (runtime_folder() / "arch" / "armv7m" / name).read_text("utf-8").splitlines()
    places = [(f"{name}:{number}", way) for number in range(1, len(lines) + 1)]
    assert sum(excepted(place) is not None for place in places) == 1, text
