"""Blocks that no header defines, that are another vendor's, or that the machine isn't given."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from porter.judging.verdict import Status
from porter.port import port_project
from tests.porter.helpers import DOMAIN, escalations, port_files

CHIPS = b"""#include <stdint.h>
typedef struct { volatile uint32_t r[49], PCONP; } LPC_SC_TypeDef;
typedef struct { volatile uint32_t TASKS_HFCLKSTART; } NRF_CLOCK_Type;
typedef struct { volatile uint32_t r[1025], SCGC4, SCGC5; } SIM_Type;
typedef struct { volatile uint32_t WDT_CR, WDT_MR; } Wdt;
#define LPC_SC ((LPC_SC_TypeDef *)(0x40080000 + 0x7C000))
#define NRF_CLOCK ((NRF_CLOCK_Type *)0x40000000UL)
#define SIM_BASE (0x40047000u)
#define SIM ((SIM_Type *)SIM_BASE)
#define WDT ((Wdt *)0x400E1450U)
#define SYSCTL_RCGCGPIO_R (*((volatile uint32_t *)0x400FE608))
#define SYSCTL_RCC 0x400FE060
#define HWREG(x) (*((volatile uint32_t *)(x)))
#define UART0_DR_R (*((volatile uint32_t *)0x4000C000))
#define FLASH_FMA_R (*((volatile uint32_t *)0x400FD000))
#define FLASH_FMPPE0_R (*((volatile uint32_t *)0x400FE400))
typedef struct { volatile uint32_t NVMSTATUS; } NVM_Type;
#define NVM ((NVM_Type *)0x40050000UL)
#define SBMATRIX ((Wdt *)0x41007000U)
"""


@pytest.mark.parametrize(
    ("code", "what"),
    [
        (b"LPC_SC->PCONP |= 1;", "LPC_SC->PCONP at 0x400FC0C4"),
        (b"NRF_CLOCK->TASKS_HFCLKSTART = 1;", "NRF_CLOCK->TASKS_HFCLKSTART at 0x40000000"),
        (b"SIM->SCGC5 |= 3;", "SIM->SCGC5 at 0x40048008"),
        (b"((SIM_Type *)SIM_BASE)->SCGC4 = 1;", "SIM->SCGC4 at 0x40048004"),
        (b"SIM_Type *s = get(); s->SCGC4 = 1;", "SIM->SCGC4"),
        (b"WDT->WDT_MR = 1u << 15;", "WDT->WDT_MR at 0x400E1454"),
        (b"SYSCTL_RCGCGPIO_R |= 1;", "SYSCTL_RCGCGPIO_R at 0x400FE608"),
        (b"HWREG(SYSCTL_RCC) = 1;", "SYSCTL_RCC at 0x400FE060"),
        (b"FLASH_FMA_R = 0x8000;", "FLASH_FMA_R at 0x400FD000"),
        (b"FLASH_FMPPE0_R &= ~1u;", "FLASH_FMPPE0_R at 0x400FE400"),
        (b"NVM->NVMSTATUS = 1;", "NVM->NVMSTATUS at 0x40050000"),
        (b"SBMATRIX->WDT_CR = 1;", "SBMATRIX->WDT_CR at 0x41007000"),
        (b"*(volatile uint32_t *)0x400FC0C4 = 1;", "LPC_SC at 0x400FC0C4"),
    ],
)
def test_what_serves_the_whole_chip_is_told(tmp_path: Path, code: bytes, what: str) -> None:
    text = CHIPS + b"SIM_Type *get(void);\nvoid f(void) { " + code + b" }\n"
    (told,) = escalations(port_files(tmp_path, {"main.c": text}, None))
    assert f": {what} serves the whole chip" in told


@pytest.mark.parametrize(
    ("code", "what"),
    [
        (b"*(volatile uint32_t *)0x400E1800 = 1;", "what is behind GPIOE at 0x400E1800"),
        (b"CLOCK->SCER = 1;", "clock_reg->SCER at 0x400E1700"),
        (b"GPIOE->PER = 1;", "GPIOE->PER at 0x400E1600"),
    ],
)
def test_what_lies_behind_a_block_is_not_the_block(code: bytes, what: str, tmp_path: Path) -> None:
    head = (
        b"typedef struct { volatile uint32_t PER, PDR; } gpio_reg;\n"
        b"typedef struct { volatile uint32_t SCER, SCDR; } clock_reg;\n"
        b"#define GPIOE ((gpio_reg *)0x400E1600)\n#define CLOCK ((clock_reg *)0x400E1700)\n"
    )
    text = b"#include <stdint.h>\n" + head + b"void f(void) { " + code + b" }\n"
    (told,) = escalations(port_files(tmp_path, {"main.c": text}, None))
    assert what in told and "hyp_pin_write" not in told, told


@pytest.mark.parametrize("name", ["M0P_CLOCK", "CW_SYSCTRL", "MXC_GPIO0", "FM4_HWWDT", "TSB_PA"])
def test_a_block_is_told_by_what_its_name_says_it_serves(tmp_path: Path, name: str) -> None:
    text = (
        "typedef struct { volatile unsigned CTRL; } block;\n"
        f"#define {name}_BASE 0x40002000UL\n#define {name} ((block *){name}_BASE)\n"
        f"void f(void) {{ {name}->CTRL = 1; }}\n"
    )
    (told,) = escalations(port_files(tmp_path, {"main.c": text.encode()}, None))
    assert "->CTRL at 0x40002000 serves the whole chip" in told


def test_a_projects_name_for_a_port_is_that_port(tmp_path: Path) -> None:
    text = (
        "typedef struct { volatile unsigned MODER, r[4], ODR, BSRR; } GPIO_TypeDef;\n"
        "#define GPIOA ((GPIO_TypeDef *)0x40020000)\n#define LED_GPIO GPIOA\n"
        "#define KEY_PORT ((GPIO_TypeDef *)0x40020000)\n"
        "void f(void) { LED_GPIO->BSRR = 1u << 5; KEY_PORT->BSRR = 1u << 5; }\n"
    )
    result = port_files(tmp_path, {"main.c": text.encode()})
    assert escalations(result) == []
    assert result.files[0].ported.count(b"hyp_pin_write(0, 1u << 5)") == 2


PURPOSES = b"""#include <stdint.h>
typedef struct { volatile uint32_t PDOR, PSOR, PCOR, PTOR, PDIR, PDDR; } GPIO_Type;
typedef union { struct { uint32_t a : 1; } bit; uint32_t reg; } word_t;
typedef struct { struct { volatile word_t DIR, OUTSET; } Group[2]; } Port;
typedef struct { volatile uint32_t CNT, FCCOBHI, SRVCOP, SCGC5; } Block;
#define PTA ((GPIO_Type *)0x400FF000u)
#define PORT ((Port *)0x41004400u)
#define WDOG ((Block *)0x40052000u)
#define FTMRE ((Block *)0x40020000u)
#define SIM ((Block *)0x40047000u)
#define WDT ((Port *)0x40001000u)
#define GPIO_PORTF_DATA_R (*((volatile uint32_t *)0x400253FC))
#define GPIO_PORTF_ODR_R (*((volatile uint32_t *)0x4002550C))
#define FLASH_FMC_R (*((volatile uint32_t *)0x400FD008))
#define SIM_SRVCOP (*((volatile uint32_t *)0x40048104))
"""


@pytest.mark.parametrize(
    ("code", "what"),
    [
        (b"PTA->PTOR = 1;", "hyp_pin_write()"),
        (b"PTA->PDDR |= 1;", "set it up before the machines start"),
        (b"PORT->Group[0].OUTSET.reg = 1;", "hyp_pin_write()"),
        (b"PORT->Group[0].DIR.reg = 1;", "set it up before the machines start"),
        (b"GPIO_PORTF_DATA_R ^= 2;", "hyp_pin_write()"),
        (b"GPIO_PORTF_ODR_R ^= 2;", "set it up before the machines start"),
        (b"*(volatile uint32_t *)0x400FF040 = 1;", "if it sets or reads pins"),
        (b"WDOG->CNT = 0x02A6;", "hyp_wdg_clr()"),
        (b"SIM->SRVCOP = 0x55;", "hyp_wdg_clr()"),
        (b"SIM_SRVCOP = 0x55;", "hyp_wdg_clr()"),
        (b"SIM->SCGC5 = 1;", "set it up before the machines start"),
        (b"FTMRE->FCCOBHI = 9;", "programming the flash"),
        (b"FLASH_FMC_R = 2;", "programming the flash"),
    ],
)
def test_what_is_done_while_it_runs_is_told_by_its_kind(
    tmp_path: Path, code: bytes, what: str
) -> None:
    text = PURPOSES + b"void f(void) { " + code + b" }\n"
    (told,) = escalations(port_files(tmp_path, {"main.c": text}, None))
    kinds = ("hyp_pin_write(), ", "hyp_wdg_clr()", "programming the flash", "set it up before")
    assert what in told and sum(kind in told for kind in kinds) == 1
    assert ("if it sets or reads pins" in told) == (what == "if it sets or reads pins")


@pytest.mark.parametrize(
    ("code", "remedy"),
    [
        (b"SIM->SCGC5 |= 3;", "set it up before the machines start"),
        (b"WDT->WDT_MR = 1;", "hyp_wdg_clr() feeds"),
        (b"FLASH_FMA_R = 0x8000;", "programming the flash would touch"),
        (b"GPIO_PORTF_DATA_R = 2;", "hyp_pin_write()"),
    ],
)
def test_what_a_machine_has_instead_is_said(tmp_path: Path, code: bytes, remedy: str) -> None:
    port = b"#define GPIO_PORTF_DATA_R (*((volatile uint32_t *)0x400253FC))\n"
    text = CHIPS + port + b"void f(void) { " + code + b" }\n"
    (told,) = escalations(port_files(tmp_path, {"main.c": text}, None))
    assert "serves the whole chip" in told and remedy in told


@pytest.mark.parametrize(
    ("grants", "escalated"),
    [(None, 0), ((range(0x4000C000, 0x4000C400),), 0), ((range(0x40004400, 0x40004800),), 1)],
)
@pytest.mark.parametrize(
    "code", [b"UART0_DR_R = 1;", b"*(volatile char *)0x4000C000 = 1;", b"HWREG(0x4000C008) = 1;"]
)
def test_a_device_has_to_be_granted(
    tmp_path: Path, grants: tuple[range, ...] | None, escalated: int, code: bytes
) -> None:
    text = CHIPS + b"void f(void) { " + code + b" }\n"
    result = port_files(tmp_path, {"main.c": text}, replace(DOMAIN, grants=grants))
    told = escalations(result)
    assert len(told) == escalated
    assert all("isn't granted to sample" in it for it in told)


@pytest.mark.parametrize(
    ("code", "name"),
    [
        (b"AFIO->MAPR |= 2;", "AFIO"),
        (b"x = AFIO->MAPR;", "AFIO"),
        (b"PORTA.OUT = 1;", "PORTA"),
        (b"SYSCTL_RCGC2_R |= 0x20;", "SYSCTL_RCGC2_R"),
        (b"PORTB++;", "PORTB"),
        (b"HWREG(0x400FE108) = 2;", "HWREG"),
        (b"BLOCKS[2].CR = 1;", "BLOCKS"),
        (b"LED_PORT |= 1;", "LED_PORT"),
    ],
)
def test_a_block_that_no_header_defines_is_told(tmp_path: Path, code: bytes, name: str) -> None:
    start = b'#include "chip.h"\n#define LED_PORT PORTB\nint x;\n'
    result = port_files(tmp_path, {"main.c": start + b"void f(void) { " + code + b" }\n"})
    (told,) = escalations(result)
    assert told.startswith(f"{name}: {name} is defined by no header that was found")


@pytest.mark.parametrize(
    "code",
    [
        b"void f(void) { int N; N = 3; N++; }",
        b"struct s { int x; };\nvoid f(struct s *S) { S->x = 1; }",
        b"struct s { int x; } TABLE[2];\nvoid f(void) { TABLE[1].x = 1; }",
        b"extern int COUNT;\nvoid f(void) { COUNT = 1; }",
        b"#define VALUE(x) (*(x))\nvoid f(int *p) { VALUE(p) = 1; }",
        b"enum { A };\nint t[2];\nvoid f(void) { t[A] = 1; }",
    ],
)
def test_what_is_declared_is_no_hardware(tmp_path: Path, code: bytes) -> None:
    assert not port_files(tmp_path, {"main.c": code + b"\n"}).files


def test_the_cores_blocks_are_known_without_headers(tmp_path: Path) -> None:
    code = b"DCB->DEMCR |= 1u << 24; SCnSCB->ACTLR = 1; CoreDebug->DEMCR |= 1; SCB->SHPR[3] = 0;"
    result = port_files(tmp_path, {"main.c": b"void f(void) { " + code + b" }\n"})
    verdicts = [verdict for port in result.files for verdict in port.verdicts]
    assert [verdict.status for verdict in verdicts] == [Status.REWRITTEN] * 4


@pytest.mark.parametrize(("core", "sites"), [(0, 0), (3, 1), (4, 1), (7, 0)])
def test_only_some_cores_have_aliases_of_bits(tmp_path: Path, core: int, sites: int) -> None:
    """A SAMD21 has its timers where a Cortex-M4 has the bits of other registers."""
    text = f"#define __CORTEX_M ({core}U)\n#define TC3 (*(volatile int *)0x42002C00)\n"
    result = port_files(tmp_path, {"main.c": text.encode() + b"void f(void) { TC3 = 1; }\n"})
    assert len(escalations(result)) == sites


def test_without_a_description_devices_that_count_as_the_machines_are_named(tmp_path: Path) -> None:
    text = b"typedef struct { volatile uint32_t DR; } Uart;\n#define UART ((Uart *)0x4000C000)\n"
    text += b"void f(void) { UART->DR = HWREG(0x40010000); }\n"
    (tmp_path / "main.c").write_bytes(CHIPS + text)
    assert port_project(tmp_path).devices == {0x4000C000: "UART", 0x40010000: "HWREG"}


def test_a_device_that_is_a_macro_alone_is_named_too(tmp_path: Path) -> None:
    text = b"#define MUX (*(volatile unsigned *)0x4002C000)\nvoid f(void) { MUX = 1; }\n"
    (tmp_path / "main.c").write_bytes(text)
    assert port_project(tmp_path).devices == {0x4002C000: "MUX"}


def test_pins_where_ram_would_be_are_no_ram(tmp_path: Path) -> None:
    text = b"typedef struct { volatile unsigned FIODIR; } LPC_GPIO_TypeDef;\n"
    text += b"#define LPC_GPIO0 ((LPC_GPIO_TypeDef *)0x2009C000)\n"
    text += b"void f(void) { LPC_GPIO0->FIODIR = 1; *(volatile unsigned *)0x2009C014 = 1; }\n"
    found = escalations(port_files(tmp_path, {"main.c": text}))
    assert len(found) == 2 and all("serves the whole chip" in reason for reason in found)


@pytest.mark.parametrize(
    "name",
    ["AXBS", "SYSMPU", "MC_CGM", "ANADIG_PLL", "FMU0", "NRF_ACL", "NRF_RRAMC", "MATRIX0", "HIB",
     "DDI_0_OSC", "VIMS", "SMU_S", "CMU_NS", "PRS", "PBA0", "ERU1", "PERI_MS", "PROT", "BUSCTRL",
     "POWMAN", "M4_CMU", "CM_RMU", "R_BUS", "R_TZF", "AHB_SECURE_CTRL", "OTFDEC1", "PAU", "HSEM"],
)  # fmt: skip
def test_what_routes_protects_and_clocks_a_chip_is_known(tmp_path: Path, name: str) -> None:
    text = f"typedef struct {{ volatile unsigned CTL; }} B;\n#define {name} ((B *)0x400A0000u)\n"
    text += f"void f(void) {{ {name}->CTL = 1; }}\n"
    (told,) = escalations(port_files(tmp_path, {"main.c": text.encode()}, None))
    assert f"{name}->CTL at 0x400A0000 serves the whole chip" in told


XMC = b"""#include <stdint.h>
typedef struct { volatile uint32_t PLLSTAT, PLLCON0; } SCU_PLL_TypeDef;
typedef struct { volatile uint32_t OVRSTAT, OVRCLR, SRSEL0; } GPDMA_Type;
#define SCU_PLL_BASE 0x50004710UL
#define PREF_BASE 0x58004000UL
#define PREF_MORE_BASE 0x58004020UL
#define DLR_BASE 0x50004900UL
#define SCU_PLL ((SCU_PLL_TypeDef *)SCU_PLL_BASE)
#define DLR ((GPDMA_Type *)DLR_BASE)
"""


@pytest.mark.parametrize(
    ("code", "block"),
    [
        (b"SCU_PLL->PLLCON0 = 1;", "SCU_PLL->PLLCON0 at 0x50004714"),
        (b"*(volatile uint32_t *)(SCU_PLL_BASE + 0x10) = 1;", "SCU_PLL at 0x50004720"),
        (b"*(volatile uint32_t *)(PREF_MORE_BASE + 4) = 1;", "PREF at 0x58004024"),
        (b"DLR->SRSEL0 = 1;", None),
    ],
)
def test_a_block_ends_where_the_next_one_begins(
    tmp_path: Path, code: bytes, block: str | None
) -> None:
    text = XMC + b"void f(void) { " + code + b" }\n"
    found = escalations(port_files(tmp_path, {"main.c": text}, None))
    assert [it.partition(": ")[2].partition(" serves")[0] for it in found] == [block][: bool(block)]


GIVEN = b"""\
struct block { volatile unsigned KEYR; };
struct flash { struct block *at; };
static void begin(struct flash *f, unsigned at) { f->at = (struct block *)at; f->at->KEYR = 1; }
void f(struct flash *f) { begin(f, 0x4001F000); }
"""


def test_an_address_that_is_handed_on_as_a_number_is_told(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_bytes(GIVEN)
    assert list(port_project(tmp_path).devices) == [0x4001F000]
    (reason,) = escalations(port_files(tmp_path, {"main.c": GIVEN}, replace(DOMAIN, grants=())))
    assert "goes where it can't be followed" in reason
    assert reason.endswith(": grant sample the device, or take this out")


CLOSED = b"""\
#include <stdint.h>
struct Registers { volatile uint16_t reserved[6], ctl; };
%s
class Wdt {
public:
    Wdt() : at(%s) {}
    void disable() const { reinterpret_cast<Registers *>(at)->ctl = 0x5A80; }
private:
    const uint32_t at;
};
int main() { Wdt wdt; wdt.disable(); for (;;) { } }
"""


@pytest.mark.parametrize(
    ("constant", "name"),
    [
        (b"constexpr uint32_t WDT_BASE = 0x40004800;", b"WDT_BASE"),
        (b"static const uint32_t WDT_BASE = 0x40004800;", b"WDT_BASE"),
        (b"namespace hw { constexpr uint32_t WDT_BASE = 0x40004800; }", b"hw::WDT_BASE"),
        (b"struct Chip { static constexpr uint32_t WDT_BASE = 0x40004800; };", b"Chip::WDT_BASE"),
    ],
)
def test_a_constant_may_be_the_address_that_is_handed_on(
    tmp_path: Path, constant: bytes, name: bytes
) -> None:
    result = port_files(tmp_path / "kept", {"main.cpp": CLOSED % (constant, name)}, None)
    (reason,) = escalations(result)
    assert "the address of WDT->0x40004800 goes where it can't be followed" in reason
    used = b"%s\nint main() { *(volatile unsigned *)%s = 1; }\n" % (constant, name)
    text = b"#include <stdint.h>\n" + used
    (reason,) = escalations(port_files(tmp_path / "used", {"main.cpp": text}, None))
    assert "WDT at 0x40004800 serves the whole chip" in reason


@pytest.mark.parametrize(
    "code",
    [
        b"static const uint32_t WDT_BASE = 0x40004800; void f(void) { set(WDT_BASE, 1); }",
        b"void f(void) { uint32_t at = WDT; set(at, 1); }",
    ],
)
def test_a_variable_may_be_the_address_that_is_handed_on(tmp_path: Path, code: bytes) -> None:
    start = b"#include <stdint.h>\n#define WDT 0x40004800\nvoid set(uint32_t at, uint32_t value);\n"
    (reason,) = escalations(port_files(tmp_path, {"main.c": start + code + b"\n"}, None))
    assert "goes where it can't be followed" in reason


@pytest.mark.parametrize(
    ("constant", "name"),
    [
        (b"constexpr uint32_t SEED = 0x40004801;", b"SEED"),
        (b"static const uint32_t LIMIT = 0x7FFFFFFF;", b"LIMIT"),
        (b"namespace hw { constexpr uint32_t WDT_BASE = 0x4800; }", b"hw::WDT_BASE"),
        (b"enum class Block : uint32_t { WDT = 3 };", b"(uint32_t)Block::WDT"),
        (
            b"struct Wd { static constexpr uint32_t AT = 0x40004800, WDT = AT; };\n"
            b"#define GIVE(AT) note(AT)\nvoid note(int);",
            b"3",
        ),
    ],
)
def test_a_constant_that_is_no_address_is_handed_on_as_it_is(
    tmp_path: Path, constant: bytes, name: bytes
) -> None:
    assert not port_files(tmp_path, {"main.cpp": CLOSED % (constant, name)}, None).files


BY_CLASSES = b"""\
template <unsigned at> struct Register {
    static void write(unsigned v) { *reinterpret_cast<volatile unsigned *>(at) = v; }
};
static constexpr unsigned RCU_AT = 0x40021000;
%s
%s
"""
RISCV = b'void own() { asm volatile("csrs mstatus, %0" :: "r"(8)); }'


@pytest.mark.parametrize("core", [RISCV, b""])
@pytest.mark.parametrize(
    ("classes", "argument"),
    [
        (b"struct RCU { struct APB2EN : public Register<0x40021018> { }; };", "<0x40021018>"),
        (b"namespace RCU { using APB2EN = Register<RCU_AT + 0x18>; }", "<RCU_AT + 0x18>"),
        (b"struct RCU { typedef Register<RCU_AT> CTL; };", "<RCU_AT>"),
        (b"namespace RCU { Register<0x40021018> apb2en; }", "<0x40021018>"),
    ],
)
def test_a_template_is_given_the_address_of_a_register(
    tmp_path: Path, core: bytes, classes: bytes, argument: str
) -> None:
    """The classes around it say which register it is, as a macro's name would."""
    result = port_files(tmp_path, {"main.cpp": BY_CLASSES % (classes, core)}, None)
    (reason,) = escalations(result)
    assert f"the address is an argument of the template Register{argument}" in reason


