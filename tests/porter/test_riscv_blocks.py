"""CLINT, PLIC, PFIC and their like in C: found by what an expression leads to, by no name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from porter.judging.verdict import Status
from porter.port import port_project
from porter.result import FilePort, PortResult
from tests.porter.helpers import DOMAIN

CPU = ("-march=rv32imac_zicsr", "-mabi=ilp32")
HEADER = """\
typedef unsigned int uint32_t; typedef unsigned long long uint64_t;
#define START 0x02000000UL
#define COMPARE 0x4000
#define SOFT (*(volatile uint32_t *)START)
#define AT(o) (*(volatile uint32_t *)(START + (o)))
#define COMPARE_OF(hart) (START + COMPARE + 8 * (hart))
#define PIN_25 ((uint32_t)0x02000000)
#define BUS 0xD0000000
typedef struct {
    volatile uint32_t soft[4095]; uint32_t gap; volatile uint64_t compare[4095], time;
} timer_t;
typedef struct { uint32_t gap[0x1B8 / 4]; volatile uint32_t compare; } bus_t;
#define TIMER ((timer_t *)START)
#define SIO ((bus_t *)BUS)
static const uint32_t base = START;
extern volatile uint64_t *kept;
void write32(uint32_t address, uint32_t value);
void set_pins(uint32_t mask);
"""


def port(folder: Path, text: str, chip: str | None = None) -> PortResult:
    (folder / "main.c").write_text(text)
    domain = replace(DOMAIN, chip=chip, cpu_flags=CPU) if chip is not None else None
    return port_project(folder, domain, cpu=CPU)


def reasons(result: PortResult) -> list[str]:
    return [
        verdict.reason.partition(" is the kernel's")[0]
        for file in result.files
        for verdict in file.verdicts
        if verdict.status is Status.ESCALATED
    ]


@pytest.mark.parametrize(
    ("statement", "register"),
    [
        ("SOFT = 1;", "CLINT->msip[0]"),
        ("AT(COMPARE) = x;", "CLINT->mtimecmp[0]"),
        ("*(volatile uint32_t *)(base + 0x4000) = x;", "CLINT->mtimecmp[0]"),
        ("*(volatile uint32_t *)(0x2000000 + COMPARE) = x;", "CLINT->mtimecmp[0]"),
        ("kept = (volatile uint64_t *)(base + COMPARE + 8 * x);", "CLINT->mtimecmp[...]"),
        ("*(volatile uint64_t *)COMPARE_OF(x) = x;", "CLINT->mtimecmp[...]"),
        ("TIMER->compare[x] = 0;", "CLINT->mtimecmp[...]"),
        ("timer_t *timer = TIMER; x = timer->time;", "CLINT->mtime[0]"),
        ("write32(START + COMPARE, x);", "CLINT->mtimecmp[0]"),
        ("write32(0x2004000, x);", "CLINT->mtimecmp[0]"),
        ("SIO->compare = x;", "SIO->MTIMECMP[0]"),
        ("uint32_t plic = 0x0C000000; *(uint32_t *)(plic + 0x200004) = x;", "PLIC->claim"),
        ("*(volatile uint32_t *)(0xE000E000 + 0x100) = 1;", "PFIC->IENR[0]"),
        ("*(volatile uint32_t *)0xE004200C = 0x4b5a6978;", "DBG->reset_key"),
        ("*(volatile uint32_t *)(0xE0042000 + 4) |= 1;", "DBG->CTL"),
        ("while (*(volatile uint32_t *)0xE0000380);", "debug->DATA[0]"),
        ("*(volatile uint32_t *)0xE00000F8 = x;", "debug->DATA[1]"),
    ],
)
def test_what_leads_there_is_told(tmp_path: Path, statement: str, register: str) -> None:
    result = port(tmp_path, f"{HEADER}void f(uint32_t x) {{ {statement} }}\n")
    assert reasons(result) == [register]


@pytest.mark.parametrize(
    ("address", "call"),
    [
        (0xE000F000, "hyp_tick_set(0) ends it"),
        (0xE000F004, "the kernel clears the tick's flag"),
        (0xE000F008, "virt_cycles()"),
        (0xE000F010, "the kernel sets every next one"),
        (0xE000E048, "hyp_reboot()"),
        (0xE000E200, "virt_vct_trig(fvm_virt_of_irq(line))"),
        (0xE000E100, "hyp_irq_ena()"),
    ],
)
def test_what_serves_instead_is_the_registers(tmp_path: Path, address: int, call: str) -> None:
    text = f"void f(unsigned x) {{ *(volatile unsigned *){address:#x} = x; }}\n"
    result = port(tmp_path, text, "CH32V307")
    (told,) = (verdict.reason for file in result.files for verdict in file.verdicts)
    assert call in told


@pytest.mark.parametrize(
    "statement",
    [
        "set_pins(PIN_25);",
        "set_pins(1u << 25);",
        "if (x & 0x02000000) set_pins(x | PIN_25);",
        "x ^= 0x02004000;",
        "static const uint32_t table[] = {0x02000000, 0x0C000000}; x = table[x];",
        "*(volatile uint32_t *)0x10000000 = x;",
    ],
)
def test_masks_and_own_devices_are_not(tmp_path: Path, statement: str) -> None:
    assert reasons(port(tmp_path, f"{HEADER}void f(uint32_t x) {{ {statement} }}\n")) == []


@pytest.mark.parametrize(
    "statement",
    [
        "if (x >= LARGEST) set_pins(1);",
        "if ((0x0FFFFFF5 < x)) set_pins(1);",
        "switch (x) { case LARGEST: set_pins(1); }",
        "uint32_t y; y = LARGEST; while (x > y) x--;",
        "uint32_t y = LARGEST; if (x) y = 3; if (y == x) y++;",
    ],
)
def test_numbers_that_are_compared_are_numbers(tmp_path: Path, statement: str) -> None:
    """FatFs has the largest number of a cluster, which many a PLIC has room for."""
    text = f"{HEADER}#define LARGEST 0x0FFFFFF5\nvoid f(uint32_t x) {{ {statement} }}\n"
    assert reasons(port(tmp_path, text)) == []


@pytest.mark.parametrize(
    "statement",
    [
        "uint32_t y; y = LARGEST; *(volatile uint32_t *)y = 1;",
        "uint32_t y = LARGEST; if (x) y = 0x0FFFFF05; write32(y, x);",
        "uint32_t y; y = LARGEST; if (x < y) x = y;",
        "volatile uint32_t *y; y = (uint32_t *)LARGEST; if (y) *y = 0;",
        "if (*(volatile uint32_t *)LARGEST < x) set_pins(1);",
        "write32(x < 3 ? LARGEST : 0, x);",
    ],
)
def test_numbers_that_go_on_are_told(tmp_path: Path, statement: str) -> None:
    text = f"{HEADER}#define LARGEST 0x0FFFFFF5\nvoid f(uint32_t x) {{ {statement} }}\n"
    assert reasons(port(tmp_path, text)) != []


STORES = """\
#define FEED UINT32_C(0x0D09F00D)
#define FEED_AT 0x10000018u
static inline void store(uint32_t at, uint32_t value) { *(volatile uint32_t *)at = value; }
static inline void store_by(volatile uint32_t *at, uint32_t value) { *at = (uint32_t)value; }
static void goes_by(uint32_t at, uint32_t value) { store(at, value); store(value, 1); }
uint32_t kept;
static void keep(uint32_t at, uint32_t value) { *(volatile uint32_t *)at = kept = value; }
"""


@pytest.mark.parametrize(
    "statement",
    [
        "store(FEED_AT, FEED);",
        "store(FEED_AT, 0x0D09F00D);",
        "store_by((volatile uint32_t *)FEED_AT, FEED);",
        "*(volatile uint32_t *)FEED_AT = FEED;",
    ],
)
def test_numbers_that_devices_are_given_are_numbers(tmp_path: Path, statement: str) -> None:
    """A watchdog is fed by one that a PLIC has room for."""
    result = port(tmp_path, f"{HEADER}{STORES}void f(void) {{ {statement} }}\n")
    assert reasons(result) == []


@pytest.mark.parametrize(
    "statement",
    [
        "store(FEED, 1);",
        "goes_by(FEED_AT, FEED);",
        "keep(FEED_AT, FEED);",
        "elsewhere(FEED_AT, FEED);",
        "kept = FEED;",
        "store(FEED_AT, 0x0200BFF8);",
        "*(volatile uint32_t *)FEED_AT = 0x0200BFF8;",
        "*(uint32_t **)FEED_AT = (uint32_t *)FEED;",
    ],
)
def test_numbers_that_may_be_addresses_all_the_same_are_told(
    tmp_path: Path, statement: str
) -> None:
    """Also of a register that DMA may be given."""
    result = port(tmp_path, f"{HEADER}{STORES}void f(void) {{ {statement} }}\n")
    assert reasons(result) != []


@pytest.mark.parametrize(("chip", "told"), [("CH32V307", 1), ("FE310", 0), ("unheard-of", 1)])
def test_the_chip_says_where_its_blocks_are(tmp_path: Path, chip: str, told: int) -> None:
    text = "void f(void) { *(volatile unsigned *)0xE000E100 = 1; }\n"
    assert len(reasons(port(tmp_path, text, chip))) == told


def test_an_address_that_other_files_may_use_is_told(tmp_path: Path) -> None:
    text = "#define START 0x02004000\nconst unsigned timer = START;\n"
    assert reasons(port(tmp_path, text)) == ["CLINT->mtimecmp[0]"]


SET_UP = """\
typedef unsigned long long uint64_t; typedef unsigned long UBaseType_t;
#define configTICK_RATE_HZ 100
extern void *pxCurrentTCB;
UBaseType_t const base = 0x2004000;
volatile uint64_t *pullMachineTimerCompareRegister = NULL;
void vPortSetupTimerInterrupt(void)
{
    pullMachineTimerCompareRegister = (volatile uint64_t *)base;
    *pullMachineTimerCompareRegister = 7;
}
"""


def test_freertos_sets_the_tick_by_its_rate(tmp_path: Path) -> None:
    (file,) = port(tmp_path, SET_UP).files
    assert reasons_left(file) == ["only removed code read it"]
    assert b"hyp_tick_set( configTICK_RATE_HZ );" in file.ported
    assert b"= 7" not in file.ported


def test_a_constant_pointer_to_the_timer_leads_elsewhere(tmp_path: Path) -> None:
    """FreeRTOS V10.2.0 and V10.2.1."""
    fixed = "( volatile uint64_t * const ) ( configCLINT_BASE_ADDRESS + 0x4000 )"
    text = SET_UP.replace("*pullMachine", "* const pullMachine", 1).replace("NULL", fixed)
    text = text.replace("    pullMachineTimerCompareRegister = (volatile uint64_t *)base;\n", "")
    (file,) = port(tmp_path, "#define configCLINT_BASE_ADDRESS 0x02000000\n" + text).files
    assert b"pullMachineTimerCompareRegister = &( volatile uint64_t ){ 0ULL };" in file.ported
    assert b"hyp_tick_set( configTICK_RATE_HZ );" in file.ported and b"= 7" not in file.ported


def test_a_kernel_with_a_fixed_timer_is_left_to_a_person(tmp_path: Path) -> None:
    text = SET_UP.replace("= NULL;", "= (volatile uint64_t *)0x2004000;")
    result = port(tmp_path, text)
    assert b"hyp_tick_set" not in result.files[0].ported
    assert set(reasons(result)) == {"CLINT->mtimecmp[0]"}


def test_assembler_that_reaches_a_block_by_a_number_is_told(tmp_path: Path) -> None:
    """Nothing else in it is privileged; a device of the project's own is left alone."""
    soft = "soft:\n    li t0, 0x02000000\n    li t1, 1\n    sw t1, 0(t0)\n    ret\n"
    uart = "put:\n    li t0, 0x10000000\n    sw a0, 0(t0)\n    ret\n"
    mask = "mask:\n    csrci mstatus, 8\n    ret\n"
    names = "    .global soft, put, mask\n"
    (tmp_path / "port.S").write_text(names + soft + uart + mask)
    (file,) = (file for file in port(tmp_path, "void f(void) {}\n").files if not file.is_new)
    told = [v.reason for v in file.verdicts if v.status is Status.ESCALATED]
    assert len(told) == 1 and told[0].startswith("soft: accesses the device at 0x02000000")


