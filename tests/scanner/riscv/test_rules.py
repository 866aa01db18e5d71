"""Each RISC-V rule's samples: assembled, and reported or not; and what chip and policy change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from scanner import scan_file
from scanner.arch.riscv import ADDRESS_RULES, RULES
from scanner.policy import Grant, Policy
from scanner.rules.model import AddressRule, InstructionRule
from tests.scanner.riscv.conftest import Build

Strip = Callable[[Path], Path]
OWN_RULES = tuple(r for r in (*RULES, *ADDRESS_RULES) if r.assembled_for.startswith("rv"))


def functions(samples: tuple[str, ...]) -> str:
    """One function a sample, each ended by a return."""
    text = "_start: ret\n"
    for number, sample in enumerate(samples):
        text += f".type sample{number}, %function\nsample{number}:\n {sample}\n ret\n"
        text += f".size sample{number}, . - sample{number}\n"
    return text


@pytest.mark.parametrize("rule", OWN_RULES, ids=lambda rule: rule.id)
def test_invalid_samples_are_certain_findings(
    build: Build, rule: InstructionRule | AddressRule
) -> None:
    report = scan_file(build(functions(rule.invalid)))
    found = {f.function for f in report.findings if f.rule == rule.id and f.certainty == "certain"}
    assert found == {f"sample{number}" for number in range(len(rule.invalid))}


@pytest.mark.parametrize("rule", OWN_RULES, ids=lambda rule: rule.id)
def test_valid_samples_are_none(build: Build, rule: InstructionRule | AddressRule) -> None:
    report = scan_file(build(functions(rule.valid)))
    assert [f.function for f in report.findings if f.rule == rule.id] == []


@pytest.fixture(scope="module")
def legacy(build: Build) -> Path:
    """Interrupts switched off and on again, as the vendors' libraries do it."""
    code = "_start: csrrci a0, 0x800, 8\n csrs 0x804, a1\n csrr a2, 0x811\n ret\n"
    return build(code, arch="rv32imac")


@pytest.mark.parametrize(
    ("chip", "names"),
    [
        (None, ("0x800", "0x804", "0x811")),
        ("CH32V307VCT6", ("gintenr", "intsyscr", "0x811")),
        ("ch32v203C8T6", ("gintenr", "intsyscr", "0x811")),
        ("GD32VF103CBT6", ("0x800", "0x804", "sleepvalue")),
        ("ESP32-C3", ("pcer_user", "gpio_in_user", "0x811")),
        ("hpm6750", ("uitb", "0x804", "sleepvalue")),
        ("FE310-G002", ("0x800", "0x804", "0x811")),
    ],
)
def test_the_vendors_names_and_a_refusal_of_what_is_not_known(
    legacy: Path, chip: str | None, names: tuple[str, ...]
) -> None:
    report = scan_file(legacy, chip_name=chip)
    assert report.verdict == "reject"
    assert [f.text.split(" (")[0] for f in report.findings] == [
        f"csrrci a0, {names[0]}, 8",
        f"csrs {names[1]}, a1",
        f"csrr a2, {names[2]}",
    ]


def test_a_policy_names_the_part_too(legacy: Path, build: Build) -> None:
    report = scan_file(legacy, Policy(chip="CH32V307VCT6"))
    assert report.findings == scan_file(legacy, chip_name="CH32V307VCT6").findings
    other = scan_file(legacy, Policy(chip="CH32V307VCT6"), chip_name="ESP32-C3")
    assert other.findings == scan_file(legacy, chip_name="ESP32-C3").findings
    unknown = scan_file(legacy, Policy(chip="own-core"))
    assert unknown.findings == scan_file(legacy).findings
    no_host = scan_file(build("_start: ret\n", arch="rv32imac"), Policy(chip="CH32V003F4P6"))
    assert [f.rule for f in no_host.findings] == ["no-host"]


def test_what_the_effect_is(legacy: Path) -> None:
    gintenr, intsyscr, _ = scan_file(legacy, chip_name="ch32v307").findings
    assert "interrupts of the whole chip" in gintenr.why
    assert "nesting" in intsyscr.why
    pins = scan_file(legacy, chip_name="esp32c3").findings[1]
    assert "pins past the memory protection" in pins.why


def test_where_every_register_was_tried_nothing_is_silent(legacy: Path) -> None:
    report = scan_file(legacy, chip_name="qemu-virt")
    assert report.verdict == "warn"
    assert {f.severity for f in report.findings} == {"traps"}


