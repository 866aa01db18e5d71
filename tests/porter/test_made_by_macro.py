"""Names that `##` makes, and what else only the preprocessor puts together."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.asm.breakpoints import WHY_STOP
from porter.judging.verdict import Status
from porter.output.port_report import lines
from tests.porter.helpers import escalations, port_files, port_text

START = b"""#include <stdint.h>
void __disable_irq(void); void __enable_irq(void); void NVIC_EnableIRQ(int);
#define PASTE(a, b) a##b
#define JOIN(a, b) PASTE(a, b)
#define IRQ(n) __##n##_irq()
#define GIVEN(macro, x) macro(x)
#define MSR(reg) __asm volatile("msr " #reg ", %0" :: "r"(1))
#define TEXT_mask "cpsid i"
#define TEXT_none "nop"
#define VTOR_ADDR 0xE000ED08u
#define VTOR_REG (*(volatile uint32_t *)0xE000ED08)
#define REG(r) (*(volatile uint32_t *)(r##_ADDR))
#define NAMED(r) r##_REG
#define WRITE(r, v) do { r##_REG = (v); } while (0)
#define AT(high, low) (*(volatile uint32_t *)(((high) << 16) | (low)) = 1)
extern int count_a, ICSR; static int other;
"""
ABSENT = b'#include "gone.h"\n'


def missed(what: str) -> str:
    return f"the preprocessor makes {what} of it, which isn't in the text: write that out"


@pytest.mark.parametrize("first", [b"", ABSENT])
@pytest.mark.parametrize(
    ("code", "macro", "what"),
    [
        (b"IRQ(disable);", "IRQ", "__disable_irq"),
        (b"JOIN(__enable, _irq)();", "JOIN", "__enable_irq"),
        (b"JOIN(NVIC_Enable, IRQ)(3);", "JOIN", "NVIC_EnableIRQ"),
        (b"IRQ(\n  disable\n);", "IRQ", "__disable_irq"),
        (b"GIVEN(IRQ, disable);", "GIVEN", "__disable_irq"),
        (b"GIVEN(MSR, PRIMASK);", "GIVEN", "msr PRIMASK, %0"),
        (b"WRITE(VTOR, 1);", "WRITE", "SCB->VTOR"),
        (b"AT(0xE000, 0xED08);", "AT", "SCB->VTOR"),
        (b"__disable_irq(); IRQ(disable);", "IRQ", "__disable_irq"),
        (b"IRQ(disable); __disable_irq();", "IRQ", "__disable_irq"),
    ],
)
def test_what_only_the_preprocessor_puts_together_is_escalated(
    tmp_path: Path, first: bytes, code: bytes, macro: str, what: str
) -> None:
    """With the compiler's word and, where a header is missing, without."""
    result = port_files(tmp_path, {"main.c": first + START + b"void f(void) { " + code + b" }\n"})
    assert escalations(result) == [f"{macro}: {missed(what)}"]


def test_a_register_that_a_macro_puts_together_is_the_register(tmp_path: Path) -> None:
    text = START + b"void f(void) { GIVEN(NAMED, VTOR) = 1; count_a = 1; }\n"
    ported, _ = port_text(tmp_path, text)
    assert b"void f(void) { count_a = 1; }" in ported


def test_the_report_says_where(tmp_path: Path) -> None:
    text = START + b"void f(void)\n{\n    if (count_a) IRQ(disable);\n}\n"
    result = port_files(tmp_path, {"main.c": text})
    line = text[: text.index(b"IRQ(disable)")].count(b"\n") + 1
    place = f"main.c:{line}:18: escalated IRQ [made-by-macro]: "
    assert list(lines(result, Status.ESCALATED)) == [place + missed("__disable_irq")]


def test_a_list_that_a_macro_goes_through_is_escalated(tmp_path: Path) -> None:
    """The macro is gone at the end of the file."""
    listed = b"#define LIST X(disable) X(enable)\n#define X(n) __##n##_irq();\n"
    text = START + listed + b"void f(void) { LIST }\n#undef X\n"
    result = port_files(tmp_path, {"main.c": text})
    assert escalations(result) == [f"LIST: {missed('__disable_irq, __enable_irq')}"]


