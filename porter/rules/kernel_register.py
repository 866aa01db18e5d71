"""Registers of the core that the kernel sets up for everybody."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.asm.translate import CLOSES_FPU
from porter.judging.unit import Unit
from porter.judging.verdict import Verdict
from porter.meaning.bits import ones, zeros
from porter.meaning.deep_sleep import OTHERS_DEEP, sets_others_deep
from porter.meaning.fpu_access import only_opens, opens_others
from porter.rules.address import names_variable
from porter.rules.removed import remove_accesses
from porter.rules.rule import Rule, Sample
from porter.sites.access import Access
from porter.source.c_tree import text_of, walk

_SLEEPONEXIT = 1 << 1
_SEVONPEND = 1 << 4
_MONITOR = 0xF << 16  # DEMCR's MON_EN, MON_PEND, MON_STEP, MON_REQ (Armv7-M, C1.6.5)
_COMPARATORS = range(0x18, 0x58)  # DWT_COMP0 to DWT_FUNCTION3, counted from 0xE0001008 (C1.8.2)
_CPACR = "#define CPACR (*(volatile unsigned *)0xE000ED88)\n"
_SHP = (  # a member with another name in CMSIS 6
    "typedef struct { unsigned others[6]; volatile unsigned char SHP[12]; } SCB_Type;\n"
    "#define SHPR SHP\n#define SCB ((SCB_Type *)0xE000ED00)\n"
)
_NO_MONITOR = (
    "a machine has no debug monitor: what pends DebugMon to run later is virt_yield() or an event, "
    "and what steps or watches is for a debugger outside"
)
_NO_WATCHPOINT = "a machine has no watchpoints: they are for a debugger outside"
_DEMCR = (
    "#define DEMCR (*(volatile unsigned *)0xE000EDFC)\n"
    "#define DWT ((volatile unsigned *)0xE0001000)\n"
)
_REASONS = {
    "SCB->VTOR": "the vector table is the kernel's",
    "SCB->SHP": "system vectors have a fixed order",
    "SCB->CCR": "the kernel configures the core",
    "SCB->SHCSR": "the kernel takes every fault",
    "SCB->CFSR": "the kernel takes every fault",
    "SCB->HFSR": "the kernel takes every fault",
    "SCB->DFSR": "the kernel takes every fault",
    "SCB->AFSR": "the kernel takes every fault",
    "SCB->CPUID": "the description says which core it is",
    "SCB->ID": "the description says which core it is",
    "FPU->ID": "the description says which core it is",
    "SCB->AIRCR": "virtual priorities have no sub-priority",
    "FPU->FPCCR": "the kernel keeps the floating-point state of every thread",
    "FPU->FPDSCR": "the kernel keeps the floating-point state of every thread",
    "SCnSCB->ACTLR": "the kernel configures the core",
    "CoreDebug->DEMCR": "the kernel runs the cycle counter",
    "DWT->CTRL": "the kernel runs the cycle counter",
    "DWT->*": "the kernel runs the cycle counter",
}


class KernelRegister(Rule):
    """Set-up of the core, and code that only looks at it to check itself."""

    id = "kernel-register"
    finds = "SCB, FPU and debug registers: VTOR, CPACR, CCR, SHP, SHCSR, FPCCR, DEMCR, DWT->CTRL"
    becomes = "nothing"
    why = "they exist once, belong to the kernel, and fault when a machine touches them"
    samples = (
        Sample(
            "#define VTOR (*(volatile unsigned *)0xE000ED08)\n"
            "void f(void)\n{\n    VTOR = 0x08000000;\n    g();\n}\n",
            "#define VTOR (*(volatile unsigned *)0xE000ED08)\nvoid f(void)\n{\n    g();\n}\n",
        ),
        Sample(
            "#define VTOR (*(volatile unsigned *)0xE000ED08)\nvoid (*table[64])(void);\n"
            "void f(int n, void (*h)(void)) { VTOR = (unsigned)table; table[n + 16] = h; }\n",
            "",
            escalates=True,
        ),
        Sample(
            "#define VTOR (*(volatile unsigned *)0xE000ED08)\nunsigned f(void) { return VTOR; }\n",
            "",
            escalates=True,
        ),
        Sample(
            _SHP + "void f(void)\n{\n    unsigned n;\n    SCB->SHPR[10] = 0xFF;\n"
            "    n = 32 - __builtin_clz(~(SCB->SHPR[10] | 0xFFFFFF00));\n"
            "    SCB->SHPR[7] = 0xFEu << n;\n    g();\n}\n",
            _SHP + "void f(void)\n{\n    g();\n}\n",
        ),
        Sample(_SHP + "int f(void) { return SCB->SHPR[10]; }", "", escalates=True),
        Sample(
            _CPACR + "void f(void) { CPACR |= 0xFu << 20; g(); }", _CPACR + "void f(void) { g(); }"
        ),
        Sample(
            _CPACR + "extern unsigned x;\nvoid f(void) { CPACR = (CPACR & ~x) | 0x00F00000; g(); }",
            _CPACR + "extern unsigned x;\nvoid f(void) { g(); }",
        ),
        Sample(
            _DEMCR + "void f(void) { DEMCR |= 1u << 24; g(); }", _DEMCR + "void f(void) { g(); }"
        ),
        Sample(_DEMCR + "void f(void) { DEMCR |= 1u << 17; }", "", escalates=True),
        Sample(
            _DEMCR + "void f(void) { DWT[0xFB0 / 4] = 0xC5ACCE55; g(); }",
            _DEMCR + "void f(void) { g(); }",
        ),
        Sample(_DEMCR + "void f(void) { DWT[8] = 0x20000000; }", "", escalates=True),
        Sample(_CPACR + "void f(void) { CPACR &= ~(0xFu << 20); }", "", escalates=True),
        Sample(_CPACR + "void f(void) { CPACR = 0; }", "", escalates=True),
        Sample(_CPACR + "void f(unsigned x) { CPACR = x; }", "", escalates=True),
    )

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Register by register."""
        for access in unit.accesses():
            if (problem := _monitors(unit, access)) is not None:
                yield self.escalated(access.site, problem)
        groups: dict[str, list[Access]] = {}
        for access in list(unit.accesses()):
            if (table := _filled_table(unit, access)) is not None:
                yield self.escalated(
                    access.site,
                    f"the program puts handlers into {table} while it runs, and the kernel calls "
                    "those that the description names: name them there, one for each interrupt",
                )
            elif access.register is not None and (reason := _reason(unit, access)) is not None:
                groups.setdefault(reason, []).append(access)
        for reason, accesses in groups.items():
            yield from remove_accesses(self, unit, accesses, reason, waits_end=False)
        for access in unit.accesses():
            if str(access.register) == "SCB->SCR" and _wakes_by_pending(unit, access):
                yield self.escalated(
                    access.site,
                    "SEVONPEND lets a line that is closed end a wait, and a machine's ends by its "
                    "vectors only: open the line",
                )
            elif str(access.register) == "SCB->SCR" and sets_others_deep(unit, access):
                yield self.escalated(access.site, OTHERS_DEEP)
            if str(access.register) != "SCB->CPACR":
                continue
            if access.use == "write" and opens_others(unit, access):
                yield self.escalated(
                    access.site,
                    "SCB->CPACR opens a coprocessor besides the FPU, which no machine is granted: "
                    "take out what uses it",
                )
            elif access.use == "write" and not only_opens(unit, access):
                yield self.escalated(access.site, f"SCB->CPACR is written: {CLOSES_FPU}")
            elif access.use == "address" and not names_variable(unit, access):
                yield self.escalated(
                    access.site,
                    f"what is written through CPACR's address isn't known: {CLOSES_FPU}",
                )
            elif not _grants_fpu(unit):
                yield self.escalated(
                    access.site, "switches the FPU on, but the description doesn't grant it"
                )


