"""Vendor driver layers: clocks asked for by registers, macros over handles, settings in structs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from porter.judging.verdict import Status
from porter.ledger.recorded import record_of
from porter.project.domain import BootRegister
from porter.result import PortResult
from tests.porter.helpers import DOMAIN, escalations, port_files

CR, PLLCFGR, CFGR = 0x40023800, 0x40023804, 0x40023808
ALL = 0xFFFFFFFF
CLOCKED = replace(
    DOMAIN,
    registers=(
        BootRegister("FVM_RCC_CR", CR, 0x03030083, 0xFFFF00FF),
        BootRegister("FVM_RCC_PLLCFGR", PLLCFGR, 0x07405408, ALL),
        BootRegister("FVM_RCC_CFGR", CFGR, 0x0000940A, ALL),
    ),
)
CHIP = b"""\
typedef struct { volatile unsigned CR, PLLCFGR, CFGR, CIR, CSR; } RCC_TypeDef;
#define RCC ((RCC_TypeDef *)0x40023800)
typedef struct { volatile unsigned KR, PR, RLR, SR; } IWDG_TypeDef;
#define IWDG ((IWDG_TypeDef *)0x40003000)
#define WRITE_REG(r, v) ((r) = (v))
"""
GET_FLAG = b"""\
#define GET_FLAG(f) (((((f) >> 5) == 1 ? RCC->CR : RCC->CSR) & \\
                      (1u << ((f) & 0x1F))) != 0)
