"""Cases of switches are reached in stripped programs, whatever the compiler made of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from scanner import scan_file
from scanner.report.finding import FileReport
from tests.scanner.conftest import Build

Strip = Callable[[Path], Path]

CASES = 9


def switch(nops: int) -> str:
    """A function with a supervisor call in every case, and so many instructions more."""
    case = """
        case {0}: __asm volatile("svc {0}\\n{1}" ::: "memory"); x += f(x) * {0}; break;"""
    cases = "".join(case.format(n, "nop\\n" * nops) for n in range(CASES))
    return f"""
    __attribute__((noinline)) int f(int x) {{ __asm volatile("" : "+r"(x)); return x; }}
    __attribute__((noinline)) int choose(int x) {{
        switch (x) {{ {cases}
            default: x = 77; }}
        return x;
    }}
    void _start(void) {{ for (volatile int n = 0;; n++) choose(n); }}
    """


def certain_calls(report: FileReport) -> set[str]:
    return {f.text for f in report.findings if f.rule == "svc" and f.certainty == "certain"}


@pytest.mark.parametrize("nops", [0, 200], ids=["bytes", "halfwords"])
@pytest.mark.parametrize("optimise", ["-O0", "-O1", "-O2", "-Os"])
@pytest.mark.parametrize("cpu", ["cortex-m0plus", "cortex-m3", "cortex-m7", "cortex-m33"])
def test_every_case_is_reached(
    build: Build, strip: Strip, cpu: str, optimise: str, nops: int
) -> None:
    elf = build(switch(nops), optimise, "-Wl,--no-warnings", "-lgcc", c=True, cpu=cpu)
    report = scan_file(strip(elf))
    assert certain_calls(report) == {f"svc #{n}" for n in range(CASES)}
    assert {f.rule for f in report.findings} == {"svc"}


@pytest.mark.parametrize(
    "jump",
    [
        "adr r3, table\n ldr.w pc, [r3, r0, lsl #2]\n.align 2\ntable: .word one + 1, two + 1\n",
        "ldr r3, =table\n ldr.w pc, [r3, r0, lsl #2]\n.ltorg\n.align 2\n"
        "table: .word one + 1, two + 1\n",
        "lsls r0, #2\n adr r3, table\n ldr r3, [r3, r0]\n mov pc, r3\n.align 2\n"
        "table: .word one, two\n",
        "lsls r0, #1\n add pc, r0\n nop\n b one\n b two\n",
        "add r0, pc\n ldrb r0, [r0, #4]\n lsls r0, #1\n add pc, r0\n"
        "near: .byte (one - near - 2) / 2, (two - near - 2) / 2\n",
        "tbh [pc, r0, lsl #1]\nnear: .short (one - near) / 2, (two - near) / 2\n",
    ],
)
def test_forms_of_tables(build: Build, strip: Strip, jump: str) -> None:
    elf = build(
        f".thumb_func\n_start: cmp r0, #1\n bhi out\n {jump} out: bx lr\n.short 0xb672\n"
        "one: svc 1\n bx lr\n.short 0xb672\n two: svc 2\n bx lr\n"
    )
    report = scan_file(strip(elf))
    assert certain_calls(report) == {"svc #1", "svc #2"}
    assert [f.certainty for f in report.findings if f.rule == "cps"] == ["possible", "possible"]


@pytest.mark.parametrize("last", [255, 256, 299])
def test_a_switch_of_many_cases(build: Build, strip: Strip, last: int) -> None:
    """Bounds beyond a byte are modified immediates, or come from a register."""
    compare = f"cmp r0, #{last}\n" if last < 257 else f"movw r3, #{last}\n cmp r0, r3\n"
    elf = build(
        f".thumb_func\n_start: {compare} bhi.w out\n tbh [pc, r0, lsl #1]\n"
        f"near: .rept {last}\n.short (one - near) / 2\n.endr\n.short (two - near) / 2\n"
        "out: bx lr\none: svc 1\n bx lr\ntwo: svc 2\n bx lr\n.short 0xdf03, 0x4770\n"
    )
    assert certain_calls(scan_file(strip(elf))) == {"svc #1", "svc #2"}


def test_without_a_bound_nothing_is_certain(build: Build, strip: Strip) -> None:
    elf = build(
        ".thumb_func\n_start: tbb [pc, r0]\nnear: .byte (one - near) / 2, 9\none: svc 1\n bx lr\n"
    )
    assert certain_calls(scan_file(strip(elf))) == set()


def test_veneers_and_function_pointers(build: Build, strip: Strip) -> None:
    elf = build(
        ".thumb_func\n_start: ldr r3, =one + 1\n blx r3\n ldr r2, =table\n ldr r2, [r2, #4]\n"
        " blx r2\n ldr.w pc, =three + 1\n.ltorg\n"
        "one: push {r4, lr}\n svc 1\n pop {r4, pc}\n two: push {r4, lr}\n svc 2\n pop {r4, pc}\n"
        "three: svc 3\n bx lr\n.short 0xdf04, 0x4770\n.align 2\ntable: .word one + 1, two + 1\n"
    )
    assert certain_calls(scan_file(strip(elf))) == {"svc #1", "svc #2", "svc #3"}


@pytest.mark.parametrize(
    "jump",
    [
        "movw ip, #:lower16:(one + 1)\n nop\n movt ip, #:upper16:(one + 1)\n bx ip\n",
        "movw r7, #:lower16:(one + 1)\n movt r7, #:upper16:(one + 1)\n blx r7\n b .\n",
        "adr r0, one\n nop\n mov pc, r0\n",
        "ldr r0, =one\n mov pc, r0\n.ltorg\n",
    ],
)
def test_jumps_to_a_known_place_are_followed(build: Build, strip: Strip, jump: str) -> None:
    """Linkers' veneers for code that may not be read, and what people write."""
    elf = build(f".thumb_func\n_start: {jump}.align 2\n.word 0xdf03df02\none: svc 1\n bx lr\n")
    assert certain_calls(scan_file(strip(elf))) == {"svc #1"}


def test_a_function_whose_address_two_moves_make_is_code(build: Build, strip: Strip) -> None:
    elf = build(
        ".thumb_func\n_start: movw r0, #:lower16:(one + 1)\n movt r0, #:upper16:(one + 1)\n"
        " movs r1, #1\n b keep\n.short 0xdf02\none: push {r4, lr}\n svc 1\n pop {r4, pc}\n"
        "keep: b .\n"
    )
    assert certain_calls(scan_file(strip(elf))) == {"svc #1"}
