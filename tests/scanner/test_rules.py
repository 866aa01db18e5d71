"""Each rule's samples: assembled, and reported or not, at the right address."""

from __future__ import annotations

from pathlib import Path

import pytest

from scanner import scan_file
from scanner.arch.arm import ADDRESS_RULES, RULES
from scanner.policy import Policy
from scanner.rules.model import AddressRule, InstructionRule
from tests.scanner.conftest import Build

ALL_RULES = (*RULES, *ADDRESS_RULES)


def functions(samples: tuple[str, ...]) -> str:
    """One function a sample, each ended by a return and its literals."""
    text = ".thumb_func\n_start: bx lr\n.align 2\n.ltorg\n"
    for number, sample in enumerate(samples):
        text += f".type sample{number}, %function\nsample{number}:\n {sample}\n bx lr\n"
        text += f".size sample{number}, . - sample{number}\n.align 2\n.ltorg\n"
    return text


def build_samples(build: Build, samples: tuple[str, ...]) -> Path:
    return build(functions(samples), "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16")


@pytest.mark.parametrize("rule", ALL_RULES, ids=lambda rule: rule.id)
def test_invalid_samples_are_certain_findings(
    build: Build, rule: InstructionRule | AddressRule
) -> None:
    report = scan_file(build_samples(build, rule.invalid))
    found = {f.function for f in report.findings if f.rule == rule.id and f.certainty == "certain"}
    assert found == {f"sample{number}" for number in range(len(rule.invalid))}


@pytest.mark.parametrize("rule", ALL_RULES, ids=lambda rule: rule.id)
def test_valid_samples_are_none(build: Build, rule: InstructionRule | AddressRule) -> None:
    report = scan_file(build_samples(build, rule.valid))
    assert [f.function for f in report.findings if f.rule == rule.id] == []


def test_rule_ids_are_unique() -> None:
    assert len({rule.id for rule in ALL_RULES}) == len(ALL_RULES)


def test_svc_numbers_come_from_the_policy(build: Build) -> None:
    elf = build_samples(build, ("svc 0", "svc 3", "svc 245"))
    found = scan_file(elf, Policy(svc=frozenset({3}))).findings
    assert [f.text for f in found] == ["svc #0", "svc #0xf5"]
    assert {f.severity for f in found} == {"traps"}


def test_wfi_is_a_warning_unless_the_policy_allows_it(build: Build) -> None:
    elf = build_samples(build, ("wfi", "wfe.w"))
    assert scan_file(elf).verdict == "warn"
    assert scan_file(elf, Policy(wfi=True)).verdict == "accept"


def test_floating_point_needs_the_grant(build: Build) -> None:
    elf = build_samples(build, ("vadd.f32 s0, s1, s2", "vmov r0, s3", "adds r0, r0, r1"))
    assert scan_file(elf, Policy(fpu=True)).verdict == "accept"
    report = scan_file(elf, Policy(fpu=False))
    assert [(f.rule, f.function, f.severity) for f in report.findings] == [
        ("coproc", "sample0", "policy"),
        ("coproc", "sample1", "policy"),
    ]


def test_a_clean_program_is_accepted(build: Build) -> None:
    samples = ("svc 245", "mrs r0, control", "msr apsr_nzcvq, r0", "ldrex r0, [r1]", "udf 7")
    report = scan_file(build_samples(build, samples), strict=True)
    assert (report.verdict, report.findings) == ("accept", ())


def test_what_capstone_does_not_know_is_spelled_out(build: Build) -> None:
    elf = build_samples(build, (".inst.n 0xb67b", ".inst.w 0xf38b818d"))
    cps, msr = sorted(scan_file(elf).findings, key=lambda f: f.address or 0)
    assert cps.text == "cpsid if (encoded as 0xb67b)"
    assert msr.text == "msr special register 141, r11 (encoded as 0xf38b818d)"