#define PLLRDY 0x39
#define LSIRDY 0x61
"""
MAKEFILE = b"all:\n\tarm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -c main.c\n"


def port(folder: Path, text: bytes, header: bytes = CHIP) -> PortResult:
    """A project that its makefile compiles, so that the porter knows what the compiler skips."""
    files = {"Makefile": MAKEFILE, "chip.h": header, "main.c": b'#include "chip.h"\n' + text}
    return port_files(folder, files, CLOCKED)


def ported(result: PortResult, name: str) -> str:
    """A file of the project, ported."""
    (file,) = (port for port in result.files if port.file.name == name)
    return file.ported.decode()


def reasons(result: PortResult, status: Status) -> list[str]:
    """Why sites got this verdict."""
    return [v.reason for port in result.files for v in port.verdicts if v.status is status]


# --- registers that the boot table determines --------------------------------------------------


@pytest.mark.parametrize(
    ("read", "becomes"),
    [
        ("RCC->CFGR & 0xC", "FVM_RCC_CFGR & 0xC"),
        ("RCC->PLLCFGR", "FVM_RCC_PLLCFGR"),
        ("(RCC->CR & (1u << 25)) >> 25", "(FVM_RCC_CR & (1u << 25)) >> 25"),
        ("*(volatile unsigned *)0x40023808 >> 4", "FVM_RCC_CFGR >> 4"),
    ],
)
def test_a_read_becomes_what_the_boot_table_leaves(tmp_path: Path, read: str, becomes: str) -> None:
    result = port(tmp_path, f"unsigned main(void) {{ return {read}; }}\n".encode())
    assert escalations(result) == []
    assert f"return {becomes};" in ported(result, "main.c")
    assert '#include "fvm_domain.h"' in ported(result, "main.c")


@pytest.mark.parametrize(
    "read",
    [
        "RCC->CR",  # bits 8 to 15 differ from chip to chip
        "RCC->CR & 0xFF00",
        "RCC->CSR & 0x2",  # what caused the last reset: nobody knows before
        "*(volatile unsigned char *)0x40023809",  # half of a register
    ],
)
def test_a_read_of_uncertain_bits_needs_a_person(tmp_path: Path, read: str) -> None:
    result = port(tmp_path, f"unsigned main(void) {{ return {read}; }}\n".encode())
    assert len(escalations(result)) == 1


def test_a_macro_is_judged_by_its_uses(tmp_path: Path) -> None:
    text = b"int main(void) { return GET_FLAG(PLLRDY); }\n"
    result = port(tmp_path, text, CHIP + GET_FLAG)
    assert escalations(result) == []
    assert "? FVM_RCC_CR : RCC->CSR" in ported(result, "chip.h")
    assert "no use of the macro in this project reads it" in reasons(result, Status.LEFT)


@pytest.mark.parametrize("flag", ["LSIRDY", "flag"])
def test_a_use_of_the_macro_that_asks_for_more_needs_a_person(tmp_path: Path, flag: str) -> None:
    text = b"int ask(int flag) { return GET_FLAG(%s); }\n" % flag.encode()
    text += b"int main(void) { return GET_FLAG(PLLRDY) + ask(PLLRDY); }\n"
    result = port(tmp_path, text, CHIP + GET_FLAG)
    place = f"RCC->CSR isn't certain at start, and GET_FLAG({flag}) in main.c:2 asks for it"
    assert f"RCC: {place}" in escalations(result)


def test_a_site_on_a_continued_line_does_not_pass_for_skipped(tmp_path: Path) -> None:
    text = b"#define BOTH(a, b) ((a) + (b))\nint main(void) { return BOTH(1,\n RCC->CSR); }\n"
    assert len(escalations(port(tmp_path, text))) == 1


def test_an_arm_that_the_compiler_skips_is_left(tmp_path: Path) -> None:
    text = b"int main(void)\n{\n#ifdef OTHER_CHIP\n    return RCC->CSR;\n#endif\n    return 0;\n}\n"
    assert escalations(port(tmp_path, text)) == []


# --- registers behind handles, settings in structs ---------------------------------------------

WATCHDOG = b"""\
typedef struct { unsigned Prescaler, Reload; } Init_t;
typedef struct { IWDG_TypeDef *Instance; Init_t Init; } Handle_t;
#define START(h) WRITE_REG((h)->Instance->KR, 0xCCCC)
#define UNLOCK(h) WRITE_REG((h)->Instance->KR, 0x5555)
Handle_t watchdog;
void init(Handle_t *h)
{
    START(h);
    UNLOCK(h);
    h->Instance->PR = h->Init.Prescaler;
    h->Instance->RLR = h->Init.Reload;
}
int main(void)
{
    watchdog.Instance = IWDG;
    watchdog.Init.Prescaler = 3;
    watchdog.Init.Reload = 499;
    MORE
    init(&watchdog);
    return 0;
}
"""


def test_a_macro_over_a_handle_starts_the_watchdog(tmp_path: Path) -> None:
    result = port(tmp_path, WATCHDOG.replace(b"    MORE\n", b""))
    assert escalations(result) == []
    body = ported(result, "main.c").split("void init(Handle_t *h)\n")[1].split("}\n")[0]
    assert body.split() == ["{", "(void)h;", "hyp_wdg_clr();"]


def test_the_timeout_in_the_struct_is_compared(tmp_path: Path) -> None:
    text = WATCHDOG.replace(b"    MORE\n", b"").replace(b"499", b"999")
    found = escalations(port(tmp_path, text))
    assert "the code means 1000 ms, the description says 500 ms" in found[0]


@pytest.mark.parametrize(
    "more",
    [
        b"watchdog.Init.Reload = 999;",
        b"watchdog.Init.Reload += 1;",
        b"scanf(&watchdog.Init.Reload);",
        b"memcpy(&watchdog.Init, (void *)0x08000000, 8);",
        b"{ Init_t other = {3, 999}; watchdog.Init = other; }",
        b"{ Init_t other = {.Reload = 999}; watchdog.Init = other; }",
    ],
)
def test_a_field_that_may_hold_something_else_is_not_known(tmp_path: Path, more: bytes) -> None:
    found = escalations(port(tmp_path, WATCHDOG.replace(b"MORE", more)))
    assert "the timeout isn't one constant" in found[0]


# --- branches that nothing leads to ------------------------------------------------------------

OSCILLATORS = b"""\
typedef struct { unsigned Type; } Osc_t;
#define HSE 1u
#define LSI 8u
int config(Osc_t *osc)
{
    if ((osc->Type & LSI) == LSI) {
        while (!GET_FLAG(LSIRDY)) { if (late()) return 1; }
    }
    if (osc->Type & HSE) {
        if (!GET_FLAG(PLLRDY)) return 2;
    } else {
        return RCC->CSR;
    }
    return 0;
}
int main(void)
{
    Osc_t osc = {0};
    osc.Type = HSE;
    return config(&osc);
}
"""


LATE = "while (!GET_FLAG(LSIRDY)) { if (late()) return 1; }"


def test_what_is_never_asked_for_stays(tmp_path: Path) -> None:
    text = OSCILLATORS.replace(b"    } else {\n        return RCC->CSR;\n", b"")
    result = port(tmp_path, text, CHIP + GET_FLAG)
    assert escalations(result) == []
    assert "while (!GET_FLAG(LSIRDY))" in ported(result, "chip.h") + text.decode()
    (asked,) = (it for it in record_of(result).kept if it.file == "main.c")
    assert (asked.text, asked.absent) == (LATE, False), "link finds it in the program"
    assert "no use of the macro that may run reads it" in asked.reason


def test_what_nothing_calls_is_not_in_the_program(tmp_path: Path) -> None:
    text = OSCILLATORS.replace(b"    return config(&osc);\n", b"")
    kept = record_of(port(tmp_path, text, CHIP + GET_FLAG)).kept
    assert not [it for it in kept if it.text == LATE and not it.absent]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"osc.Type = HSE;", b"osc.Type = HSE | LSI;"),
        (b"osc.Type = HSE;", b"osc.Type = late();"),
        (b"osc.Type = HSE;", b"osc.Type |= HSE;"),
    ],
)
def test_what_may_be_asked_for_needs_a_person(tmp_path: Path, before: bytes, after: bytes) -> None:
    result = port(tmp_path, OSCILLATORS.replace(before, after), CHIP + GET_FLAG)
    assert any(reason.startswith("RCC: RCC->CSR") for reason in escalations(result))


def test_a_field_that_is_still_0_takes_the_other_arm(tmp_path: Path) -> None:
    result = port(tmp_path, OSCILLATORS, CHIP + GET_FLAG)
    assert len(escalations(result)) == 1, "before osc.Type is written it is 0"


@pytest.mark.parametrize("before", [b"static ", b""])
def test_a_function_that_nothing_calls_asks_for_nothing(tmp_path: Path, before: bytes) -> None:
    text = OSCILLATORS.replace(b"    } else {\n        return RCC->CSR;\n", b"")
    text += before + b"void unused(Osc_t *osc) { osc->Type = HSE | LSI; }\n"
    text += b"int late(void) { return 0; }\n"  # what the project doesn't have may call it
    assert escalations(port(tmp_path, text, CHIP + GET_FLAG)) == []


SLOW = b"""\
#define LSION RCC->CSR
#define SET(r, b) ((r) |= (b))
#define LSI_ON() SET(LSION, 1u)
"""
ASKS = OSCILLATORS.replace(b"while (!GET_FLAG(LSIRDY)) {", b"LSI_ON(); while (late()) {")
ASKS = ASKS.replace(b"    } else {\n        return RCC->CSR;\n", b"")


def test_a_macro_that_only_code_uses_which_never_runs_stays(tmp_path: Path) -> None:
    result = port(tmp_path, ASKS, CHIP + GET_FLAG + SLOW)
    assert escalations(result) == []
    (kept,) = (it for it in record_of(result).kept if it.file == "main.c")
    assert "LSI_ON();" in kept.text and not kept.absent, "link finds it in the program"
    assert "nothing that may run uses the macro; main.c:" in kept.reason


@pytest.mark.parametrize(
    ("header", "more"),
    [
        (b"", b"void more(void) { LSI_ON(); }\n"),
        (b"#define TURN(x, on) x##_##on()\n", b"void more(void) { TURN(LSI, ON); }\n"),
        (b"#define ON(x) x##_ON()\n", b"void more(void) { ON(LSI); }\n"),
        (b"#define SLOW_ON LSI_ON\n", b"void more(void) { SLOW_ON(); }\n"),
        (b"#define STEPS void more(void) { LSI_ON(); }\n", b'#include "steps.def"\n'),
    ],
)
def test_a_macro_that_other_code_uses_needs_a_person(
    tmp_path: Path, header: bytes, more: bytes
) -> None:
    text = ASKS.replace(b"int main(void)\n{", b"void more(void);\nint main(void)\n{\n    more();")
    (tmp_path / "steps.def").write_bytes(b"STEPS\n")
    result = port(tmp_path, text + more, CHIP + GET_FLAG + SLOW + header)
    assert any("LSI, LSE" in reason for reason in escalations(result))


# --- handlers ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("body", "escalated"), [(b"{ /* nothing */ }", 0), (b"{ g(); }", 1)])
def test_only_a_handler_that_does_something_needs_a_name(
    tmp_path: Path, body: bytes, escalated: int
) -> None:
    vectors = b"g_pfnVectors:\n .word _estack\n .word Reset_Handler\n" + b" .word 0\n" * 9
    vectors += b" .word SVC_Handler\n" + b" .word 0\n" * 40
    files = {"startup.s": vectors, "main.c": b"void g(void);\nvoid SVC_Handler(void)" + body}
    assert len(escalations(port_files(tmp_path, files))) == escalated


# --- memory that others fill ---------------------------------------------------------------------

TYPE = b"typedef struct { unsigned id, word; } msg_t;\n"
BEHIND = b"if (m->id == 3) { __set_MSP(4); }"
OTHERS_FILL = {
    "a device": b"typedef struct { volatile unsigned SR; } uart_t;\n"
    b"#define UART ((uart_t *)0x40011000)\n"
    b"int main(void) { if (UART->SR & 4) { __set_MSP(4); } }",
    "a device behind a parameter": b"typedef struct { volatile unsigned SR; } uart_t;\n"
    b"void f(uart_t *u) { if (u->SR & 4) { __set_MSP(4); } }\n"
    b"int main(void) { f((uart_t *)0x40011000); }",
    "a type that is volatile": b"typedef volatile unsigned reg_t;\n"
    b"typedef struct { reg_t SR; } uart_t;\n"
    b"void f(uart_t *u) { if (u->SR & 4) { __set_MSP(4); } }\nint main(void) { f(get()); }",
    "a macro for volatile": b"#define IO volatile\ntypedef struct { IO unsigned SR; } uart_t;\n"
    b"void f(uart_t *u) { if (u->SR & 4) { __set_MSP(4); } }\nint main(void) { f(get()); }",
    "GNU's word for volatile": b"typedef struct { __volatile__ unsigned SR; } uart_t;\n"
    b"void f(uart_t *u) { if (u->SR & 4) { __set_MSP(4); } }\nint main(void) { f(get()); }",
    "no volatile at all": b"typedef struct { unsigned SR; } uart_t;\n"
    b"int main(void) { if (((uart_t *)0x40011000)->SR & 4) { __set_MSP(4); } }",
    "a buffer": TYPE + b"unsigned char buffer[8];\n"
    b"int main(void) { msg_t *m = (msg_t *)buffer; @ }",
    "a buffer by a macro": TYPE + b"#define MSG(b) ((msg_t *)(b))\nunsigned char buffer[8];\n"
    b"int main(void) { msg_t *m = MSG(buffer); @ }",
    "a part of a union": TYPE + b"union { msg_t msg; unsigned char raw[8]; } u;\n"
    b"int main(void) { msg_t *m = &u.msg; u.raw[0] = 3; @ }",
    "an object of another program": TYPE + b"extern msg_t shared;\n"
    b"int main(void) { msg_t *m = &shared; @ }",
    "a library's": TYPE + b"msg_t *next(void);\nint main(void) { msg_t *m = next(); @ }",
    "bytes of it": TYPE + b"msg_t own;\nint main(void) { msg_t *m = &own;\n"
    b"    fill((unsigned char *)&own, 8); @ }",
    "its address in a register": TYPE + b"msg_t own;\nint main(void) { msg_t *m = &own;\n"
    b"    DMA = (unsigned)&own; @ }",
}


@pytest.mark.parametrize("name", OTHERS_FILL)
def test_fields_that_others_may_fill_decide_nothing(name: str, tmp_path: Path) -> None:
    text = OTHERS_FILL[name].replace(b"@", BEHIND)
    assert "stack pointers belong to the context switch" in escalations(port(tmp_path, text))[-1]


@pytest.mark.parametrize(
    "more", [b"", b"unsigned other(void);\nvoid f(unsigned *p) { *p = other(); }\n"]
)
def test_fields_that_only_the_project_fills_do(tmp_path: Path, more: bytes) -> None:
    text = TYPE + more + b"static msg_t own;\nint main(void) { msg_t *m = &own; own.id = 2; @ }"
    assert escalations(port(tmp_path, text.replace(b"@", BEHIND))) == []
