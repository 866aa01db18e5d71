"""The rate of a tick: what the timer counts, how far, and for whose clock that was written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from porter.port import port_project
from porter.project.domain import Domain
from tests.porter.helpers import DOMAIN, escalations, port_files

HEADER = b"""\
typedef struct { volatile unsigned CTRL, LOAD, VAL; } SysTick_Type;
#define SysTick ((SysTick_Type *)0xE000E010)
extern unsigned SystemCoreClock;
"""
OTHER_VENDOR = b"#define __NVIC_PRIO_BITS 3\n"


def ported(folder: Path, text: bytes, domain: Domain | None = DOMAIN) -> tuple[bytes, list[str]]:
    result = port_files(folder, {"main.c": HEADER + text}, domain)
    return result.files[0].ported, escalations(result)


def rate(folder: Path, body: bytes, domain: Domain | None = DOMAIN) -> bytes:
    text, problems = ported(folder, b"void f(void) { %s }\n" % body, domain)
    assert problems == []
    return text.split(b"hyp_tick_set(")[1].split(b");")[0]


def problem(folder: Path, body: bytes, domain: Domain | None = DOMAIN) -> str:
    text, problems = ported(folder, b"void f(void) { %s }\n" % body, domain)
    assert problems and b"hyp_tick_set" not in text
    return problems[0]


def test_without_clksource_the_timer_counts_an_eighth(tmp_path: Path) -> None:
    slow = b"SysTick->LOAD = 21000 - 1; SysTick->CTRL = 3;"
    assert rate(tmp_path / "number", slow) == b"1000"
    of_clock = b"SysTick->LOAD = SystemCoreClock / 8 / 1000 - 1; SysTick->CTRL = 3;"
    assert rate(tmp_path / "clock", of_clock) == b"1000"
    domain = replace(DOMAIN, tick_hz=125)
    forgot = b"SysTick->LOAD = SystemCoreClock / 1000 - 1; SysTick->CTRL = 3;"
    assert rate(tmp_path / "forgot", forgot, domain) == b"125"
    cleared = b"SysTick_Config(SystemCoreClock / 1000); SysTick->CTRL &= ~4u;"
    assert rate(tmp_path / "cleared", cleared, domain) == b"125"
    from_reset = b"SysTick->LOAD = 168000 - 1; SysTick->CTRL |= 3;"
    assert rate(tmp_path / "reset", from_reset, domain) == b"125"


def test_a_load_in_two_steps_is_one(tmp_path: Path) -> None:
    steps = b"SysTick->LOAD &= ~0x00FFFFFF; SysTick->LOAD |= 168000 - 1; SysTick->CTRL = 7;"
    assert rate(tmp_path / "two", steps) == b"1000"
    kept = steps.replace(b"~0x00FFFFFF", b"0x00FFFFFF")
    assert "more than once" in problem(tmp_path / "kept", kept)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"#include <chip.h>\nvoid go(void) { SysTick->CTRL |= STK_ON; }\n"
         b"void stop(void) { SysTick->CTRL &= ~STK_ON; }\n", "what is written to CTRL isn't known"),
        (b"void set_up(void) { SysTick->LOAD = 72000 - 1; SysTick->CTRL |= 2; SysTick->CTRL |= 4; }"
         b"\nvoid go(void) { SysTick->CTRL |= 1; }\n", "TICKINT is set up, and ENABLE elsewhere"),
    ],
)  # fmt: skip
def test_what_starts_the_timer_is_known(text: bytes, told: str, tmp_path: Path) -> None:
    result, problems = ported(tmp_path, text, None)
    assert result == HEADER + text
    assert any(told in it for it in problems), problems


def test_another_vendors_reference_clock_is_asked_for(tmp_path: Path) -> None:
    body = b"SysTick->LOAD = 21000 - 1; SysTick->CTRL = 3;"
    text = OTHER_VENDOR + b"void f(void) { %s }\n" % body
    for number, domain in enumerate((DOMAIN, None)):
        _, problems = ported(tmp_path / str(number), text, domain)
        assert "the chip's reference clock, which isn't known here" in problems[0]
    core = (
        OTHER_VENDOR
        + b"void f(void) { SysTick->LOAD = SystemCoreClock / 50 - 1; SysTick->CTRL = 7; }"
    )
    result, problems = ported(tmp_path / "core", core, None)
    assert problems == [] and b"hyp_tick_set(50);" in result


def test_a_clock_source_that_is_set_elsewhere_is_no_guess(tmp_path: Path) -> None:
    start = b"void f(void) { SysTick->LOAD = 168000 - 1; SysTick->CTRL |= 3; }\n"
    _, problems = ported(tmp_path, start + b"void g(void) { SysTick->CTRL |= 4; }\n")
    assert "CTRL keeps its CLKSOURCE" in problems[0]


def test_a_changed_clock_source_is_told_with_its_caller(tmp_path: Path) -> None:
    choose = (
        b"static void choose(unsigned s) { if (s == 4) SysTick->CTRL |= 4; "
        b"else SysTick->CTRL &= ~4u; }\n"
        b"void f(void) { SysTick_Config(SystemCoreClock / 1000); choose(%d); }\n"
    )
    _, problems = ported(tmp_path / "slow", choose % 0)
    assert len(problems) == 2 and "CLKSOURCE is cleared" in problems[0]
    assert "called in main.c:5" in problems[0]
    declared = b'#ifdef __cplusplus\nextern "C" {\n#endif\nstatic void choose(unsigned s);\n'
    declared += b"#ifdef __cplusplus\n}\n#endif\n"  # no call, though it stands in braces
    text, problems = ported(tmp_path / "core", declared + choose % 4)
    assert problems == [] and b"hyp_tick_set(1000)" in text


def test_a_period_is_one_longer_than_the_reload_value(tmp_path: Path) -> None:
    body = b"void f(int n) { SysTick->LOAD = %s; SysTick->CTRL = 7; }\n"
    port_files(tmp_path / "exact", {"main.c": HEADER + body % b"167999"})
    result = port_project(tmp_path / "exact", None, core_clock=168_000_000)
    assert escalations(result) == []
    assert b"hyp_tick_set(1000);" in result.files[0].ported
    wrong = replace(DOMAIN, clock_hz=999_000)
    _, problems = ported(tmp_path / "wrong", body % b"999", wrong)
    assert "1000 cycles were counted for the old chip's clock" in problems[0]


def test_cycles_of_the_old_chip_are_not_taken_for_this_ones(tmp_path: Path) -> None:
    free = replace(DOMAIN, tick_hz=None, kernel_tick_hz=2000)
    asked = "were counted for the old chip's clock, which nothing here says"
    assert asked in problem(tmp_path / "free", b"SysTick_Config(84000);", free)
    assert asked in problem(tmp_path / "none", b"SysTick_Config(72000);", None)
    assert rate(tmp_path / "agrees", b"SysTick_Config(168000);") == b"1000"


def test_the_old_clock_comes_from_the_option_or_the_project(tmp_path: Path) -> None:
    call = HEADER + b"int main(void) { SysTick_Config(72000); for (;;) { } }\n"
    port_files(tmp_path, {"main.c": call})
    result = port_project(tmp_path, DOMAIN, core_clock=72_000_000)
    assert escalations(result) == [] and b"hyp_tick_set(1000);" in result.files[0].ported
    system = {"system.c": b"unsigned SystemCoreClock = 72000000;\n"}
    result = port_files(tmp_path / "says", {"main.c": call, **system})
    assert escalations(result) == []
    update = b"void update(void) { SystemCoreClock = 48000000; }\n"
    changing = {
        "system.c": system["system.c"] + update,
        "main.c": call + b"void (*u)(void) = update;",
    }
    assert escalations(port_files(tmp_path / "changes", changing))


@pytest.mark.parametrize(
    ("more", "is_known"),
    [
        (b"", True),
        (b"void other(void) { set(72000000u); }\nvoid (*o)(void) = other;\n", True),
        (b"void other(void) { set(36000000u); }\nvoid (*o)(void) = other;\n", False),
        (b"void other(unsigned n) { set(n); }\nvoid (*o)(unsigned) = other;\n", False),
        (b"void (*o)(unsigned) = set;\n", False),
        (b"void other(void) { SystemCoreClock *= 2; }\nvoid (*o)(void) = other;\n", False),
    ],
)
def test_the_old_clock_is_what_all_that_set_it_say(
    tmp_path: Path, more: bytes, is_known: bool
) -> None:
    """As LL_SetSystemCoreClock() of ST's libraries is used; 16 MHz are the oscillator's."""
    text = (
        b"unsigned SystemCoreClock = 16000000;\nvoid set(unsigned hz) { SystemCoreClock = hz; }\n"
    )
    text += b"int main(void) { set(72000000); SysTick_Config(72000000 / 1000); for (;;) { } }\n"
    result = port_files(tmp_path, {"main.c": HEADER + text + more})
    assert (escalations(result) == []) == is_known
    assert not is_known or b"hyp_tick_set(1000);" in result.files[0].ported


@pytest.mark.parametrize(
    ("argument", "fine"), [(b"SystemCoreClock / 1000", True), (b"1000", False)]
)
def test_a_wrappers_calls_are_looked_at(tmp_path: Path, argument: bytes, fine: bool) -> None:
    text = (
        b"unsigned config(unsigned cycles) { return SysTick_Config(cycles); }\n"
        b"void f(void) { config(%s); }\n" % argument
    )
    _, problems = ported(tmp_path, text)
    assert (problems == []) == fine
    assert fine or "config(1000) in main.c:5: 1000 cycles were counted" in problems[0]


def test_two_rates_are_told_at_both_places(tmp_path: Path) -> None:
    start = b"void %s(void) { SysTick_Config(SystemCoreClock / %d); }\n"
    for other, count in ((100, 2), (1000, 0)):
        files = {"a.c": HEADER + start % (b"a", 1000), "b.c": HEADER + start % (b"b", other)}
        problems = escalations(port_files(tmp_path / str(other), files, None))
        assert len(problems) == count
        if count:
            assert "at 1000 Hz, and b.c:4 at 100 Hz" in problems[0]
            assert "at 100 Hz, and a.c:4 at 1000 Hz" in problems[1]


def test_a_clock_that_every_call_hands_over(tmp_path: Path) -> None:
    set_up = b"SysTick->LOAD = hz / 1000 - 1; SysTick->VAL = 0; SysTick->CTRL = 7;"
    text = b"static void start(unsigned hz) { %s }\nint main(void) { start(CLOCK); %s }\n"
    own = b"#define CLOCK 168000000u\n"
    ported_text, problems = ported(tmp_path / "own", own + text % (set_up, b""))
    assert problems == [] and b"hyp_tick_set(1000);" in ported_text
    other = b"#define CLOCK 64000000u\n"
    _, problems = ported(tmp_path / "other", other + text % (set_up, b""))
    assert "the code divides 64000000 Hz to get 1000 Hz" in problems[0]
    for number, again in enumerate((b"start(8000000);", b"void (*p)(unsigned) = start; p(1);")):
        _, problems = ported(tmp_path / str(number), own + text % (set_up, again))
        assert "only known while running" in problems[0]
    _, problems = ported(tmp_path / "w", own + text % (b"hz *= 2;" + set_up, b""))
    assert "only known while running" in problems[0]
    macro = own + b"#define START(x) start(x)\n" + text % (set_up, b"START(8000000);")
    _, problems = ported(tmp_path / "macro", macro)
    assert "only known while running" in problems[0]


LAYERS = b"""
#define HZ 1000u
#define TWICE(x) ((x) = (x) * 2)
static void start(unsigned counts) { SysTick->LOAD = counts - 1; SysTick->CTRL = 7; }
void start_at(unsigned clock) {
    unsigned counts;
    %s
    start(counts);
}
int main(void) { start_at(168000000u); for (;;) { } }
"""


def test_a_count_may_come_from_callers_callers(tmp_path: Path) -> None:
    """As an RTOS has it: the application knows the clock, the RTOS the rate."""
    text, problems = ported(tmp_path, LAYERS % b"counts = clock / HZ;")
    assert problems == [] and b"hyp_tick_set(1000);" in text


@pytest.mark.parametrize(
    "code",
    [
        b"counts = clock / HZ; counts = 5;",
        b"counts = clock / HZ; counts /= 2;",
        b"counts = clock / HZ; counts++;",
        b"counts = clock / HZ; { unsigned *p = &counts; *p = 7; }",
        b"counts = clock / HZ; TWICE(counts);",
        b"if (clock > 9) counts = clock / HZ;",
        b"{ unsigned counts = clock / HZ; }",
        b"clock /= 2; counts = clock / HZ;",
        b'counts = clock / HZ; __asm volatile("lsl %0, %0, #1" : "+r"(counts));',
        b"counts = clock / rate;",
    ],
)
def test_a_count_that_may_be_another_is_only_known_while_running(
    code: bytes, tmp_path: Path
) -> None:
    text, problems = ported(tmp_path, LAYERS % code)
    assert b"hyp_tick_set(1000)" not in text and problems


def test_a_narrow_count_is_what_fits_into_it(tmp_path: Path) -> None:
    narrow = LAYERS.replace(b"unsigned counts;", b"unsigned char counts;")
    text, _ = ported(tmp_path, narrow % b"counts = clock / HZ;")
    assert b"hyp_tick_set(1000)" not in text


@pytest.mark.parametrize(
    ("table", "is_known"),
    [
        (b"unsigned const rate = 1000;\n", True),
        (b"#if 1\nunsigned const rate = 1000;\n#else\nunsigned const rate = 0;\n#endif\n", True),
        (b"#if M\nunsigned const rate = 1000;\n#else\nunsigned const rate = 10;\n#endif\n", False),
        (b"unsigned rate = 1000;\n", True),
        (b"unsigned rate = 1000; void slow(void) { rate = 10; }\n", False),
        (b"static unsigned const rate = 1000;\n", False),
        (b"unsigned const volatile rate = 1000;\n", False),
        (b"unsigned const rate __attribute__((weak)) = 1000;\n", False),
        (b"", False),
    ],
)
def test_a_constant_of_another_file_may_be_the_rate(
    table: bytes, is_known: bool, tmp_path: Path
) -> None:
    text = HEADER + b"extern unsigned const rate;\n" + LAYERS % b"counts = clock / rate;"
    result = port_files(tmp_path, {"main.c": text, "table.c": table})
    assert (escalations(result) == []) == is_known, escalations(result)


def test_callers_that_give_different_counts_are_asked_about(tmp_path: Path) -> None:
    both = LAYERS.replace(b"start_at(168000000u);", b"start_at(168000000u); start_at(8000000u);")
    text, problems = ported(tmp_path, both % b"counts = clock / HZ;")
    assert b"hyp_tick_set(1000)" not in text and problems


KEPT = b"""
unsigned long long per_second = 1000; unsigned per_tick;
void slower(unsigned *p) { *p = 10; }
static void config(unsigned cycles) { (void)SysTick_Config(cycles); }
static void start(unsigned cycles) { config(cycles); }
void init(void) { per_tick = 168000000u / per_second; start(per_tick); }
int main(void) { init(); for (;;) { } }
"""


def test_a_count_may_be_kept_in_a_variable_that_nothing_else_writes(tmp_path: Path) -> None:
    """As an RTOS has it that keeps its tick's cycles for others to read."""
    text, problems = ported(tmp_path, KEPT + b"unsigned told(void) { return per_tick + 1; }\n")
    assert problems == [] and b"(void)hyp_tick_set(1000);" in text


