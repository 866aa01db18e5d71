"""Running C text on partly known values: what ends in which register, and which line chose it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from porter.execution.machine import Machine
from porter.execution.mentions import Reach
from porter.execution.program import Program
from porter.execution.words import MASK, Word, as_word, both, either, equal, inverted, shifted
from porter.program.preprocess import preprocessed
from porter.project.compile_options import CompileOptions

MODE, ENABLE, READY, DEVICE = 0x4002_0000, 0x4002_3840, 0x4002_3800, 0x4000_4400
HEADER = """\
typedef unsigned int uint32_t; typedef unsigned char uint8_t;
typedef struct { volatile uint32_t MODER, OTYPER, AFR[2]; } GPIO;
#define A ((GPIO *) 0x40020000U)
#define EN (*(volatile uint32_t *) 0x40023840U)
#define CR (*(volatile uint32_t *) 0x40023800U)
#define SR (*(volatile uint32_t *) 0x40004400U)
#define OTHER ((GPIO *) 0x40020400U)
"""
OPTIONS = CompileOptions((), (), ("-mcpu=cortex-m4", "-mthumb"), "arm-none-eabi-gcc")


def program(folder: Path, body: str) -> Program:
    """A program of one file."""
    file = folder / "main.c"
    file.write_text(HEADER + body)
    texts, _ = preprocessed({file: OPTIONS})
    return Program(texts)


def run(folder: Path, body: str, steps: int = 100_000) -> Machine:
    """Run main()."""
    found = program(folder, body)
    machine = Machine(found, {MODE: 0xA8000000, ENABLE: 0, READY: 0}, {READY: {1: 0}})
    machine.run(found.functions["main"], steps)
    return machine


def left(machine: Machine, address: int) -> int | None:
    """What a register holds, if all of it is known."""
    word = as_word(machine.state.registers.cells[address])
    return word.value if word is not None and word.known == MASK else None


@pytest.mark.parametrize(
    ("body", "mode"),
    [
        # a helper that is told port and pin
        ("void f(GPIO *p, uint32_t n) {"
         " p->MODER = (p->MODER & ~(3UL << (n * 2))) | 2UL << (n * 2); }"
         "int main(void) { f(A, 3); }", 0xA8000080),
        # a table of pins in a loop, by struct copy
        ("struct pin { uint8_t n, mode; };"
         "static const struct pin pins[] = {{2, 1}, {.mode = 3, 4}};"
         "int main(void) { for (unsigned i = 0; i < sizeof pins / sizeof pins[0]; i++) {"
         " struct pin p = pins[i]; A->MODER |= (uint32_t)p.mode << (p.n * 2); } }", 0xA8000013),
        # a function pointer, and a switch that falls through
        ("static void set(int k) { switch (k) { case 1: A->MODER |= 1; case 2: A->MODER |= 4;"
         " break; default: A->MODER = 0; } } static void (*const run)(int) = set;"
         "int main(void) { run(1); }", 0xA8000005),
        # a wait for a ready bit that follows its enable, else an error that never returns
        ("static void error(void) { for (;;) { } }"
         "int main(void) { CR |= 1; if (!(CR & 2)) { error(); } A->MODER |= 1; }", 0xA8000001),
        # a status register that isn't known: the way that goes on counts, with what both did
        ("int main(void) { int n = 100; while (!(SR & 1)) { if (n-- == 0) { return 1; } }"
         " A->MODER |= 1; return 0; }", 0xA8000001),
        ("static int up(void) { if (SR & 1) { return 3; } A->MODER |= 1; return 0; }"
         "static void error(void) { for (;;) { } }"
         "int main(void) { if (up() != 0) { error(); } A->MODER |= 4; }", 0xA8000005),
        # what only one of two ways sets up; a volatile local, which nobody else changes
        ("int main(void) { volatile int ok = 0; if (SR & 1) { A->MODER |= 1; } ok = 1;"
         " if (ok == 1) { A->MODER |= 4; } else { A->MODER = 0; } }", 0xA8000005),
        # goto the end, a do-while(0) macro, conditional and comma expressions
        ("#define SET(r, b) do { (r) |= (b); } while (0)\n"
         "int main(void) { int x = 1; SET(A->MODER, x ? 1 : 2); if (x) { goto out; }"
         " A->MODER = 0; out: return 0; }", 0xA8000001),
        # enumerators, unions, bit-band alias
        ("enum { P = 4, Q }; int main(void) { A->MODER |= Q;"
         " *(volatile uint32_t *)(0x42000000U + 0x20000U * 32U + 4U * 3U) = 1; }", 0xA800000D),
    ],
)  # fmt: skip
def test_what_is_left_in_a_register(tmp_path: Path, body: str, mode: int) -> None:
    assert left(run(tmp_path, body), MODE) == mode


def test_bits_that_two_ways_leave_differently_arent_known(tmp_path: Path) -> None:
    machine = run(tmp_path, "int main(void) { A->MODER = SR & 1 ? 5 : 4; }")
    assert machine.state.registers.cells[MODE] == Word(4, MASK & ~1)


def test_a_write_touches_only_what_it_changes(tmp_path: Path) -> None:
    machine = run(tmp_path, "int main(void) { A->MODER &= ~0x30U; A->MODER |= 0x10U; EN = 5; }")
    assert [write.touched for write in machine.record.to(MODE)] == [0x30, 0x10]
    assert [write.touched for write in machine.record.to(ENABLE)] == [MASK]


def test_the_line_of_a_write_is_that_which_chose_it(tmp_path: Path) -> None:
    body = """\