def test_a_possible_one_rejects_where_it_is_an_escape(build: Build) -> None:
    hidden = build("_start: ret\n.word 0x80059073\n", arch="rv32imac")
    assert [f.certainty for f in scan_file(hidden).findings] == ["possible"]
    assert scan_file(hidden).verdict == "warn"
    assert scan_file(hidden, strict=True).verdict == "reject"
    assert scan_file(hidden, chip_name="ch32v307").verdict == "reject"
    assert scan_file(hidden, chip_name="fe310").verdict == "warn"
    unknown = build("_start: ret\n.word 0x87933ff3\n", arch="rv32imac")
    assert scan_file(unknown, chip_name="ch32v307").verdict == "warn", "in every real program"


def test_a_chip_without_user_mode_is_no_host(build: Build) -> None:
    report = scan_file(build("_start: ret\n", arch="rv32imac"), chip_name="CH32V003F4P6")
    assert [f.rule for f in report.findings] == ["no-host"]
    assert report.verdict == "reject"


def test_ecall_is_the_hypercall_of_domains_that_have_some(build: Build) -> None:
    elf = build("_start: ecall\n ret\n")
    assert scan_file(elf).verdict == "accept"
    assert [f.rule for f in scan_file(elf, Policy(svc=frozenset())).findings] == ["ecall"]


def test_wfi_is_a_warning_unless_the_policy_allows_it(build: Build) -> None:
    elf = build("_start: wfi\n ret\n")
    assert scan_file(elf).verdict == "warn"
    assert scan_file(elf, Policy(wfi=True)).verdict == "accept"


def test_compressed_instructions_of_double_precision_are_told(build: Build) -> None:
    elf = build("_start: .hword 0x2000, 0x2002, 0xa000\n ret\n")
    findings = scan_file(elf, Policy(fpu=True)).findings
    assert [(f.rule, f.severity, f.text.split()[0]) for f in findings] == [
        ("fpu", "traps", "c.fd")
    ] * 3


def test_floating_point_needs_the_grant(build: Build) -> None:
    elf = build(
        "_start: fadd.s fa0, fa1, fa2\n c.flwsp fa0, 4(sp)\n frcsr a0\n add a0, a0, a1\n ret\n"
    )
    assert scan_file(elf, Policy(fpu=True)).verdict == "accept"
    report = scan_file(elf, Policy(fpu=False))
    assert [(f.rule, f.severity) for f in report.findings] == [
        ("fpu", "policy"),
        ("fpu", "policy"),
        ("csr", "policy"),
    ]


def test_a_program_with_fpu_is_refused_for_a_core_without(build: Build) -> None:
    report = scan_file(build("_start: ret\n"), arch=None, policy=Policy(arch="rv32imac"))
    assert [f.text for f in report.findings] == ["built for rv32imafc; the chip is rv32imac"]


def test_custom_opcodes_are_told_from_the_middle_of_instructions(build: Build) -> None:
    inside = ".option norvc\n_start: lui a0, 0x000b0\n lui a0, 0x0b2b0\n ret\n"
    assert scan_file(build(inside)).verdict == "accept"
    assert scan_file(build("_start: .insn 0x0000000b\n ret\n")).verdict == "reject"
    assert (
        scan_file(build("_start: .insn 0x0000000b\n ret\n"), chip_name="qemu-virt").verdict
        == "warn"
    )


def test_devices_need_a_grant(build: Build) -> None:
    elf = build("_start: li a5, 0x40013804\n sw a0, 0(a5)\n lw a1, 0x400(a5)\n ret\n")
    grants = (
        Grant("flash", "code", 0x08000000, 0x10000),
        Grant("USART1", "device", 0x40013800, 0x400),
    )
    report = scan_file(elf, Policy(domain="vm", grants=grants), chip_name="ch32v307")
    assert [(f.rule, f.text) for f in report.findings] == [
        ("mmio", "read of 0x40013c04, not granted to vm")
    ]
    assert scan_file(elf).verdict == "accept"


@pytest.mark.parametrize("bare", [False, True])
def test_own_instructions_are_often_written_as_data(build: Build, strip: Strip, bare: bool) -> None:
    """Where no assembler knows them. It marks them as data, but control gets there."""
    elf = build(
        "_start: li a0, 1\n.word 0x0000000b\n call returns\n.word 0x0020802b\n"
        " beqz a0, next\n.word 0x0000005b\nnext: .word 0x0000007b\n j _start\n"
        ".word 0x0000000b\nreturns: ret\n"
    )
    report = scan_file(strip(elf) if bare else elf)
    found = [f.text.split()[0] for f in report.findings]
    assert found == ["custom-0", "custom-1", "custom-2", "custom-3"]
    assert report.verdict == "reject"
