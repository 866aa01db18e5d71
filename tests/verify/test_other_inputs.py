"""Another description, another manifest, parts that moved: what verify says of each."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from composer.chips.chip import load_chip
from composer.description.parse import parse
from composer.verify.expected import Expected
from composer.verify.verify import verify
from tests.support.built import Built, change
from tests.verify.mutation import Original, caught

# What changes in the description, and the check that has to notice.
DESCRIPTIONS = {
    "a domain's flash": ('flash="64K" ram="48K"', 'flash="128K" ram="48K"', "areas"),
    "a domain's RAM": ('flash="64K" ram="48K"', 'flash="64K" ram="64K"', "areas"),
    "a smaller domain": ('flash="32K" ram="16K"', 'flash="8K" ram="16K"', "areas"),
    "the FPU": ('fpu="no"', 'fpu="yes"', "fpu"),
    "the watchdog": (
        'watchdog="500ms" usr-stack="2K"', 'watchdog="400ms" usr-stack="2K"', "threads",
    ),
    "the catch-up": ('catchup="10"\n      watchdog="500ms" usr-stack="1K"',
                     'catchup="11"\n      watchdog="500ms" usr-stack="1K"', "threads"),
    "a VM's priority": ('name="motor-controller" flash="64K"',
                        'name="motor-controller" priority="1" flash="64K"', "threads"),
    "another decides": ('<tick handler="SysTick_Handler"/>\n    <device name="USART2"/>',
                        '<tick handler="SysTick_Handler"/>\n    <device name="USART2"/>'
                        '<fault action="user" process="heartbeat"/>', "domains"),
    "when it restarts": ('<timer name="beat" period="10ms"/>',
                         '<timer name="beat" period="10ms"/><fault delay="2ms"/>', "policy"),
    "how often it restarts": ('<timer name="beat" period="10ms"/>',
                              '<timer name="beat" period="10ms"/><fault most="2"/>', "policy"),
    "who reads the log": ('<process name="heartbeat"', '<process log="read" name="heartbeat"',
                          "capabilities"),
    "the order of VMs": ('name="sensor-node" flash="32K"',
                         'name="sensor-node" priority="1" flash="32K"', "manifest"),
    "a stack": ('usr-stack="2K"', 'usr-stack="20K"', "headers"),
    "the slice": ('slice="5ms"', 'slice="4ms"', "threads"),
    "the tick": ('<kernel tick="1000Hz"', '<kernel tick="2000Hz"', "threads"),
    "the console": ('console="USART6"', 'console="UART4"', "grants"),
    "protection off": ('protection="on"', 'protection="off"', "start"),
    "a clock factor": ('n="336"', 'n="168"', "threads"),
    "the wait states": ('latency="5"', 'latency="6"', "boot"),
    "a priority": ('<process name="heartbeat" priority="10"',
                   '<process name="heartbeat" priority="11"', "threads"),
    "a timer": ('period="10ms"', 'period="20ms"', "routes"),
    "a device less": ('<device name="USART2"/>', "", "grants"),
    "a device more": ('<device name="USART2"/>', '<device name="USART2"/><device name="SPI1"/>',
                      "grants"),
    "another line": ('<irq name="USART2"', '<irq name="USART3"', "vectors"),
    "a pin": ('<pin port="A" pin="6"', '<pin port="A" pin="7"', "pins"),
    "a pin's mode": ('pin="2" mode="alternate" af="7" pull="up"',
                     'pin="2" mode="alternate" af="7" pull="none"', "boot"),
    "a clock less": ('<clock name="USART2"/>', "", "boot"),
    "a shared block": ('<shared name="link" size="1K">', '<shared name="link" size="2K">',
                       "grants"),
    "read only": ('<user domain="sensor-node" access="rw"/>',
                  '<user domain="sensor-node" access="r"/>', "grants"),
    "an event less": ('<event name="TO_MOTOR" from="sensor-node" to="motor-controller"'
                      ' handler="link_event"/>', "", "threads"),
    "another name": ('<process name="heartbeat"', '<process name="heartbeet"', "manifest"),
}  # fmt: skip


@pytest.fixture(scope="session")
def original(example: Built) -> Original:
    return Original(example)


@pytest.mark.parametrize("what", DESCRIPTIONS)
def test_another_description_is_not_this_image(
    original: Original, example: Built, tmp_path: Path, what: str
) -> None:
    """Its digest made to fit, so that it is the image that disagrees."""
    old, new, check = DESCRIPTIONS[what]
    file = tmp_path / "system.xml"
    file.write_text(change(example.description.read_text("utf-8"), old, new), "utf-8")
    system = parse(file)
    chip = load_chip(system.chip, system.place)
    found = caught(replace(original.subject, system=system, expected=Expected(system, chip)))
    assert found is not None
    assert found.startswith(f"{check}: "), found


def rejected(example: Built, image: Path, description: Path | None = None) -> dict[str, list[str]]:
    """Findings by check."""
    report = verify(image, description or example.description)
    assert report.verdict == "reject"
    return {check.id: list(check.findings) for check in report.checks if not check.ok}


def test_a_comment_more_is_another_description(example: Built, tmp_path: Path) -> None:
    file = tmp_path / "system.xml"
    file.write_text(example.description.read_text("utf-8") + "<!-- later -->\n", "utf-8")
    findings = rejected(example, example.elf, file)
    assert list(findings) == ["description"]
    assert "composed from another description" in findings["description"][0]


@pytest.fixture
def image(example: Built, tmp_path: Path) -> Path:
    """A copy of the image; the manifest leads to the same ELFs."""
    for file in example.elf.parent.iterdir():
        shutil.copy(file, tmp_path)
    manifest = tmp_path / "system.json"
    document = json.loads(manifest.read_text())
    for part in document["parts"]:
        part["elf"] = str((example.elf.parent / part["elf"]).resolve())
    manifest.write_text(json.dumps(document))
    return tmp_path / "system.elf"


def drop_part(document: Any) -> None:
    del document["parts"][-1]


def swap_parts(document: Any) -> None:
    document["parts"][1:3] = document["parts"][2:0:-1]


def move_segment(document: Any) -> None:
    document["parts"][-1]["segments"][0]["load_address"] += 0x100


def run_in_other_ram(document: Any) -> None:
    segments = document["parts"][-1]["segments"]
    next(s for s in segments if s["run_address"] >= 0x20000000)["run_address"] = 0x20000000


def larger_at_run_time(document: Any) -> None:
    segments = document["parts"][-1]["segments"]
    next(s for s in segments if s["run_address"] >= 0x20000000)["run_size"] = 0x20000


def other_entry(document: Any) -> None:
    document["entry"] += 2


def other_system(document: Any) -> None:
    document["system"] = "another"


def other_chip(document: Any) -> None:
    document["chip"] = "STM32F407VG"


def said_to_be_off(document: Any) -> None:
    document["protection"] = False


def other_digest(document: Any) -> None:
    document["parts"][0]["segments"][0]["sha256"] = "0" * 64


def other_elf(document: Any) -> None:
    document["parts"][1]["elf"] = document["parts"][2]["elf"]


def stand_in(document: Any) -> None:
    """An ELF whose bytes are in the image too, but which is of another part."""
    for key in ("elf", "sha256"):
        document["parts"][-1][key] = document["parts"][-2][key]


def other_kind(document: Any) -> None:
    document["parts"][-1]["kind"] = "process"


CHANGES: dict[str, tuple[Callable[[Any], None], str]] = {
    f.__name__: (f, check)
    for f, check in (
        (drop_part, "manifest"), (swap_parts, "manifest"), (move_segment, "bytes"),
        (run_in_other_ram, "bytes"), (larger_at_run_time, "bytes"), (other_entry, "manifest"),
        (other_system, "manifest"), (other_chip, "manifest"), (said_to_be_off, "start"),
        (other_digest, "hashes"), (other_elf, "parts"), (stand_in, "parts"),
        (other_kind, "manifest"),
    )
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_another_manifest_is_not_this_image(example: Built, image: Path, name: str) -> None:
    edit, check = CHANGES[name]
    manifest = image.with_suffix(".json")
    document = json.loads(manifest.read_text())
    edit(document)
    manifest.write_text(json.dumps(document))
    assert check in rejected(example, image)


def test_parts_that_changed_places(example: Built, image: Path) -> None:
    """The image of another system with the same names is none of this description."""
    content = bytearray(image.read_bytes())
    header = int.from_bytes(content[28:32], "little")
    first, second = header + 32, header + 64  # of the segments behind the kernel's
    for offset in (8, 12):  # run and load address
        one, other = (
            content[first + offset : first + offset + 4],
            content[second + offset : second + offset + 4],
        )
        content[first + offset : first + offset + 4] = other
        content[second + offset : second + offset + 4] = one
    image.write_bytes(content)
    assert rejected(example, image)


def test_a_segment_more_is_found(example: Built, image: Path) -> None:
    binary = image.with_suffix(".bin")
    binary.write_bytes(binary.read_bytes() + b"\x00\xbf")
    assert "belongs to no part" in rejected(example, binary)["bytes"][0]


def test_a_gap_that_isnt_erased_is_found(example: Built, image: Path) -> None:
    binary = image.with_suffix(".bin")
    content = bytearray(binary.read_bytes())
    gap = content.index(b"\xff" * 64) + 40
    content[gap] = 0
    binary.write_bytes(content)
    assert f"0x{0x08000000 + gap:08x}" in rejected(example, binary)["bytes"][0]


def test_the_control_is_accepted(example: Built, image: Path) -> None:
    assert verify(image, example.description).ok