static void inner(GPIO *p, uint32_t v) {
    p->MODER = v; }
static void outer(GPIO *p) {
    inner(p, 7); }
static void init(void) {
    outer(A);
    EN |= 1; }
int main(void) {
    init(); }
"""
    writes = run(tmp_path, body).record.writes
    first = HEADER.count("\n")
    assert [(w.where.line - first, w.function) for w in writes] == [(6, "init"), (7, "init")]


def test_after_the_boot_every_variable_may_have_changed(tmp_path: Path) -> None:
    body = "static int state; int main(void) { for (;;) { if (state == 3) { EN = 8; } } }"
    assert [write.value for write in run(tmp_path, body).record.to(ENABLE)] == [8]


def test_a_name_that_is_only_compared_is_no_use(tmp_path: Path) -> None:
    found = program(
        tmp_path, "int f(GPIO *p) { return p == OTHER; } int main(void) { return f(A); }"
    )
    assert set(Reach(found, ("main",), (MODE,)).addresses) == {MODE}


@pytest.mark.parametrize(
    "body",
    [
        "int f(int n) { return f(n + 1) + f(n + 2); } int main(void) { return f(0); }",
        "int main(void) { for (uint32_t i = 0; i < 0xFFFFFFFF; i++) { EN = i; } }",
        "int main(void) { uint32_t x = 3; for (;;) { x *= x; EN = x << x; if (SR) break; } }",
        f"int main(void) {{ EN = {'(' * 3000}1{')' * 3000}; }}",
        f"int main(void) {{ EN = {'~' * 3000}1; }}",
        f"int main(void) {{ {'if (SR) {' * 300} EN = 1; {'}' * 300} }}",
        "int a[0x7FFFFFFF] = {[0x7FFFFFFE] = 1}; int main(void) { EN = a[-1] + 1 / (SR & 0); }",
        "int main(void) { struct { int a } b = {{{{{{1}}}}}}; *(&b.a) = ; EN = ((",
        'extern "C" { ' * 500 + "int main(void) { }",
    ],
)
def test_odd_text_neither_hangs_nor_fails(tmp_path: Path, body: str) -> None:
    file = tmp_path / "main.c"
    found = Program({file: (HEADER + body).encode()})
    machine = Machine(found, {ENABLE: 0}, {})
    for function in found.functions.values():
        machine.run(function, 5_000)
    Reach(found, ("main",), (MODE,))


def test_operations_agree_with_arithmetic_on_every_bit_that_they_know() -> None:
    chance = random.Random(1)
    for _ in range(3000):
        a, b = (chance.getrandbits(32) for _ in range(2))
        one, other = (Word(v & (k := chance.getrandbits(32)), k) for v in (a, b))
        count = chance.randrange(32)
        for found, real in (
            (both(one, other), a & b),
            (either(one, other), a | b),
            (inverted(one), ~a & MASK),
            (shifted(one, count, True), a << count & MASK),
            (shifted(one, count, False), a >> count),
        ):
            word = as_word(found) or Word(0, 0)
            assert (word.value ^ real) & word.known == 0
        assert equal(one, other) in (None, a == b)
