"""Privileged code beside guests: named, or known by the layout of the system."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from scanner.cli import scan
from scanner.image.elf import load_elf
from scanner.policy import Policy, load_policy
from scanner.report.errors import FvmError
from scanner.report.finding import FileReport
from scanner.scan import scan_file
from tests.scanner.conftest import Build

MPU = """
.macro function name
 .balign 4
 .global \\name
 .thumb_func
 .type \\name, %function
\\name:
.endm
.macro end name
 .size \\name, . - \\name
.endm
function _start
 bl set_up
 b .
end _start
.global __privileged_functions_start__, __privileged_functions_end__
__privileged_functions_start__:
function kernel
 cpsid i
 bl helper
 bl shared
 bx lr
end kernel
__privileged_functions_end__:
function set_up
 msr msp, r0
 bl kernel
 bx lr
end set_up
function helper
 mrs r0, basepri
 bx lr
end helper
function shared
 msr basepri, r0
 bx lr
end shared
function task
 svc 3
 bl shared
 bl give_up
 b task
end task
function give_up
 mrs r0, control
 orr r0, r0, #1
 msr control, r0
 bx lr
end give_up
.balign 4
 .word task
"""
"""`task` is a guest by its pointer; `helper` and `set_up` are called by privileged code alone."""

PLAIN = MPU.replace("__privileged_functions_", "__other_")


def places(report: FileReport) -> list[tuple[str | None, str]]:
    return [(finding.function, finding.text) for finding in report.findings]


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(scan, [str(argument) for argument in arguments])


def test_of_a_known_layout_what_guests_reach_is_judged_alone(build: Build) -> None:
    report = scan_file(build(MPU))
    assert places(report) == [("shared", "msr basepri, r0")]
    assert report.evidence is not None
    assert report.evidence.privileged_by == ("FreeRTOS-MPU",)
    text = run(build(MPU)).stdout
    assert "of them privileged and not judged (FreeRTOS-MPU)" in text
    assert "3 functions that only such code calls are privileged, too" in text


def test_without_a_layout_all_is_judged(build: Build) -> None:
    functions = {function for function, _ in places(scan_file(build(PLAIN)))}
    assert functions == {"kernel", "set_up", "helper", "shared", "task"}


@pytest.mark.parametrize(
    "names",
    [
        ("__other_start__-__other_end__",),
        ("kernel",),
        ("kern*",),
        ("0x08000008-0x08000016",),
    ],
)
def test_privileged_code_is_named(build: Build, names: tuple[str, ...]) -> None:
    report = scan_file(build(PLAIN), privileged=names)
    assert places(report) == [("shared", "msr basepri, r0")]
    assert report.evidence is not None and report.evidence.privileged_by == names


def test_a_section_is_privileged(build: Build) -> None:
    elf = build(
        '.thumb_func\n_start: cpsid i\n b .\n.section .kernel, "ax"\n.type k, %function\n'
        "k: cpsid i\n bx lr\n.size k, . - k\n",
        "-Wl,--section-start=.kernel=0x08200000",
    )
    report = scan_file(elf, privileged=(".kernel",))
    assert [finding.address for finding in report.findings] == [0x08000000]


def test_none_judges_all_of_a_known_layout(build: Build) -> None:
    functions = {function for function, _ in places(scan_file(build(MPU), privileged=("none",)))}
    assert "kernel" in functions and "helper" in functions


def test_a_domain_is_never_privileged_by_its_symbols(build: Build) -> None:
    report = scan_file(build(MPU), Policy(domain="guest"))
    assert ("kernel", "cpsid i") in places(report)


def test_a_policy_names_privileged_code(build: Build, tmp_path: Path) -> None:
    policy = tmp_path / "guest.domain.json"
    document: dict[str, object] = {"schema": 1, "name": "guest", "arch": "armv7em", "svc": [3]}
    document |= {"fpu": True, "wfi": False, "grants": [], "privileged": ["kernel"]}
    policy.write_text(json.dumps(document))
    assert places(scan_file(build(PLAIN), policy)) == [("shared", "msr basepri, r0")]
    document["privileged"] = ["8-4"]
    policy.write_text(json.dumps(document))
    with pytest.raises(FvmError, match="'8-4' ends before it begins"):
        load_policy(policy)


def test_a_pointer_to_a_helper_makes_it_a_guests(build: Build) -> None:
    assert ("helper", "mrs r0, basepri") in places(scan_file(build(MPU + " .word helper\n")))
    made = MPU.replace(
        " b task\n", " movw r3, :lower16:helper\n movt r3, :upper16:helper\n b task\n"
    )
    assert ("helper", "mrs r0, basepri") in places(scan_file(build(made)))


def test_where_a_person_says_that_code_starts_may_be_a_guest(build: Build) -> None:
    elf = build(PLAIN)
    extent = load_elf(elf.read_bytes()).symbols
    assert extent is not None
    helper = extent.value("helper")
    assert helper is not None
    report = scan_file(elf, privileged=("kernel",), entries=(helper,))
    assert ("helper", "mrs r0, basepri") in places(report)


def test_a_guest_that_falls_into_a_helper_reaches_it(build: Build) -> None:
    falls = MPU.replace(
        " bx lr\nend give_up", " nop\nend give_up\nfunction late\n cpsie i\n bx lr\nend late"
    )
    also_called = falls.replace(" bl helper\n", " bl helper\n bl late\n")
    assert ("late", "cpsie i") in places(scan_file(build(also_called)))


def test_a_call_past_the_gate_is_told(build: Build) -> None:
    text = run(build(MPU.replace(" svc 3\n", " bl kernel\n"))).stdout
    assert "1 times judged code goes there without an SVC, first at 0x" in text
    assert " task: it faults without privilege" in text


def test_a_gate_of_the_layout_may_go_there(build: Build) -> None:
    labels = ".global __syscalls_flash_{0}__\n__syscalls_flash_{0}__:\n"
    gate = labels.format("start") + "function MPU_kernel\n svc 4\n b kernel\nend MPU_kernel\n"
    source = MPU.replace("function task\n svc 3\n", "function task\n bl MPU_kernel\n")
    text = run(build(source + gate + labels.format("end"))).stdout
    assert "not judged (FreeRTOS-MPU)" in text and "without an SVC" not in text


def test_a_program_that_is_all_kernel_is_no_guests(build: Build) -> None:
    elf = build(MPU)
    result = run("--privileged", "0x08000000-0x08001000", elf)
    assert result.exit_code == 1
    assert "reject no-guest: all code that was found is privileged (0x08000000-" in result.stdout


def test_a_name_that_means_nothing_is_told(build: Build) -> None:
    assert "'nobody' names no privileged code in this program" in run(
        "--privileged", "nobody", build(PLAIN)
    ).stdout  # fmt: skip


@pytest.mark.parametrize("names", [("none", "kernel"), ("0x10",), ("0x20-0x10",), ("",)])
def test_what_can_name_nothing_is_an_error(build: Build, names: tuple[str, ...]) -> None:
    options = [part for name in names for part in ("--privileged", name)]
    assert run(*options, build(PLAIN)).exit_code == 2


@pytest.mark.parametrize(
    ("symbols", "name"),
    [
        (
            ("_txm_module_manager_user_mode_entry", "_txm_module_manager_initialize"),
            "ThreadX Modules",
        ),
        (("_stext", "_sapps"), "Tock"),
    ],
)
def test_kernels_whose_guests_are_programs_of_their_own(
    build: Build, symbols: tuple[str, ...], name: str
) -> None:
    labels = "".join(f".global {one}\n{one}:\n" for one in symbols)
    source = f"{labels}.thumb_func\n_start: cpsid i\n b .\n.global _etext\n_etext:\n"
    text = run(build(source)).stdout
    assert "cps" not in text and f"no-guest: all code that was found is privileged ({name})" in text


def test_of_zephyr_what_system_calls_reach_is_privileged(build: Build) -> None:
    zephyr = (
        MPU.replace("__privileged_functions_start__", "_k_syscall_table")
        .replace("__privileged_functions_end__", "__text_region_start")
        .replace("kernel", "z_impl_k_sem_give")
    )
    report = scan_file(build(zephyr))
    assert places(report) == [("shared", "msr basepri, r0")]
    assert report.evidence is not None and report.evidence.privileged_by == ("Zephyr userspace",)
