"""Each rule's samples: assembled, and reported or not, at the right address."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scanner import scan_file
from scanner.arch.registry import ARCHITECTURES, architecture
from scanner.policy import Policy
from scanner.rules.model import AddressRule, InstructionRule
from tests.scanner.conftest import Build

CORES = {
    "armv6m": ("cortex-m0plus",),
    "armv7em": ("cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"),
    "armv8m.main": ("cortex-m33", "-mcmse", "-mfloat-abi=hard", "-mfpu=fpv5-sp-d16"),
}


def rules_on_arm() -> list[Any]:
    """Every rule once with each core that has it and can assemble its samples."""
    found = []
    for name, (cpu, *flags) in CORES.items():
        core = architecture(name)
        for rule in (*core.rules, *core.address_rules):
            if name == rule.assembled_for or rule.assembled_for == "armv7em" != "armv6m" != name:
                found.append(pytest.param(rule, cpu, tuple(flags), id=f"{rule.id}-{name}"))
    return found


def functions(samples: tuple[str, ...]) -> str:
    """One function a sample, each ended by a return and its literals."""
    text = ".thumb_func\n_start: bx lr\n.align 2\n.ltorg\n"
    for number, sample in enumerate(samples):
        text += f".type sample{number}, %function\nsample{number}:\n {sample}\n bx lr\n"
        text += f".size sample{number}, . - sample{number}\n.align 2\n.ltorg\n"
    return text


def build_samples(
    build: Build,
    samples: tuple[str, ...],
    cpu: str = "cortex-m4",
    flags: tuple[str, ...] = ("-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"),
) -> Path:
    return build(functions(samples), *flags, cpu=cpu)


@pytest.mark.parametrize(("rule", "cpu", "flags"), rules_on_arm())
def test_invalid_samples_are_certain_findings(
    build: Build, rule: InstructionRule | AddressRule, cpu: str, flags: tuple[str, ...]
) -> None:
    report = scan_file(build_samples(build, rule.invalid, cpu, flags))
    found = {f.function for f in report.findings if f.rule == rule.id and f.certainty == "certain"}
    assert found == {f"sample{number}" for number in range(len(rule.invalid))}


@pytest.mark.parametrize(("rule", "cpu", "flags"), rules_on_arm())
def test_valid_samples_are_none(
    build: Build, rule: InstructionRule | AddressRule, cpu: str, flags: tuple[str, ...]
) -> None:
    report = scan_file(build_samples(build, rule.valid, cpu, flags))
    assert [f.function for f in report.findings if f.rule == rule.id] == []


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_rule_ids_are_unique(name: str) -> None:
    core = architecture(name)
    ids = [rule.id for rule in (*core.rules, *core.address_rules)]
    assert len(set(ids)) == len(ids)


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


def test_semihosting_needs_the_policy(build: Build) -> None:
    elf = build_samples(build, ("bkpt 0xab", "bkpt 1"))
    found = [(f.text, f.severity) for f in scan_file(elf).findings]
    assert found == [("bkpt #0xab", "policy"), ("bkpt #1", "traps")]
    assert [f.text for f in scan_file(elf, Policy(semihosting=True)).findings] == ["bkpt #1"]


def test_small_cores_have_no_fpu(build: Build) -> None:
    elf = build_samples(build, ("vadd.f32 s0, s1, s2",))
    (finding,) = scan_file(elf, arch="armv7m").findings
    assert (finding.rule, finding.severity) == ("coproc", "traps")
    assert scan_file(elf, arch="armv6m").findings[0].rule == "foreign"


def test_the_secure_world_is_only_on_armv8m(build: Build) -> None:
    samples = ("bxns lr", "sg", "vlstm r0", "msr msplim, r0")
    elf = build_samples(build, samples, *(CORES["armv8m.main"][0], CORES["armv8m.main"][1:]))
    report = scan_file(elf)
    assert [f.rule for f in report.findings if f.severity == "silent"] == [
        "bxns", "sg", "vlstm", "msr",
    ]  # fmt: skip
    assert [f.text for f in report.findings if f.rule == "msr"] == ["msr msplim, r0"]
