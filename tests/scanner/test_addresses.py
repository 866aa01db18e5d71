"""Accesses to registers that need privilege, as compilers really write them."""

from __future__ import annotations

import pytest

from scanner import scan_file
from scanner.policy import Grant, Policy
from tests.scanner.conftest import Build

CMSIS = """
#include <stdint.h>
typedef struct { volatile uint32_t ISER[8], r0[24], ICER[8], r1[24], ISPR[8], r2[24], ICPR[8];
    uint32_t r3[24]; volatile uint32_t IABR[8]; uint32_t r4[56]; volatile uint8_t IP[240]; } NVIC_t;
typedef struct { volatile uint32_t CPUID, ICSR, VTOR, AIRCR, SCR; } SCB_t;
typedef struct { volatile uint32_t CTRL, LOAD, VAL, CALIB; } SysTick_t;
#define NVIC ((NVIC_t *)0xE000E100UL)
#define SCB ((SCB_t *)0xE000ED00UL)
#define SysTick ((SysTick_t *)0xE000E010UL)
#define CYCCNT (*(volatile uint32_t *)0xE0001004UL)
void pend(void) { SCB->ICSR = 1u << 28; __asm volatile("dsb" ::: "memory"); }
void enable(int n) { NVIC->ISER[(uint32_t)n >> 5] = 1u << (n & 31); }
void priority(int n, uint32_t p) { NVIC->IP[n] = (uint8_t)(p << 4); }
void tick(uint32_t n) { SysTick->LOAD = n; SysTick->VAL = 0; SysTick->CTRL = 7; }
void reset(void) { SCB->AIRCR = 0x05FA0004; for (;;) ; }
uint32_t cycles(void) { return CYCCNT; }
uint32_t sent(volatile uint32_t *p) { return *p; }
uint32_t escape(void) { return sent(&SCB->VTOR) + 1; }
void _start(void) { for (;;) ; }
"""


@pytest.mark.parametrize("optimise", ["-O1", "-O2", "-Os"])
@pytest.mark.parametrize("cpu", ["cortex-m3", "cortex-m7"])
def test_registers_are_named(build: Build, optimise: str, cpu: str) -> None:
    report = scan_file(build(CMSIS, optimise, "-fno-inline", c=True, cpu=cpu))
    found = {(f.function, f.text) for f in report.findings}
    assert found >= {
        ("pend", "write to SCB->ICSR (PENDSVSET)"),
        ("enable", "write to NVIC->ISER[...]"),
        ("priority", "write to NVIC->IP[...]"),
        ("tick", "write to SysTick->LOAD"),
        ("tick", "write to SysTick->VAL"),
        ("tick", "write to SysTick->CTRL (ENABLE|TICKINT|CLKSOURCE)"),
        ("reset", "write to SCB->AIRCR (SYSRESETREQ)"),
        ("cycles", "read of DWT->CYCCNT"),
        ("escape", "address of SCB->VTOR"),
        ("sent", "read of SCB->VTOR"),
    }
    assert {(f.rule, f.severity) for f in report.findings} == {("ppb", "traps")}
    assert report.verdict == "warn"


def test_unoptimised_code_too(build: Build) -> None:
    found = {(f.function, f.text) for f in scan_file(build(CMSIS, "-O0", c=True)).findings}
    assert found >= {
        ("pend", "write to SCB->ICSR (PENDSVSET)"),
        ("reset", "write to SCB->AIRCR (SYSRESETREQ)"),
        ("enable", "write to NVIC->ISER[...]"),
    }


def test_movw_and_movt(build: Build) -> None:
    elf = build(CMSIS, "-O2", "-mslow-flash-data", c=True, cpu="cortex-m7")
    assert ("pend", "write to SCB->ICSR (PENDSVSET)") in {
        (f.function, f.text) for f in scan_file(elf).findings
    }


@pytest.mark.parametrize("optimise", ["-O1", "-O2", "-Os"])
def test_constants_made_byte_by_byte(build: Build, optimise: str) -> None:
    """ARMv6-M without literals: numbers are shifted up and the next byte is added."""
    flags = (optimise, "-mpure-code", "-fno-inline")
    found = {
        (f.function, f.text)
        for f in scan_file(build(CMSIS, *flags, c=True, cpu="cortex-m0plus")).findings
    }
    assert found >= {
        ("pend", "write to SCB->ICSR (PENDSVSET)"),
        ("enable", "write to NVIC->ISER[...]"),
        ("tick", "write to SysTick->CTRL (ENABLE|TICKINT|CLKSOURCE)"),
        ("reset", "write to SCB->AIRCR (SYSRESETREQ)"),
        ("escape", "address of SCB->VTOR"),
        ("sent", "read of SCB->VTOR"),
    }


