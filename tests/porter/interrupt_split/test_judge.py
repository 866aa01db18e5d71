"""What a mid-section does with a record: the frame rule, counts and a user's policy, as code."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from porter.project.domain import Count, Frame
from tests.porter.interrupt_split.execution import (
    DOMAIN_HEADER,
    HARNESS,
    STRICT,
    Machine,
    Program,
    compile_object,
)
from tests.porter.interrupt_split.shapes import BASES, SPLIT, Shape
from tests.porter.interrupt_split.splitting import domain_for, split_shape

POST, POSTPONE, DROP = 0, 1, 2
SHAPES = {shape.name: shape for shape in SPLIT}
POLICY = """
#include <fvm/split.h>
#include "usart1_record.h"
enum fvm_verdict choose(const struct usart1_record *record);
enum fvm_verdict choose(const struct usart1_record *record)
{
    return record->DR == '#' ? FVM_DROP : record->DR == '.' ? FVM_POSTPONE : FVM_POST;
}
"""


def machine(
    folder: Path,
    shape: Shape,
    frame: Frame | None = None,
    policy: str | None = None,
    counts: tuple[Count, ...] = (),
) -> Machine:
    """The mid-section alone."""
    split = split_shape(folder, shape, domain_for(shape.device, frame, counts, policy))
    assert split.mid is not None, split.escalated
    (folder / "usart1_mid.c").write_text(split.mid.code())
    (folder / "usart1_record.h").write_text(split.mid.header())
    (folder / "fvm_domain.h").write_text(DOMAIN_HEADER.format(irq="USART1"))
    judge = "judge(test_records[number], consumed != 0)"
    names = {"harness.c": HARNESS.format(irq="USART1", section="usart1_mid", judge=judge)}
    if policy is not None:
        names["policy.c"] = POLICY
    objects = []
    for name, text in names.items():
        (folder / name).write_text(text)
        objects.append(folder / f"{name}.o")
        said = compile_object(folder / name, objects[-1], [folder], *STRICT)
        assert not said, said
    return Machine(Program.link(objects, folder / "mid.elf"), BASES["USART1"])


def verdicts(machine: Machine, characters: str, consumed: bool = True) -> list[int]:
    """For records of these characters: SR, DR."""
    found = []
    for character in characters:
        machine.set("test_records", struct.pack("<2I", 0x20, ord(character)))
        found.append(machine.call("test_judge", 0, int(consumed)))
    return found


def test_the_vm_is_woken_at_the_end_of_a_frame(tmp_path: Path) -> None:
    mid = machine(tmp_path, SHAPES["register style"], Frame("DR", (13, 10), 100))
    assert verdicts(mid, "go\r\nx") == [POSTPONE, POSTPONE, POST, POST, POSTPONE]


def test_the_vm_is_woken_after_the_longest_frame(tmp_path: Path) -> None:
    mid = machine(tmp_path, SHAPES["register style"], Frame("DR", (13,), 3))
    assert verdicts(mid, "aaaaaaa") == [POSTPONE, POSTPONE, POST] * 2 + [POSTPONE]
    assert verdicts(mid, "\raa") == [POST, POSTPONE, POSTPONE]


def test_what_only_the_vm_can_serve_wakes_it_at_once(tmp_path: Path) -> None:
    mid = machine(tmp_path, SHAPES["register style"], Frame("DR", (13,), 100))
    assert verdicts(mid, "aa", consumed=False) == [POST, POST]


def test_a_policy_drops_and_postpones(tmp_path: Path) -> None:
    mid = machine(tmp_path, SHAPES["register style"], policy="choose")
    assert verdicts(mid, "#.a") == [DROP, POSTPONE, POST]
    assert verdicts(mid, "#", consumed=False) == [POST]


def test_a_policy_comes_before_the_frame(tmp_path: Path) -> None:
    mid = machine(tmp_path, SHAPES["register style"], Frame("DR", (ord("!"),), 100), "choose")
    assert verdicts(mid, "#.a!") == [DROP, POSTPONE, POSTPONE, POST]


def test_a_record_without_a_character_is_no_part_of_a_frame(tmp_path: Path) -> None:
    shape = Shape(
        "timer beside",
        "void USART1_IRQHandler(void)\n{\n    uint32_t sr = USART1->SR;\n"
        "    if (sr & USART_SR_RXNE) put(USART1->DR);\n"
        "    if (sr & 0x100u) {\n        USART1->SR = ~0x100u;\n        flags = 1;\n    }\n}\n",
    )
    mid = machine(tmp_path, shape, Frame("DR", (13,), 100))
    mid.peripheral.words = {0: 0x100}
    assert mid.call("test_capture", 0) & 0xFF
    assert mid.call("test_judge", 0, 1) == POST
    mid.peripheral.words = {0: 0x20, 4: ord("a")}
    assert mid.call("test_capture", 0) & 0xFF
    assert mid.call("test_judge", 0, 1) == POSTPONE


def test_counted_registers_are_fields_of_the_record(tmp_path: Path) -> None:
    counts = (Count("overrun", "SR", 8), Count("line_errors", "SR", 6))
    split = split_shape(tmp_path, SHAPES["register style"], domain_for("USART1", None, counts))
    assert split.mid is not None
    assert "{offsetof(struct usart1_record, SR) / sizeof(uint32_t), 0x8U}, /* overrun */" in (
        split.mid.code()
    )


@pytest.mark.parametrize("what", ["frame", "count"])
def test_a_register_that_is_not_captured_is_refused(what: str, tmp_path: Path) -> None:
    frame = Frame("RDR", (13,), 16) if what == "frame" else None
    counts = (Count("x", "RDR", 1),) if what == "count" else ()
    domain = domain_for("USART1", frame, counts)
    split = split_shape(tmp_path, SHAPES["register style"], domain)
    assert split.mid is None
    assert f'<{what} register="RDR"> of USART1: the record has DR, SR' in split.escalated[0]


@pytest.mark.parametrize(("value", "end", "most"), [
    ("(uint8_t)USART1->DR", 300, 255), ("USART1->DR & 0xFF", 256, 255), ("USART1->DR", 512, 511),
])  # fmt: skip
def test_an_end_that_never_comes_is_refused(
    value: str, end: int, most: int, tmp_path: Path
) -> None:
    shape = Shape(
        "narrow",
        "void USART1_IRQHandler(void)\n{\n    if (USART1->SR & USART_SR_RXNE) put("
        f"{value});\n}}\n",
    )
    split = split_shape(tmp_path, shape, domain_for("USART1", Frame("DR", (13, end), 16)))
    assert split.mid is None
    assert f'ends="{end}" of USART1: DR is at most {most} as the handler' in split.escalated[0]
    known = split_shape(tmp_path, shape, domain_for("USART1", Frame("DR", (13, most), 16)))
    assert known.escalated == []
