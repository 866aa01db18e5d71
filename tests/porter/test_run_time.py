"""Set-up that code makes again once the machine is up is nobody's boot table."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.porter.helpers import escalations, port_files

HEADER = b"""\
typedef struct { volatile unsigned CR, PLLCFGR, CFGR, CIR, RST[4], APB1RSTR; } RCC_TypeDef;
#define RCC ((RCC_TypeDef *)0x40023800)
typedef struct { volatile unsigned MODER, OTYPER, OSPEEDR, PUPDR, IDR, ODR; } GPIO_TypeDef;
#define GPIOA ((GPIO_TypeDef *)0x40020000)
void wait(void);
int start(void);
"""
FORCE = b"#define FORCE() (RCC->APB1RSTR |= 1u << 14)\n"
HEADER += FORCE
RESET = b"static void reset(void) { RCC->APB1RSTR |= 1u << 14; RCC->APB1RSTR &= ~(1u << 14); }\n"
MODE = b"static void reset(void) { GPIOA->MODER |= 1u; }\n"
MACRO = b"static void reset(void) { FORCE(); }\n"
ERRORS = {
    "empty": b"int main(void) { if (!start()) { while (1) {} } reset(); for (;;) {} }\n",
    "no block": b"int main(void) { if (!start()) for (;;); reset(); for (;;) {} }\n",
    "do": b"int main(void) { if (!start()) { do { wait(); } while (1); } reset(); for (;;) {} }\n",
    "left inside": b"int main(void) { if (!start()) { for (;;) { do { break; } while (0);\n"
    b"switch (start()) { case 1: break; } wait(); } } reset(); for (;;) {} }\n",
}
ONCE = b"int main(void) { reset(); for (;;) { wait(); } }\n"
AGAIN = {
    "handler": b"void EXTI0_IRQHandler(void) { reset(); }\n" + ONCE,
    "task": b"void create(void (*)(void));\nstatic void task(void) { reset(); }\n"
    b"int main(void) { create(task); return 0; }\n",
    "loop": b"int main(void) { reset(); while (1) { reset(); } }\n",
    "deeper": b"static void use(void) { reset(); }\n"
    b"static void run(void) { do { use(); } while (1); }\n"
    b"int main(void) { run(); return 0; }\n",
    "condition": b"extern int on;\nint main(void) { while (on) { reset(); } return 0; }\n",
    "left": b"int main(void) { while (1) { if (start()) { break; } wait(); } reset(); }\n",
    "left by a macro": b"#define STOP() if (start()) break\n"
    b"int main(void) { for (;;) { STOP(); wait(); } reset(); }\n",
    "left by goto": b"int main(void) { for (;;) { for (;;) { if (start()) goto out; } }\n"
    b"out: reset(); return 0; }\n",
    "label": b"int main(void) { again: reset(); goto again; }\n",
}


@pytest.mark.parametrize("what", [RESET, MODE, MACRO], ids=["reset", "mode", "macro"])
@pytest.mark.parametrize("by", AGAIN)
def test_what_runs_again_needs_a_person(tmp_path: Path, what: bytes, by: str) -> None:
    files = {"chip.h": HEADER, "main.c": b'#include "chip.h"\n' + what + AGAIN[by]}
    result = port_files(tmp_path, files)
    found = escalations(result)
    assert found and all("at run time, which no boot table does" in reason for reason in found)
    kept = b"".join(port.ported for port in result.files)
    assert (b"APB1RSTR |=" in kept) if what != MODE else (b"MODER |=" in kept)


@pytest.mark.parametrize("what", [RESET, MODE, MACRO], ids=["reset", "mode", "macro"])
def test_what_runs_before_the_loop_is_set_up(tmp_path: Path, what: bytes) -> None:
    files = {"chip.h": HEADER, "main.c": b'#include "chip.h"\n' + what + ONCE}
    result = port_files(tmp_path, files)
    assert escalations(result) == []
    text = b"".join(port.ported for port in result.files)
    assert b"|=" not in (text if what == MACRO else text.replace(FORCE, b""))  # unused, it stays


@pytest.mark.parametrize("error", ERRORS)
def test_a_loop_that_only_an_error_enters_is_not_mains(tmp_path: Path, error: str) -> None:
    files = {"chip.h": HEADER, "main.c": b'#include "chip.h"\n' + RESET + ERRORS[error]}
    assert escalations(port_files(tmp_path, files)) == []


def test_the_reason_names_who_calls(tmp_path: Path) -> None:
    files = {"chip.h": HEADER, "main.c": b'#include "chip.h"\n' + RESET + AGAIN["deeper"]}
    found = escalations(port_files(tmp_path, files))
    assert "(called from use: called from run: in or behind" not in found[0]
    assert "called from use: in or behind the loop of run, main.c:4" in found[0]


def test_the_same_clock_switched_on_again_is_no_question(tmp_path: Path) -> None:
    main = b"int main(void) { for (;;) { RCC->CR |= 1u; } }\n"
    assert escalations(port_files(tmp_path, {"main.c": HEADER + main})) == []


BUS = b"class Bus { public: void recover() { RCC->APB1RSTR |= 1u << 14; } };\n"
MEMBERS = {
    "object": BUS + b"int main() { Bus bus; for (;;) { bus.recover(); } }\n",
    "pointer": BUS
    + b"void run(Bus *bus) { for (;;) bus->recover(); }\nint main() { Bus b; run(&b); }\n",
    "static": b"struct Bus { static void recover() { RCC->APB1RSTR |= 1u << 14; } };\n"
    b"int main() { for (;;) Bus::recover(); }\n",
    "outside": b"class Bus { public: void recover(); };\n"
    b"void Bus::recover() { RCC->APB1RSTR |= 1u << 14; }\n"
    b"int main() { Bus bus; for (;;) bus.recover(); }\n",
    "namespace": b"namespace bus { void recover() { RCC->APB1RSTR |= 1u << 14; } }\n"
    b"int main() { for (;;) bus::recover(); }\n",
    "constructor": b"struct Bus { int x; Bus() : x(1) { RCC->APB1RSTR |= 1u << 14; } };\n"
    b"int main() { for (;;) { Bus bus; } }\n",
    "operator": b"struct Bus { void operator()() { RCC->APB1RSTR |= 1u << 14; } };\n"
    b"template <typename F> void each(F f);\nint main() { each(Bus()); for (;;) {} }\n",
    "member of an object": b"struct Bus { Bus() { RCC->APB1RSTR |= 1u << 14; } };\n"
    b"class Both { public: explicit Both(int n) : bus_(), n_(n) {} Bus bus_; int n_; };\n"
    b"int main() { for (;;) { Both both(3); } }\n",
    "base": b"struct Bus { Bus() { RCC->APB1RSTR |= 1u << 14; } };\nstruct Fast : public Bus {};\n"
    b"int main() { for (;;) { Fast fast; } }\n",
    "held": b"#include <optional>\nstruct Bus { Bus() { RCC->APB1RSTR |= 1u << 14; } };\n"
    b"std::optional<Bus> bus;\nvoid open() { bus.emplace(); }\n"
    b"int main() { for (;;) { open(); } }\n",
    "lambda": b"template <typename F> void each(F f);\n"
    b"int main() { each([] { RCC->APB1RSTR |= 1u << 14; }); for (;;) {} }\n",
}


@pytest.mark.parametrize("by", MEMBERS)
def test_members_of_classes_run_again_too(tmp_path: Path, by: str) -> None:
    files = {"chip.h": HEADER, "main.cpp": b'#include "chip.h"\n' + MEMBERS[by]}
    assert any(
        "at run time, which" in reason for reason in escalations(port_files(tmp_path, files))
    )


def test_a_member_that_runs_before_the_loop_is_the_boot_tables(tmp_path: Path) -> None:
    text = BUS + b"Bus first;\nint main() { Bus bus; bus.recover(); for (;;) {} }\n"
    files = {"chip.h": HEADER, "main.cpp": b'#include "chip.h"\n' + text}
    assert escalations(port_files(tmp_path, files)) == []


def test_who_only_points_at_an_object_makes_none(tmp_path: Path) -> None:
    text = b"struct Bus { Bus() { RCC->APB1RSTR |= 1u << 14; } int n; };\nBus first;\n"
    text += b"struct User { int of(Bus *bus) { return bus->n; } Bus &bus = first; };\n"
    text += b"User user;\nint main() { for (;;) { Bus *bus = &first; user.of(bus); } }\n"
    files = {"chip.h": HEADER, "main.cpp": b'#include "chip.h"\n' + text}
    assert escalations(port_files(tmp_path, files)) == []


MAKER = b"#define PIN(name) static void name##_on(void) { GPIOA->MODER |= 1u; }\nPIN(led)\n"


@pytest.mark.parametrize(
    "main",
    [
        b"int main(void) { for (;;) { led_on(); } }\n",
        b"static int other(int i) { return i; }\n"
        b"int main(void) { for (;;) { led_on(); other(1); } }\n",
        b"int main(void) { led_on(); for (;;) { GPIOA->MODER &= ~3u; } }\n",
    ],
)
def test_a_function_that_a_macro_makes_hides_no_other(tmp_path: Path, main: bytes) -> None:
    result = port_files(
        tmp_path, {"chip.h": HEADER, "main.c": b'#include "chip.h"\n' + MAKER + main}
    )
    assert any("at run time, which" in reason for reason in escalations(result))


@pytest.mark.parametrize(
    "access", ["REG(x) |= 1;", "*(volatile unsigned *)0x40023820 |= 1u << 21;"]
)
def test_a_reset_by_address_is_one_too(tmp_path: Path, access: str) -> None:
    text = "#define REG(o) (*(volatile unsigned *)(0x40023800u + (o)))\n"
    text += f"void f(unsigned x) {{ {access} }}\nint main(void) {{ for (;;) f(3); }}\n"
    (reason,) = escalations(port_files(tmp_path, {"main.c": text.encode()}))
    assert "at run time, which no boot table does" in reason


LINES = b"""\
#define EXTI_IMR (*(volatile unsigned *)0x40013C00)
#define EXTI_RTSR (*(volatile unsigned *)0x40013C08)
#define EXTI_PR (*(volatile unsigned *)0x40013C14)
unsigned hits;
%s
int main(void) { EXTI_IMR |= 1; EXTI_RTSR |= 1; for (;;) { } }
"""
HANDLER = b"void EXTI0_IRQHandler(void) { EXTI_PR = 1; hits++; }"


@pytest.mark.parametrize(("handler", "told"), [(HANDLER, 3), (b"void EXTI0_IRQHandler(void);", 0)])
def test_lines_that_a_handler_waits_for_are_no_set_up(
    tmp_path: Path, handler: bytes, told: int
) -> None:
    found = escalations(port_files(tmp_path, {"main.c": LINES % handler}))
    assert len([it for it in found if "external interrupt lines" in it]) == told


EVENTS = b"""\
#define EXTI_EMR (*(volatile unsigned *)0x40013C04)
struct pin { unsigned mode, line; };
extern unsigned wanted;
void init(const struct pin *pin)
{
    unsigned temp;

    temp = EXTI_EMR;
    temp &= ~pin->line;
    if (pin->mode & 0x20000) {
        temp |= %s;
    }
    EXTI_EMR = temp;
}
int main(void)
{
    struct pin pin;
    pin.mode = %s;
    pin.line = 1;
    init(&pin);
    for (;;) { __asm volatile ("wfe"); }
}
"""


@pytest.mark.parametrize(
    ("line", "mode", "told"),
    [(b"pin->line", b"0x10000", 0), (b"pin->line", b"0x20000", 2), (b"pin->line", b"wanted", 2)],
)
def test_a_line_that_is_only_cleared_sends_no_event(
    tmp_path: Path, line: bytes, mode: bytes, told: int
) -> None:
    build = b"all:\n\tarm-none-eabi-gcc -mcpu=cortex-m4 -c main.c\n"
    result = port_files(tmp_path, {"main.c": EVENTS % (line, mode), "Makefile": build})
    about = [it for it in escalations(result) if "EMR" in it and "this wait" not in it]
    assert len(about) == told
    assert (b"EXTI_EMR = temp" in result.files[0].ported) == bool(told)


def test_what_a_variable_gets_elsewhere_may_be_an_event(tmp_path: Path) -> None:
    given = EVENTS.replace(b"temp &= ~pin->line;", b"temp = pin->line;") % (b"0", b"0")
    kept = EVENTS.replace(b"temp &= ~pin->line;", b"change(&temp);") % (b"0", b"0")
    for number, text in enumerate((given, kept)):
        result = port_files(tmp_path / str(number), {"main.c": text})
        assert any("external interrupt lines" in it for it in escalations(result))


PULSE = "a pin's mode is changed twice with time in between"
OFF, LOW, INPUT = "GPIOA->MODER &= ~12u;", "GPIOA->MODER |= 4u;", "GPIOA->MODER |= 8u;"


@pytest.mark.parametrize("pause", ["wait();", "for (volatile int i = 0; i < 999; i++) { }"])
def test_a_pulse_needs_a_person(tmp_path: Path, pause: str) -> None:
    text = f"void f(void) {{ {OFF} {LOW} {pause} {OFF} {INPUT} }}\n"
    result = port_files(tmp_path, {"main.c": HEADER + text.encode()})
    assert [PULSE in it for it in escalations(result)] == [True] * 4


@pytest.mark.parametrize(
    "text",
    [
        f"{OFF} {LOW} {OFF} {INPUT} wait();",  # the last one alone is seen
        f"{LOW} wait(); GPIOA->MODER |= 1u << 4;",  # of another pin
        f"{LOW} RCC->CR |= 1u; while ((RCC->CR & 2u) == 0) {{ }} {OFF}",  # ready by then
    ],
)
def test_what_is_no_pulse_goes(tmp_path: Path, text: str) -> None:
    result = port_files(tmp_path, {"main.c": HEADER + f"void f(void) {{ {text} }}\n".encode()})
    assert escalations(result) == []
    assert b"MODER" not in result.files[0].ported.split(b"void f")[1]


def test_what_nothing_here_leads_to_keeps_its_modes(tmp_path: Path) -> None:
    """What is missing from the tree may call it whenever it likes."""
    text = HEADER + b"static inline void turn(void) { GPIOA->MODER |= 4u; }\nvoid work(void);\n"
    files = {"pins.h": text, "main.c": b'#include "pins.h"\nint main(void) { for (;;) work(); }\n'}
    result = port_files(tmp_path, files)
    assert all(b"MODER |= 4u" in port.ported for port in result.files if port.edits)
    reasons = [it.reason for port in result.files for it in port.verdicts]
    assert any(it == "nothing uses it: the linker drops it" for it in reasons)


@pytest.mark.parametrize(("name", "asked"), [("RCC_APB2ENR", 0), ("RCC_APB2RSTR", 1)])
def test_a_registers_own_name_says_whether_it_resets(tmp_path: Path, name: str, asked: int) -> None:
    """Where nobody knows which register of the family's stands there."""
    text = (
        f"#define RCC_BASE 0x40021000u\n#define {name} (*(volatile unsigned *)(RCC_BASE + 0x18u))\n"
    )
    text += f"void wait(void);\nint main(void) {{ for (;;) {{ {name} |= 1u << 9; wait(); }} }}\n"
    assert len(escalations(port_files(tmp_path, {"main.c": text.encode()}, None))) == asked


def test_each_run_gives_the_same_reason(tmp_path: Path) -> None:
    """Of several that lead there, one is named: not another one each time."""
    callers = "".join(f"void way{n}(void) {{ pull(); }}\n" for n in range(12))
    calls = " ".join(f"way{n}();" for n in range(12))
    (tmp_path / "main.c").write_text(
        "#define CRL (*(volatile unsigned *)0x40010800)\n#define GPIOA_BASE 0x40010800\n"
        f"void pull(void) {{ CRL = 4; }}\n{callers}"
        f"void shell(void) {{ {calls} }}\nint main(void) {{ for (;;) {{ shell(); }} }}\n"
    )
    told = {
        subprocess.run(
            [sys.executable, "-m", "composer.cli", "port", str(tmp_path), "-v"],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=False,
        ).stderr
        for seed in range(4)
    }
    assert len(told) == 1
    assert "called from way" in told.pop()