SUM = " lsls r3, #8\n adds r3, #0xe0\n lsls r3, #16\n adds r3, #0xed\n lsls r3, #8\n"


@pytest.mark.parametrize(
    ("before", "behind", "register"),
    [
        ("movs r3, #0xff\n", "adds r3, #4\n", "SCB->ICSR"),
        ("movs r3, #0xff\n", "ldr r2, [r3, #8]\n adds r3, #4\n", "SCB->ICSR"),
        ("movs r2, #1\n subs r3, r3\n movs r3, #0xff\n", "adds r3, #8\n", "SCB->VTOR"),
        ("movs r3, #0xff\n ldr r3, [r0]\n", "adds r3, #4\n", None),  # overwritten
        ("movs r3, #0x7f\n adds r3, #0x7f\n adds r3, #1\n", "", "SCB->CPUID"),
    ],
)
def test_sums_of_bytes(build: Build, before: str, behind: str, register: str | None) -> None:
    elf = build(f".thumb_func\n_start: {before}{SUM} movs r1, #0\n {behind} str r1, [r3]\n bx lr\n")
    writes = [f.text for f in scan_file(elf).findings if f.text.startswith("write")]
    assert writes == ([] if register is None else [f"write to {register}"])


@pytest.mark.parametrize("joined", ["orrs r3, r2", "orr r3, r3, r2", "orr r3, r2, r3"])
def test_an_address_of_halves_that_are_joined(build: Build, joined: str) -> None:
    made = "mov r2, #0xe0000000\n movw r3, #0xe010\n"
    elf = build(f".thumb_func\n_start: {made} {joined}\n movs r1, #0\n str r1, [r3]\n bx lr\n")
    assert [f.text for f in scan_file(elf).findings] == ["write to SysTick->CTRL"]


def test_the_instruction_and_line_of_the_access(build: Build) -> None:
    source = "#define P (*(volatile unsigned *)0xE000ED04)\nvoid _start(void) {\nP = 1u << 28;\n}"
    elf = build(source, "-O2", c=True)
    (finding,) = scan_file(elf).findings
    assert finding.source == f"{elf.stem}.c:3"
    assert finding.function == "_start"
    assert finding.address is not None
    assert finding.address % 2 == 0


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("ldr r0, =0xe000ed00\n str r1, [r0, #4]!\n str r1, [r0]", "write to SCB->ICSR"),
        ("ldr r0, =0xe000e014\n str r1, [r0], #4\n str r2, [r0]", "write to SysTick->VAL"),
        ("ldr r0, =0xe000e010\n ldmia r0, {r1, r2}", "read of SysTick->CTRL"),
        ("ldr r0, =0xe000edf0\n ldrd r1, r2, [r0, #8]", "read of CoreDebug->DCRDR"),
        ("ldr r0, =0xe000ed00\n movs r1, #8\n ldr r2, [r0, r1]", "read of SCB->VTOR"),
        ("ldr r0, =0xe000ed00\n mov r5, r0\n subs r0, #1\n ldr r1, [r5]", "read of SCB->CPUID"),
        ("ldr r0, =0xe000e100\n add r0, r0, #0x300\n strb r1, [r0, #38]", "write to NVIC->IP[38]"),
        ("ldr r0, =0xe000ed0c\n ldr r1, =0x05fa0000\n orr r1, r1, #4\n str r1, [r0]",
         "write to SCB->AIRCR (SYSRESETREQ)"),
        ("ldr r4, =0xe000ed04\n bl other\n str r1, [r4]", "write to SCB->ICSR"),
        ("ldr r0, =0xe000ed04\n bl other\n str r1, [r0]", "address of SCB->ICSR"),
        ("ldr r0, =0xe000ed04\n ldr r0, =0x20000000\n str r1, [r0]", "address of SCB->ICSR"),
        ("ldr r0, =0xe000e010\n loop: cbz r2, out\n subs r2, #1\n str r1, [r0, #4]\n b loop\n out:",
         "write to SysTick->LOAD"),
        ("ldr r0, =0xe000e010\n b test\n loop: str r1, [r0, #8]\n subs r2, #1\n"
         " test: cmp r2, #0\n bne loop\n", "write to SysTick->VAL"),
        ("ldr r0, =0xe000ed00\n cmp r1, #0\n beq away\n bx lr\n away: ldr r1, [r0, #8]",
         "read of SCB->VTOR"),
        ("ldr r0, =0xe000ed00\n it ne\n addne r0, #4\n ldr r1, [r0]", "read of SCB->CPUID"),
        ("ldr r0, =0xe000ed00\n b deliver\n nop\n deliver: ldr r1, [r0]", "read of SCB->CPUID"),
        ("movs r0, #0xe0\n lsls r0, #24\n adds r0, #0x10\n movs r2, #0xe0\n lsls r2, #8\n"
         " ldr r1, [r0, r2]", "read of SysTick->CTRL"),
        ("mov r0, #0xe000e000\n str r1, [r0, #0xd94]", "write to MPU->CTRL"),
        ("ldr r0, =0xe000e000\n add r0, r0, #0xd00\n.fpu fpv4-sp-d16\n vldr s0, [r0, #4]",
         "read of SCB->ICSR"),
        ("movs r2, #0\n ldr r0, =0xe000e000\n str r1, [r2, r0]", "write to SCS (0xe000e000)"),
        ("ldr r0, =0xe000ed01\n bx r0", "jump to SCB (0xe000ed01)"),
        ("ldr r0, =0xe0042000\n ldr r1, [r0]", "read of 0xe0042000"),
    ],
)  # fmt: skip
def test_what_happens_to_the_pointer(build: Build, code: str, text: str) -> None:
    elf = build(f".thumb_func\n_start: {code}\n bx lr\n.align 2\n.ltorg\nother: bx lr\n")
    assert text in [f.text for f in scan_file(elf).findings]