@pytest.mark.parametrize(
    "classes",
    [
        b"struct USART { struct DATA : public Register<0x40013804> { }; };",
        b"template <unsigned n> struct Bits { };\nstruct RCU { using CTL = Bits<0x10>; };",
        b"template <class T> struct Of { };\nstruct RCU { struct CTL : Of<int>, Of<RCU> { }; };",
    ],
)
def test_a_template_that_is_given_something_else_stays(tmp_path: Path, classes: bytes) -> None:
    assert not escalations(port_files(tmp_path, {"main.cpp": BY_CLASSES % (classes, RISCV)}, None))


@pytest.mark.parametrize("how", ["static volatile sc_t * const LPC_SC = (volatile sc_t *) %s;",
                                 "volatile sc_t * const LPC_SC = (sc_t *) %s;",
                                 "#define LPC_SC ((volatile sc_t *) %s)"])  # fmt: skip
def test_a_block_may_be_named_by_a_variable(tmp_path: Path, how: str) -> None:
    head = "typedef struct { unsigned FLASHCFG, R[48], PCON, PCONP; } sc_t;\n"
    code = head + how % "0x400FC000" + "\nvoid f(void) { LPC_SC->PCONP |= 1u << 30; }\n"
    reasons = escalations(port_files(tmp_path, {"main.c": code.encode()}, None))
    assert any("LPC_SC->PCONP at 0x400FC0C8 serves the whole chip" in it for it in reasons)


