"""The oracle finds what is planted, and notices what a report leaves out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.trees import __main__ as command
from tests.trees.balance import unaccounted
from tests.trees.oracle import read_tree

PLANTED = {
    "a.c": r"""
/* __disable_irq(); */ // __WFI();
const char *text = "__disable_irq()";
#if 0
void off(void) { __disable_irq(); }
#else
void on(void) { __disable\
_irq(); }
#endif
void asm_(void) { __asm volatile ("mov r0, r0\n"
    "cpsid i"); }
void halves(void) { __asm volatile ("csrr %0," "fflags"); __asm volatile ("csrr %0," "mstatus"); }
void armcc(void) { __asm { wfi } }
__asm void embedded(int x) {
    msr msp, r0
    bx lr
}
void flags(unsigned v) { __asm volatile ("msr apsr_nzcvq, %0" :: "r" (v)); }
void reg(void) { SCB->ICSR = 1; *(volatile int *)0xE000ED04 = 1; MY_REG = 2; }
#define MY_REG (*(volatile unsigned *)(MY_BASE + 4))
#define MY_BASE 0xE000E010UL
#define LOCK() __disable_irq()
#define HUSH __enable_irq
void __enable_irq(void);
void use(void) { LOCK(); HUSH(); nvic_enable_irq(3); mine(); noInterrupts(); }
void noInterrupts(void) { mine(); }
#define MATCH_AMOMAXU_W 0xe000202f
SVCALL(SD_APP_EVT_WAIT, int, sd_app_evt_wait(void));
""",
    "b.s": """
start:  cpsie i     @ wfi
#if 0
        wfe
#endif
        ldr r0, =0xE000ED08   /* msr psp, r0 */
        mrs r1, PSP
""",
    "copy/.fvm-port.json": "{}",
    "copy/c.c": "void f(void) { __disable_irq(); }",
}

EXPECTED = {
    ("a.c", 7, "call", "__disable_irq"), ("a.c", 11, "instruction", "cpsid i"),
    ("a.c", 12, "instruction", "csrr %0,mstatus"), ("a.c", 13, "instruction", "wfi"),
    ("a.c", 15, "instruction", "msr msp , r0"),
    ("a.c", 19, "register", "SCB"), ("a.c", 19, "address", "0xE000ED04"),
    ("a.c", 19, "register", "MY_REG"), ("a.c", 21, "address", "0xE000E010UL"),
    ("a.c", 22, "call", "__disable_irq"), ("a.c", 23, "call", "__enable_irq"),
    ("a.c", 25, "call", "nvic_enable_irq"), ("b.s", 2, "instruction", "cpsie i"),
    ("b.s", 6, "address", "0xE000ED08"), ("b.s", 7, "instruction", "mrs r1, PSP"),
}  # fmt: skip


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in PLANTED.items():
        path = tmp_path / "planted" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "planted"


def report(*places: tuple[str, int]) -> dict[str, Any]:
    return {
        "edited": {},
        "unread": [],
        "sites": [{"file": f, "line": n, "end_line": n} for f, n in places],
    }


def test_every_planted_place_is_found_and_nothing_else(tree: Path) -> None:
    found = {(p.file, p.line, p.kind, p.text) for p in read_tree(tree).places}
    assert found == EXPECTED


def test_a_place_that_a_report_leaves_out_is_a_miss(tree: Path) -> None:
    seen = read_tree(tree)
    everything = {(place.file, line) for place in seen.places for line in (place.line, place.last)}
    assert unaccounted(seen, report(*everything)) == []
    without = report(*(everything - {("a.c", 11)}))
    assert [(p.line, p.text) for p in unaccounted(seen, without)] == [(11, "cpsid i")]


def test_an_edited_stretch_accounts_for_its_lines(tree: Path) -> None:
    seen = read_tree(tree)
    edited = {**report(), "edited": {"a.c": [[1, 30]], "b.s": [[1, 6]]}}
    assert [(p.line, p.text) for p in unaccounted(seen, edited)] == [(7, "mrs r1, PSP")]


def test_a_macro_is_accounted_for_by_its_uses(tree: Path) -> None:
    """`LOCK()`, `HUSH` and `MY_BASE` have no site of their own: their uses do, or are misses."""
    seen = read_tree(tree)
    bodies = {("a.c", 21), ("a.c", 22), ("a.c", 23)}
    lines = {(p.file, n) for p in seen.places for n in (p.line, p.last)} - bodies
    assert unaccounted(seen, report(*lines)) == []
    used = [str(p) for p in unaccounted(seen, report(*(lines - {("a.c", 25)})))]
    assert "a.c:25: use LOCK" in used


def test_the_command_counts_and_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "main.c").write_text("int main(void) { __disable_irq(); return 0; }\n")
    assert command.main([str(tmp_path), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["trees"]
    assert row["misses"] == [] and row["trouble"] == "" and row["found"] == row["rewritten"] == 1
    assert row["MB"] > 10 and row["places"] == 1


def test_a_run_that_takes_too_long_is_no_success(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "main.c").write_text("int main(void) { __WFI(); }\n")
    assert command.main([str(tmp_path), "--seconds", "0"]) == 1
    assert "time-out" in capsys.readouterr().out