def test_constants_that_are_no_addresses(build: Build) -> None:
    """Floats, hash multipliers and bit masks that lie in the same numbers."""
    elf = build(
        """
        #include <stdint.h>
        volatile uint32_t x; volatile float f;
        void _start(void) { f = f * 2.0f + 3.14159274f; x = x * 0x45d9f3bu ^ 0x40490fdbu;
            x |= 0xE0000000u; x &= 0xE00FFFFFu; x = x > 0x40011000u ? x : 0x50000000u;
            x = x == 0xE000ED04u; for (;;) ; }
        """,
        "-O2", "-mfloat-abi=soft", c=True,
    )  # fmt: skip
    ram = Grant("ram", "ram", 0x20000000, 0x10000)
    grants = (Grant("flash", "code", 0x08000000, 0x10000), ram)
    found = scan_file(elf, Policy(domain="vm", grants=grants)).findings
    assert found == ()


def test_a_driver_that_keeps_its_device_in_a_handle(build: Build) -> None:
    """As vendors' libraries do: what the code accesses is known at run time alone."""
    source = """
    struct handle { volatile unsigned *device; unsigned rate; } own, foreign;
    void start(struct handle *handle) { handle->device[3] = handle->rate; }
    void prepare(void) { own.device = (volatile unsigned *)0x40011000; }
    void reach_out(void) { foreign.device = (volatile unsigned *)0x40004800; }
    void _start(void) { prepare(); reach_out(); start(&own); start(&foreign); for (;;) ; }
    """
    elf = build(source, "-O1", "-fno-inline", c=True)
    grants = (
        Grant("flash", "code", 0x08000000, 0x10000),
        Grant("ram", "ram", 0x20000000, 0x10000),
        Grant("USART1", "device", 0x40011000, 0x400),
    )
    (found,) = scan_file(elf, Policy(domain="vm", grants=grants)).findings
    assert (found.function, found.text) == ("reach_out", "address of 0x40004800, not granted to vm")
    assert (found.rule, found.certainty) == ("mmio", "possible")
    assert "may be a number" in found.fix