@pytest.mark.parametrize(
    ("block", "register"),
    [
        ("(*(struct mcg *)0x40064000)", "(MCG_BLOCK.C1)"),
        ("((struct mcg *)0x40064000)", "MCG_BLOCK->C1"),
    ],
)
def test_a_register_may_be_a_member_of_a_macro(tmp_path: Path, block: str, register: str) -> None:
    text = (
        "struct mcg { volatile unsigned char C1, C2; };\n"
        f"#define MCG_BLOCK {block}\n#define MCG_C1 {register}\nvoid f(void) {{ MCG_C1 = 0x24; }}\n"
    )
    (reason,) = escalations(port_files(tmp_path, {"main.c": text.encode()}))
    assert "MCG_C1 at 0x40064000 serves the whole chip" in reason


def test_a_read_of_a_register_that_a_missing_header_names_is_told(tmp_path: Path) -> None:
    text = (
        b"#include <libopencm3/stm32/rcc.h>\n#define BUSY (FLASH_SR & 1)\n"
        b"int f(void) { while (BUSY) { } return RCC_CSR & RCC_CSR_IWDGRSTF; }\n"
        b"int g(int STK_CSR) { return STK_CSR; }\n"
    )
    found = escalations(port_files(tmp_path, {"main.c": text}))
    assert [it.partition(":")[0] for it in found] == ["FLASH_SR", "RCC_CSR"]