@pytest.mark.parametrize(
    "more",
    [
        b"void again(void) { per_tick = 7; }",
        b"void again(void) { per_second += 7; }",
        b"void again(void) { per_second++; }",
        b"void again(void) { slower(&per_tick); }",
        b"unsigned *where = &per_tick;",
        b"#define AGAIN (per_tick = 7)\nvoid again(void) { AGAIN; }",
        b"#define AGAIN(x) ((x) = 7)\nvoid again(void) { AGAIN(per_tick); }",
        b'void again(void) { __asm volatile("mov %0, r0" : "=r"(per_second)); }',
        b'__asm(".global again\\n.set again, per_second");',
        b'extern unsigned long long again __attribute__((alias("per_second")));',
    ],
)
def test_a_count_that_something_else_may_write_is_only_known_while_running(
    more: bytes, tmp_path: Path
) -> None:
    text, problems = ported(tmp_path, KEPT + more + b"\n")
    assert b"hyp_tick_set" not in text and "only known while running" in problems[0]


@pytest.mark.parametrize(
    ("code", "instead"),
    [
        (b"per_tick = 168000000u / per_second; start", b"if (per_second) per_tick = 168000; start"),
        (b"per_tick = 168000000u / per_second; start(per_tick);", b"start(per_tick);"),
        (b"init(); for", b"init(); start(9); for"),
        (b"per_tick;\n", b'per_tick __attribute__((section(".noinit")));\n'),
        (b"unsigned per_tick;", b"volatile unsigned per_tick;"),
        (b"int main(void)", b"int begin(void)"),
        (b"{ per_tick = 1", b"{ if (per_second) goto on; per_tick = 1"),
    ],
)
def test_a_variable_is_known_where_all_that_writes_it_is(
    code: bytes, instead: bytes, tmp_path: Path
) -> None:
    kept = (
        KEPT.replace(b"start(per_tick);", b"on: start(per_tick);") if b"goto" in instead else KEPT
    )
    assert code in kept
    text, problems = ported(tmp_path, kept.replace(code, instead))
    assert b"hyp_tick_set(1000)" not in text and problems


def test_another_file_may_write_a_variable(tmp_path: Path) -> None:
    for number, (name, text) in enumerate(
        (
            ("a.c", b"extern unsigned per_tick; void a(void) { per_tick = 1; }\n"),
            ("a.S", b"ldr r0, =per_tick\nstr r1, [r0]\n"),
            ("a.cpp", b"extern unsigned per_tick; unsigned &other = per_tick;\n"),
            ("a.ld", b"SECTIONS { } other = per_tick;\n"),
        )
    ):
        result = port_files(tmp_path / str(number), {"main.c": HEADER + KEPT, name: text})
        assert any("only known while running" in it for it in escalations(result)), name
