"""Who can hold up whose line, and change whose blocks, asked of a finished image.

`compose` refuses such systems, so either a good image is changed, or what the chip's data say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from composer.description.model import Pin
from composer.verify.checks.neighbours import check_neighbours
from composer.verify.expected import TO_SIGNAL
from composer.verify.subject import Subject
from composer.verify.tables import NO_INDEX
from tests.runtime.conftest import SYSTEMS
from tests.support.built import build, once
from tests.verify.mutation import CPACR, REGIONS, Mutant, Original, word

LINE = "interrupt line 38 (USART2) of"


def original(factory: pytest.TempPathFactory, name: str) -> Original:
    """Shared with the runtime's tests."""
    return Original(once(factory, name, lambda room: build(SYSTEMS / f"{name}.xml", room)))


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> Original:
    return original(tmp_path_factory, "lines")


@pytest.fixture(scope="module")
def sections(tmp_path_factory: pytest.TempPathFactory) -> Original:
    return original(tmp_path_factory, "sections")


def found(
    subject: Subject,
    raises: Mapping[str, str] = {},
    depends: Mapping[str, str] = {},
    drives: Mapping[str, str] = {},
    fpu: str = "FPU",
) -> list[str]:
    """Findings for a chip on which blocks raise more lines or depend on others."""
    devices = dict(subject.chip.devices)
    for block, line in raises.items():
        devices[block] = replace(devices[block], interrupts=(*devices[block].interrupts, line))
    for block, other in depends.items():
        devices[block] = replace(devices[block], depends={other: "told so"})
    for block, pin in drives.items():
        devices[block] = replace(devices[block], drives=(pin,))
    chip = replace(subject.chip, devices=devices, lines_of_fpu=(fpu,))
    return list(check_neighbours(replace(subject, chip=chip)))


def test_a_good_image_has_none(lines: Original, sections: Original) -> None:
    assert found(lines.subject) == found(sections.subject) == []


def test_a_line_led_to_another_domain(lines: Original) -> None:
    signal = lines.subject.expected.signals[1, "line UART4"]
    route = bytes((TO_SIGNAL, signal, 0, NO_INDEX))
    mutant = Mutant("route", {lines.row("route", 38): route})
    assert found(lines.mutated(mutant)) == [f"{LINE} 'echo': 'lines' has USART2, which raises it"]


def test_a_block_that_another_domain_reaches(lines: Original) -> None:
    """The process's region for UART4 leads to USART2, whose line is the VM's."""
    usart2 = lines.subject.chip.devices["USART2"].base
    (number, rbar), = [
        (number, rbar)
        for number, (rbar, _) in enumerate(lines.tables.domains[1].regions)
        if rbar & ~0x3FF == lines.subject.chip.devices["UART4"].base
    ]  # fmt: skip
    place = lines.row("domain", 1) + REGIONS + 8 * number
    subject = lines.mutated(word("region", place, usart2 | rbar & 0x1F))
    assert found(subject) == [f"{LINE} 'lines': 'echo' has USART2, which raises it"]


def test_a_line_that_another_block_raises_too(lines: Original) -> None:
    assert found(lines.subject, raises={"UART4": "USART2"}) == [
        f"{LINE} 'lines': 'echo' has UART4, which raises it"
    ]
    assert found(lines.subject, raises={"USART6": "USART2"}) == [
        f"{LINE} 'lines': 'hypervisor' has USART6, which raises it"
    ]
    assert found(lines.subject, raises={"USART3": "USART2", "UART5": "USART2"}) == []


def test_blocks_that_depend_on_another_domains(lines: Original) -> None:
    assert found(lines.subject, depends={"USART3": "UART4", "UART4": "USART6"}) == [
        "'lines' has USART3, which depends on UART4 of 'echo'",
        "'echo' has UART4, which depends on USART6 of 'hypervisor'",
    ]
    assert found(lines.subject, depends={"USART3": "USART2", "UART4": "UART5"}) == []


def test_pins_that_another_domains_block_drives(lines: Original) -> None:
    """The description says whose pins are; here a process has one."""
    process, *others = lines.subject.system.processes
    pin = Pin("C", 13, "output", None, "none", "low", "push-pull", False, process.place)
    processes = (replace(process, pins=(pin,)), *others)
    subject = replace(lines.subject, system=replace(lines.subject.system, processes=processes))
    assert found(subject, drives={"USART3": "PC13", "USART6": "PC13", "UART4": "PC13"}) == [
        "'lines' has USART3, which can drive PC13 of 'echo'",
        "'hypervisor' has USART6, which can drive PC13 of 'echo'",
    ]
    assert found(subject, drives={"USART3": "PC14", "USART2": "PC12"}) == []


def test_a_line_of_the_fpus_flags(lines: Original) -> None:
    assert found(lines.subject, fpu="USART2") == []
    place = lines.row("domain", 1) + CPACR
    subject = lines.mutated(word("FPU for the process", place, 0x00F00000))
    assert found(subject, fpu="USART2") == [
        f"{LINE} 'lines': 'echo' has the FPU, whose flags raise it"
    ]


def test_a_split_line_belongs_to_both(sections: Original) -> None:
    """USART2 is the VM's; the process reaches it, has the line, and the VM is behind it."""
    assert found(sections.subject, raises={"USART1": "USART2"}) == []
    assert found(sections.subject, depends={"USART2": "USART1"}) == []
    assert found(sections.subject, raises={"USART6": "USART2"}) == [
        f"{LINE} 'middle' and 'rest': 'hypervisor' has USART6, which raises it"
    ]