def test_devices_need_a_grant(build: Build) -> None:
    source = """
    #define REG(a) (*(volatile unsigned *)(a))
    void granted(void) { REG(0x40011004) = 1; }
    void foreign(void) { REG(0x40020014) |= 32; }
    void timer(void) { REG(0x40000024) = 0; }
    void _start(void) { granted(); foreign(); timer(); for (;;) ; }
    """
    elf = build(source, "-O1", "-fno-inline", c=True)
    grants = (
        Grant("flash", "code", 0x08000000, 0x10000),
        Grant("USART1", "device", 0x40011000, 0x400),
    )
    report = scan_file(elf, Policy(domain="vm", grants=grants))
    assert [(f.rule, f.function, f.text, f.severity) for f in report.findings] == [
        ("mmio", "foreign", "read of 0x40020014, not granted to vm", "policy"),
        ("mmio", "foreign", "write to 0x40020014, not granted to vm", "policy"),
        ("mmio", "timer", "write to 0x40000024, not granted to vm", "policy"),
    ]
    assert report.verdict == "warn"
    assert scan_file(elf).verdict == "accept"


def test_what_may_only_be_read_is_not_written_to(build: Build) -> None:
    source = """
    #define REG(a) (*(volatile unsigned *)(a))
    void reader(void) { (void) REG(0x20018004); }
    void writer(void) { REG(0x20018008) = 1; }
    void _start(void) { reader(); writer(); for (;;) ; }
    """
    elf = build(source, "-O1", "-fno-inline", c=True)
    flash, shared = ("flash", "code", 0x08000000, 0x10000), ("told", "shared", 0x20018000, 0x40)
    for writable, found in ((True, []), (False, [("writer", "write to 0x20018008, which vm may")])):
        grants = (Grant(*flash, writable=False), Grant(*shared, writable=writable))
        report = scan_file(elf, Policy(domain="vm", grants=grants))
        assert [(f.function, f.text[:33]) for f in report.findings if f.rule == "mmio"] == found


def test_memory_and_bit_bands_need_a_grant(build: Build) -> None:
    source = """
    #define REG(a) (*(volatile unsigned *)(a))
    static volatile int own;
    void other_vm(void) { REG(0x20010000) = 1; }
    void shared(void) { REG(0x20018004) = 1; }
    void pin(void) { REG(0x42408280) = 1; }
    void identity(void) { own = REG(0x1FFF7A10); }
    void foreign(void) { ((void (*)(void))0x20010101)(); }
    void _start(void) { own = 1; other_vm(); shared(); pin(); identity(); foreign(); for (;;) ; }
    """
    elf = build(source, "-O1", "-fno-inline", c=True)
    grants = (
        Grant("flash", "code", 0x08000000, 0x10000),
        Grant("ram", "ram", 0x20000000, 0x10000),
        Grant("buffer", "shared", 0x20018000, 0x1000),
    )
    found = {
        f.function: f.text for f in scan_file(elf, Policy(domain="vm", grants=grants)).findings
    }
    assert found == {
        "other_vm": "write to 0x20010000, not granted to vm",
        "pin": "write to 0x42408280 (bit 0 of 0x40020414), not granted to vm",
        "identity": "read of 0x1fff7a10, not granted to vm",
        "foreign": "jump to 0x20010101, not granted to vm",
    }


@pytest.mark.parametrize(("cpu", "name"), [("cortex-m7", "RASR"), ("cortex-m33", "RLAR")])
def test_names_are_those_of_the_core(build: Build, cpu: str, name: str) -> None:
    elf = build(".thumb_func\n_start: ldr r0, =0xe000eda0\n str r1, [r0]\n bx lr\n", cpu=cpu)
    assert [f.text for f in scan_file(elf).findings] == [f"write to MPU->{name}"]


def test_a_pointer_that_comes_from_an_ungranted_device_into_a_callee(build: Build) -> None:
    source = """
    void set(volatile unsigned *port, unsigned pin) { port[6] = 1u << pin; }
    void _start(void) { set((volatile unsigned *)0x40020400, 3); for (;;) ; }
    """
    elf = build(source, "-O1", "-fno-inline", c=True, cpu="cortex-m0plus")
    grants = (Grant("flash", "code", 0x08000000, 0x10000),)
    found = scan_file(elf, Policy(domain="vm", grants=grants)).findings
    assert [(f.function, f.text) for f in found] == [
        ("set", "write to 0x40020418, not granted to vm")
    ]