def test_an_intrinsic_that_is_a_macro_itself(tmp_path: Path) -> None:
    """Its definition stays, for every use is rewritten: but not one that nobody sees."""
    own = START.replace(b"void __disable_irq(void);", b"").replace(
        b"#define IRQ", b'#define __disable_irq() __asm volatile("cpsid i")\n#define IRQ'
    )
    result = port_files(tmp_path, {"main.c": own + b"void f(void) { IRQ(disable); }\n"})
    assert len(escalations(result)) == 1


@pytest.mark.parametrize("place", [b"REG(VTOR)", b"NAMED(VTOR)"])
def test_a_register_by_a_pasted_name_is_a_register(tmp_path: Path, place: bytes) -> None:
    ported, port = port_text(tmp_path, START + b"void f(void) { " + place + b" = 1; }\n")
    assert b"void f(void) { }" in ported
    assert port.verdicts[-1].rule == "kernel-register"


def test_a_pasted_name_of_a_macro_that_is_rewritten(tmp_path: Path) -> None:
    text = START + b"#define LOCK_all() __disable_irq()\n#define LOCK(x) LOCK_##x()\n"
    ported, port = port_text(tmp_path, text + b"void f(void) { LOCK(all); }\n")
    assert b"#define LOCK_all() virt_int_mask(VIRT_PRIMASK)" in ported
    assert Status.ESCALATED not in {verdict.status for verdict in port.verdicts}


def test_an_asm_text_by_a_pasted_name(tmp_path: Path) -> None:
    """The macro's own asm statement is the site, and each use counts."""
    text = START + b"#define DO(t) __asm volatile(TEXT_##t)\nvoid f(void) { DO(mask); }\n"
    assert len(escalations(port_files(tmp_path, {"main.c": text}))) == 1


def test_a_function_that_a_pasted_name_calls_is_no_unused_one(tmp_path: Path) -> None:
    text = START + (
        b"#define CALL(n) n##_now()\n"
        b"unsigned stop_now(void) { VTOR_REG = 1; return VTOR_REG; }\n"
        b"int main(void) { return CALL(stop); }\n"
    )
    _, port = port_text(tmp_path, text)
    assert Status.ESCALATED in {verdict.status for verdict in port.verdicts}


def test_a_use_in_a_function_that_nothing_calls_is_left(tmp_path: Path) -> None:
    text = START + b"void f(void) { IRQ(disable); }\nint main(void) { return 0; }\n"
    _, port = port_text(tmp_path, text)
    assert {verdict.status for verdict in port.verdicts} == {Status.LEFT}
    assert port.verdicts[-1].rule == "made-by-macro"


def test_a_header_that_two_files_include_is_told_of_once(tmp_path: Path) -> None:
    inline = START + b"static inline void lock(void) { IRQ(disable); }\n"
    use = b'#include "lock.h"\nvoid NAME(void) { lock(); }\n'
    files = {"lock.h": inline, "a.c": use.replace(b"NAME", b"a"), "b.c": use.replace(b"NAME", b"b")}
    result = port_files(tmp_path, files)
    assert escalations(result) == [f"IRQ: {missed('__disable_irq')}"]


@pytest.mark.parametrize("first", [b"", ABSENT])
@pytest.mark.parametrize(
    "code",
    [
        b"void f(void) { JOIN(count, _a)++; PASTE(oth, er) = 1; }",
        b"void f(void) { PASTE(IC, SR) = 1; }",
        b"void f(void) { __asm volatile(JOIN(TEXT_, none)); }",
        b"void f(void) { GIVEN(MSR, APSR); }",
        b"#define UNUSED(n) __##n##_irq()",
        b"void f(void) { (void)AT; }".replace(b"AT", b"other"),
        b"uint32_t f(void) { return (uint32_t)AT(0x4000, 0x4404); }",
        b"#define CONFIG(n) n##_ADDR\nuint32_t f(void) { return sizeof(CONFIG(VTOR)); }",
    ],
)
def test_harmless_names_are_no_sites(tmp_path: Path, first: bytes, code: bytes) -> None:
    result = port_files(tmp_path, {"main.c": first + START + code + b"\n"})
    assert escalations(result) == []