def _filled_table(unit: Unit, access: Access) -> str | None:
    """The array that VTOR is pointed at, if the program writes its elements."""
    if str(access.register) != "SCB->VTOR" or access.use != "write" or access.value is None:
        return None
    for node in walk(access.value):
        name = text_of(node)
        if node.type == "identifier" and unit.sources_have(
            re.compile(rb"\b%s\s*\[[^;\]]*\](?:\s*\.\s*\w+)?\s*=(?!=|\s*\{)" % re.escape(name))
        ):
            return name.decode("latin-1")
    return None


def is_removable(register: str) -> bool:
    """Whether writes to a register are simply taken out."""
    return register in _REASONS or register == "SCB->CPACR"


def _monitors(unit: Unit, access: Access) -> str | None:
    """Why a write to debug registers does more than to switch on what the kernel runs anyway."""
    if access.use != "write" or access.value is None or access.register is None:
        return None
    evaluator, scope = unit.text.evaluator, access.context.scope
    if str(access.register) == "CoreDebug->DEMCR":
        sets = access.operator != b"&=" and ones(access.value, evaluator, scope) & _MONITOR
        return _NO_MONITOR if sets else None
    watches = str(access.register) == "DWT->*" and access.register.offset in _COMPARATORS
    return _NO_WATCHPOINT if watches and evaluator.number(access.value, scope) != 0 else None


def _reason(unit: Unit, access: Access) -> str | None:
    name = str(access.register)
    if _monitors(unit, access) is not None:
        return None
    if name == "SCB->SCR" and _wakes_by_pending(unit, access):
        return None
    if name == "SCB->SCR" and _never_sleeps_on_exit(unit, access):
        is_decided = not sets_others_deep(unit, access)
        return "how deep the core sleeps is the kernel's choice" if is_decided else None
    if name == "SCB->CPACR":
        takes = access.use == "write" and not only_opens(unit, access)
        return "the FPU is granted" if _grants_fpu(unit) and not takes else None
    return _REASONS.get(name)


def _wakes_by_pending(unit: Unit, access: Access) -> bool:
    """Whether a write of SCR sets SEVONPEND."""
    if access.use != "write" or access.value is None or access.operator == b"&=":
        return False
    return bool(ones(access.value, unit.text.evaluator, access.context.scope) & _SEVONPEND)


def _grants_fpu(unit: Unit) -> bool:
    return unit.domain is None or unit.domain.fpu


def _never_sleeps_on_exit(unit: Unit, access: Access) -> bool:
    """Sleeping when the last handler returns is more than a power setting: main stops running."""
    if access.use != "write" or access.value is None:
        return access.use == "read"
    if access.operator == b"&=":
        return True
    off = zeros(access.value, unit.text.evaluator, access.context.scope)
    return bool(off & _SLEEPONEXIT)
