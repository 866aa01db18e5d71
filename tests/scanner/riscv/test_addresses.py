"""Accesses to the system's registers, as compilers really write them."""

from __future__ import annotations

import pytest

from scanner import scan_file
from tests.scanner.riscv.conftest import Build

SOURCE = """
#include <stdint.h>
#define REG(a) (*(volatile uint32_t *)(a))
typedef struct {
    volatile uint32_t ISR[8], IPR[8], ITHRESDR, r0, CFGR, GISR, VTFIDR, r1[3], VTFADDR[4], r2[36];
    volatile uint32_t IENR[8], r3[24], IRER[8], r4[152];
    volatile uint8_t IPRIOR[256];
} PFIC_t;
#define PFIC ((PFIC_t *)0xE000E000)
void enable(int n) { PFIC->IENR[n >> 5] = 1u << (n & 31); }
void disable_two(void) { PFIC->IRER[2] = 1; }
void priority(int n, int p) { PFIC->IPRIOR[n] = p; }
void reset(void) { PFIC->CFGR = 0xBEEF0080; }
void tick(uint32_t n) { REG(0xE000F010) = n; REG(0xE000F000) = 1; }
uint32_t count(void) { return REG(0xE000F008); }
uint32_t sent(volatile uint32_t *p) { return *p; }
uint32_t escape(void) { return sent(&REG(0xE000ED10)) + 1; }
void _start(void) { for (;;) ; }
"""


@pytest.mark.parametrize("optimise", ["-O0", "-O1", "-O2", "-Os"])
def test_registers_are_named(build: Build, optimise: str) -> None:
    report = scan_file(build(SOURCE, optimise, "-fno-inline", c=True), chip_name="ch32v307")
    found = {(f.function, f.text) for f in report.findings}
    assert found >= {
        ("enable", "write to PFIC->IENR[...]"),
        ("disable_two", "write to PFIC->IRER[2]"),
        ("priority", "write to PFIC->IPRIOR[...]"),
        ("reset", "write to PFIC->CFGR"),
        ("tick", "write to SysTick->CMP[0]"),
        ("tick", "write to SysTick->CTLR"),
        ("count", "read of SysTick->CNT[0]"),
    }
    assert "escape" in {f.function for f in report.findings}
    assert {(f.rule, f.severity) for f in report.findings} == {("system", "traps")}
    assert report.verdict == "warn"


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("lui a5, 0x200c\n lw a0, -8(a5)", "read of CLINT->mtime[0]"),
        ("lui a5, 0x2004\n addi a5, a5, 8\n sw a0, 4(a5)", "write to CLINT->mtimecmp[3]"),
        ("lui a5, 0x2000\n c.sw a0, 4(a5)", "write to CLINT->msip[1]"),
        ("li a5, 0x0c200004\n lw a0, 0(a5)\n sw a0, 0(a5)", "write to PLIC->claim"),
        ("lui a5, 0xc000\n slli a0, a0, 2\n add a5, a5, a0\n sw a1, 4(a5)",
         "write to PLIC->priority[...]"),
        ("lui s0, 0x2004\n call _start\n sw a0, 0(s0)", "write to CLINT->mtimecmp[0]"),
        ("lui a5, 0x2004\n amoswap.w a0, a1, (a5)", "write to CLINT->mtimecmp[0]"),
        ("lui a5, 0x2004\n lr.w a0, (a5)", "read of CLINT->mtimecmp[0]"),
        ("lui a5, 0x2004\n flw fa0, 4(a5)", "read of CLINT->mtimecmp[1]"),
        ("lui a5, 0x2004\n c.mv a4, a5\n lui a5, 0\n sb a0, 0(a4)", "write to CLINT->mtimecmp[0]"),
        ("li a5, 0x02004000\n .insn 0x2388", "read of CLINT->mtimecmp[0]"),
    ],
)  # fmt: skip
def test_what_happens_to_the_pointer(build: Build, code: str, text: str) -> None:
    elf = build(f".type _start, %function\n_start: {code}\n ret\n.size _start, . - _start\n")
    assert text in [f.text for f in scan_file(elf).findings]


def test_from_where_the_program_stands(build: Build) -> None:
    """AUIPC, and a base register that always holds the same."""
    by_pc = build(
        ".option norelax\n_start: auipc a5, 0xd800f\n sw a0, 8(a5)\n ret\n", arch="rv32imac"
    )
    found = scan_file(by_pc, chip_name="ch32v203").findings
    assert [f.text for f in found] == ["write to SysTick->CNT[0]"]
    by_gp = build(
        ".option norelax\n_start: lui gp, 0x2004\n addi gp, gp, 0\n j use\n"
        "use: sw a0, 8(gp)\n ret\n"
    )
    assert "write to CLINT->mtimecmp[2]" in [f.text for f in scan_file(by_gp).findings]


def test_constants_that_are_no_addresses(build: Build) -> None:
    elf = build(
        """
        #include <stdint.h>
        volatile uint32_t x; volatile float f;
        void _start(void) { f = f * 2.0f + 3.14159274f; x = x * 0x02004001u ^ 0x0c000010u;
            x |= 0x02004000u; x &= 0x0c200000u; for (;;) ; }
        """,
        "-O2", c=True,
    )  # fmt: skip
    assert scan_file(elf).verdict == "accept"