def test_a_cmsis_header_is_no_alarm(tmp_path: Path) -> None:
    header = b"""#pragma once
#include <stdint.h>
#define __ASM __asm
#define __STATIC_FORCEINLINE __attribute__((always_inline)) static inline
#define __IOM volatile
#define _VAL2FLD(field, value) (((uint32_t)(value) << field##_Pos) & field##_Msk)
#define SCB_AIRCR_VECTKEY_Pos 16U
#define SCB_AIRCR_VECTKEY_Msk (0xFFFFUL << SCB_AIRCR_VECTKEY_Pos)
typedef struct { __IOM uint32_t CPUID, ICSR, VTOR, AIRCR; } SCB_Type;
#define SCS_BASE (0xE000E000UL)
#define SCB_BASE (SCS_BASE + 0x0D00UL)
#define SCB ((SCB_Type *)SCB_BASE)
#define NVIC_SystemReset __NVIC_SystemReset
__STATIC_FORCEINLINE void __disable_irq(void)
{
  __ASM volatile ("cpsid i" : : : "memory");
}
__STATIC_FORCEINLINE void __NVIC_SystemReset(void)
{
  SCB->AIRCR = _VAL2FLD(SCB_AIRCR_VECTKEY, 0x5FAUL) | 4U;
  for (;;) { __ASM volatile ("nop"); }
}
"""
    use = b'#include "core.h"\nuint32_t f(uint32_t x) { return _VAL2FLD(SCB_AIRCR_VECTKEY, x); }\n'
    result = port_files(tmp_path, {"core.h": header, "main.c": use})
    assert escalations(result) == []


@pytest.mark.parametrize("use", [b"__BKPT(1);", b"STOP();"])
def test_what_an_intrinsic_is_defined_by_is_told_once(tmp_path: Path, use: bytes) -> None:
    """Rules know the name, whatever its macro makes of its argument."""
    macros = b'#define __BKPT(n) __asm volatile("bkpt " #n)\n#define STOP() __BKPT(0)\n'
    result = port_files(tmp_path, {"main.c": macros + b"void f(void) { " + use + b" }\n"})
    (told,) = {it.partition(": ")[2] for it in escalations(result)}
    assert told == WHY_STOP


def test_what_another_compilers_header_makes_of_an_intrinsic_is_told_once(tmp_path: Path) -> None:
    """Where a header is missing nobody knows whose definition counts."""
    files = {
        "armcc.h": b"#define __BKPT(value) __breakpoint(value)\n",
        "gcc.h": b'#define __BKPT(value) __asm volatile ("bkpt " #value)\n',
        "core.h": b'#ifdef __CC_ARM\n#include "armcc.h"\n#else\n#include "gcc.h"\n#endif\n',
        "main.c": ABSENT + b'#include "core.h"\nvoid f(void) { __BKPT(0); }\n',
    }
    assert escalations(port_files(tmp_path, files)) == [f"__BKPT: {WHY_STOP}"]


FIELDS = b"typedef struct { volatile uint32_t CSSELR; volatile uint32_t CPACR; } caches;\n"
DEFINED = b"#define CPACR (uint32_t)0xE000ED88\n"
OPENED = b"#include <stdint.h>\n%sint main(void) { *(volatile uint32_t *)CPACR |= 0xF << 20; }\n"


@pytest.mark.parametrize(
    ("files", "count"),
    [
        ({"hw.h": FIELDS + DEFINED}, 0),
        ({"hw.h": DEFINED + FIELDS}, 1),
        ({"first.h": DEFINED, "hw.h": FIELDS}, 1),
        ({"first.h": DEFINED, "hw.h": FIELDS + DEFINED}, 1),
    ],
)
def test_a_macro_makes_nothing_of_what_stands_before_it(
    tmp_path: Path, files: dict[str, bytes], count: int
) -> None:
    """Without the compiler's word."""
    included = b"".join(b'#include "%s"\n' % name.encode() for name in files)
    text = OPENED % (ABSENT + included)
    result = port_files(tmp_path, {**files, "main.c": text})
    assert len(escalations(result)) == count