def reasons_left(file: FilePort) -> list[str]:
    return [verdict.reason for verdict in file.verdicts if verdict.status is Status.LEFT]


CLOCKS = """\
typedef unsigned int uint32_t;
typedef struct { volatile uint32_t CTL, CFG0; } LN_RCUx;
typedef volatile LN_RCUx LN_RCU;
#define LN_RCU_ADR (0x40021000)
#define RCC_CTLR (*(volatile uint32_t *)0x40021000)
#define R32_RCC_APB2PCENR (*(volatile uint32_t *)0x40021018)
#define UART0_BASE 0x40013800
#define LOG_FMC_BASE 0x40013800
extern LN_RCU *kept;
LN_RCU *clocks = (LN_RCU *)LN_RCU_ADR;
"""


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("clocks->CFG0 |= 1;", "RCU->CFG0 at 0x40021004"),
        ("kept->CTL |= 1;", "RCU->CTL"),
        ("RCC_CTLR |= 1;", "RCC_CTLR at 0x40021000"),
        ("R32_RCC_APB2PCENR |= 1;", "R32_RCC_APB2PCENR at 0x40021018"),
        ("*(volatile uint32_t *)LOG_FMC_BASE = 1;", ""),
    ],
)
def test_clocks_under_names_of_ones_own(tmp_path: Path, statement: str, told: str) -> None:
    result = port(tmp_path, f"{CLOCKS}void f(void) {{ {statement} }}\n")
    found = {
        verdict.reason.partition(" serves")[0]
        for file in result.files
        for verdict in file.verdicts
        if verdict.status is Status.ESCALATED
    }
    assert found == ({told} if told else set())
