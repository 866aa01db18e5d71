"""Clocks, pins, power and flash timing: set up once, before any machine runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from porter.judging.unit import Unit
from porter.judging.verdict import Status, Verdict
from porter.meaning.bits import ones, zeros
from porter.meaning.boot_state import idle_askers, known_read, never_asked, who_asks
from porter.meaning.deep_sleep import deep_sleep
from porter.meaning.expressions import bare, is_truth_test, mask_around, same_text, source
from porter.meaning.only_clears import only_clears
from porter.meaning.pin_pulse import choices, is_toggle, pulses
from porter.meaning.unmade_set_up import cleared_later, never_ready, unmade
from porter.rules.removed import remove_accesses
from porter.rules.rule import Rule, Sample
from porter.sites.access import Access
from porter.source.c_tree import text_of
from porter.source.edit import Edit
from porter.source.truth import binary

REASON = "boot table"
_READY = re.compile(rb"\w*RDY\w*|RCC_FLAG_\w*RDY")
_RESETS = re.compile(r"\w*RSTR\d*")
_NAMES_OTHER = re.compile(r"(?:ENR\d?|CFGR\d?|CIR|BDCR|CSR|_CR)\Z")
_HANDLES_LINE = re.compile(rb"\b(?:EXTI\w*_IRQHandler|exti\w*_isr)\s*\([^;{}()]*\)\s*\{")
# EMR and EMR2, or EMR1 and EMR2 of families with CPUIMR, where no struct names them.
_EVENTS = frozenset({"+0x04", "+0x24", "+0x84", "+0x94"})
_NAMES_EVENTS = re.compile(r"(?<![A-Za-z])EMR\d?\b")
REMOVED_WHOLE = frozenset({"RCC", "SYSCFG", "AFIO"})
_REGISTERS = frozenset(
    {
        "FLASH->ACR",
        "PWR->CR", "PWR->CR1", "PWR->CR2", "PWR->CR3", "PWR->CR4", "PWR->CSR", "PWR->D3CR",
        "GPIO->MODER", "GPIO->OTYPER", "GPIO->OSPEEDR", "GPIO->PUPDR", "GPIO->AFR", "GPIO->AFRL",
        "GPIO->AFRH", "GPIO->LCKR", "GPIO->ASCR", "GPIO->CRL", "GPIO->CRH",
    }
)  # fmt: skip
_MANY = 8  # blocks of a bus
_ALL_RESET = (
    "resets all blocks of a bus, those that were used before, too, which no boot table does: put "
    "the machine's own devices back by their registers, or hyp_reboot()"
)
_PULSE = (
    "a pin's mode is changed twice with time in between, which no boot table does: if the pulse "
    "matters, give the machine the pin and drive it with hyp_pin_write(), else keep the last change"
)
_CHOICE = (
    "a pin's mode depends on something here, which no boot table knows: give the machine the pin "
    "and drive it with hyp_pin_write(), or keep one mode"
)
_SWITCHED_OFF = (
    "is asked whether a block has its clock, and the program also takes that away, which a machine "
    "can't: keep in a variable what the program wants to know"
)
_SLOW = (
    "#define BDCR (*(volatile unsigned *)0x40023870)\n"
    "#define CSR (*(volatile unsigned *)0x40023874)\n"
)
_SAMPLE_HEADER = (
    "typedef struct { volatile unsigned CR, PLLCFGR, CFGR; } RCC_TypeDef;\n"
    "#define RCC ((RCC_TypeDef *)0x40023800)\n"
)


class BootTable(Rule):
    """Set-up writes go; so do the loops that wait for what they switch on."""

    id = "boot-table"
    finds = "writes to RCC, SYSCFG, PWR, FLASH->ACR and GPIO modes, and waits for ready flags"
    becomes = "nothing: the description's clocks and pins become the kernel's boot table"
    why = "two firmwares would both write them; the kernel does it once and waits once"
    samples = (
        Sample(
            _SAMPLE_HEADER + "void f(void)\n{\n    int n = 9;\n\n    RCC->CR |= 1;\n"
            "    while ((RCC->CR & 2) == 0 && n != 0) {\n        n--;\n    }\n    g();\n}\n",
            _SAMPLE_HEADER + "void f(void)\n{\n    g();\n}\n",
        ),
        Sample(
            _SAMPLE_HEADER + "#define RCC_CR_PLLRDY (1u << 25)\n"
            "int f(void) { return (RCC->CR & RCC_CR_PLLRDY) != 0; }\n",
            _SAMPLE_HEADER + "#define RCC_CR_PLLRDY (1u << 25)\n"
            "int f(void) { return (RCC_CR_PLLRDY) != 0; }\n",
        ),
        Sample(
            _SAMPLE_HEADER + "int g;\nvoid f(void) { g = 1, RCC->CR |= 1; RCC->CR |= 2, g = 2; }\n",
            _SAMPLE_HEADER + "int g;\nvoid f(void) { g = 1; g = 2; }\n",
        ),
        Sample(_SAMPLE_HEADER + "unsigned f(void) { return RCC->CFGR; }\n", "", escalates=True),
        Sample(_SLOW + "void f(void) { CSR |= 1u; }\n", "", escalates=True),
        Sample(_SLOW + "void f(void) { CSR |= 1u << 8; }\n", "", escalates=True),
        Sample(_SLOW + "void f(void) { BDCR |= 1u << 15; }\n", "", escalates=True),
        Sample(_SLOW + "void f(void) { CSR |= 1u << 24; }\n", _SLOW + "void f(void) { }\n"),
        Sample(
            "typedef struct { volatile unsigned CR; } PWR_TypeDef;\n"
            "#define PWR ((PWR_TypeDef *)0x40007000)\nvoid f(void) { PWR->CR |= 2; }\n",
            "",
            escalates=True,
        ),
    )

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """All of a file's set-up at once: one write may use what another read."""
        accesses = [
            access
            for access in unit.accesses()
            if is_set_up(access) or _is_unused_line(unit, access)
        ]
        pulsed = pulses(accesses, unit.text.evaluator)
        chosen = choices(accesses, unit.text.evaluator)
        removed: list[Access] = []
        for access in accesses:
            why = next((why for it in _STAYS if (why := it(unit, access)) is not None), None)
            if why is None and access in pulsed:
                why = f"{access.register}: {_PULSE}"
            if why is None and (access in chosen or is_toggle(access)):
                why = f"{access.register}: {_CHOICE}"
            if why is None:
                removed.append(access)
            else:
                yield self.escalated(access.site, why)
        for verdict in remove_accesses(self, unit, removed, REASON, waits_end=True):
            known = self._known(unit, verdict) or self._ready(unit, verdict)
            yield known or self._asked(unit, verdict) or verdict

    def _known(self, unit: Unit, verdict: Verdict) -> Verdict | None:
        """A read whose value is certain, or that a macro makes for nobody."""
        access = unit.access(verdict.site)
        if verdict.status is not Status.ESCALATED or access is None:
            return None
        if (edit := known_read(unit, access)) is not None:
            return self.rewritten(access.site, "as the boot table leaves it", edit)
        if never_asked(unit, access):
            return self._never_asked(unit, access)
        return None

    def _never_asked(self, unit: Unit, access: Access) -> Verdict:
        idle = list(idle_askers(unit, access))
        if not idle:
            return self.left(access.site, "no use of the macro in this project reads it")
        (use, why), file = idle[0], idle[0][0].text.file
        place = f"{file.name}:{file.line(use.start)}"
        reason = f"no use of the macro that may run reads it; {place} {why}"
        also = tuple((use.text.file.path, *use.lines) for use, _ in idle)
        return replace(self.left(access.site, reason), also=also)

    def _asked(self, unit: Unit, verdict: Verdict) -> Verdict | None:
        """Names the use of a macro for which a person is needed."""
        access = unit.access(verdict.site)
        asks = who_asks(unit, access) if access is not None else None
        if verdict.status is not Status.ESCALATED or access is None or asks is None:
            return None
        reason = f"{access.register} isn't certain at start, and {asks} asks for it"
        return self.escalated(access.site, reason)

    def _ready(self, unit: Unit, verdict: Verdict) -> Verdict | None:
        """A read of ready flags or clock enables, where the question can't go: they are set."""
        access = unit.access(verdict.site)
        if verdict.status is not Status.ESCALATED or access is None or access.use != "read":
            return None
        evaluator, scope = unit.text.evaluator, access.context.scope
        found = mask_around(access.whole)
        if found is None:
            return None
        node, mask = found
        switched_on = access.register is not None and access.register.name.endswith("ENR")
        is_clock = access.register is not None and access.register.block in ("RCC", "PWR")
        ready = switched_on or (is_clock and _READY.fullmatch(text_of(bare(mask))))
        if not ready or not is_truth_test(node, evaluator, scope):
            return None
        if switched_on and _is_switched_off(unit, access, evaluator.number(mask, scope)):
            return self.escalated(access.site, f"{access.register} {_SWITCHED_OFF}")
        start, end = access.context.start(node), access.context.end(node)
        edit = Edit(start, end, source(mask))
        return self.rewritten(access.site, "set by now: the boot table saw to it", edit)


def _is_switched_off(unit: Unit, access: Access, mask: int | None) -> bool:
    """Whether the program clears some of these bits of a register, here or in another file."""
    register = access.register
    evaluator = unit.text.evaluator
    for other in unit.accesses():
        if other.register != register or other.value is None or other.operator == b"|=":
            continue
        sides = binary(other.value, b"|")  # REG = REG | bit clears nothing either
        if sides is not None and any(same_text(it, other.place) for it in sides):
            continue
        scope = other.context.scope
        if other.operator == b"^=" or mask is None:
            return True
        kept = ones(other.value, evaluator, scope)
        if zeros(other.value, evaluator, scope) & mask or not kept & mask:
            return True
    name = register.name if register is not None else ""
    return unit.sources_have(re.compile(rb"\b%s\s*[&^]=" % re.escape(name.encode())))


def _is_unused_line(unit: Unit, access: Access) -> bool:
    """External interrupt lines, in a machine that the description gives none of them and that
    handles none."""
    register = access.register
    if register is None or register.block != "EXTI" or unit.domain is None:
        return False
    if access.use == "write" and _is_of_events(access) and not only_clears(unit, access):
        return False  # it ends a wait
    has_vector = any("EXTI" in vector.name for vector in unit.domain.vectors)
    return not has_vector and not unit.sources_have(_HANDLES_LINE)


def _is_of_events(access: Access) -> bool:
    """Whether a register of EXTI says which lines send events, by name or by where it is."""
    name = access.register.name if access.register is not None else ""
    return name in _EVENTS or _NAMES_EVENTS.search(f"{name} {access.site.what}") is not None


def run_again(unit: Unit, access: Access) -> str | None:
    """Why a write that does something each time it is made can't go with the set-up."""
    register = access.register
    if register is None or access.use == "read":
        return None
    is_reset = register.block == "RCC" and (
        _RESETS.fullmatch(register.name) is not None
        # nobody knows which, unless the project's own name for it says
        or (register.name.startswith("+") and _NAMES_OTHER.search(access.site.what) is None)
    )
    if not is_reset and register.block != "GPIO":
        return None
    why = unit.why_again(access)
    if why is None:
        return _ALL_RESET if is_reset and _resets_bus(unit, access) else None
    does = "resets a block" if is_reset else "changes a pin's mode"
    return (
        f"{register} {does} at run time, which no boot table does ({why}): move it to before "
        "main's loop if once is enough, else take it out or ask the block's owner"
    )


def _resets_bus(unit: Unit, access: Access) -> bool:
    """Whether a function resets a whole bus by a register: nobody does that to blocks that weren't
    used. The write that ends the reset belongs to it."""
    for other in unit.accesses():
        is_same = other.context.root == access.context.root and other.register == access.register
        if not is_same or other.value is None or other.operator not in (b"=", b"|="):
            continue
        number = unit.text.evaluator.number(other.value, other.context.scope)
        if number is not None and (number & 0xFFFF_FFFF).bit_count() > _MANY:
            return True
    return False


def is_set_up(access: Access) -> bool:
    """Whether the boot table sets up the register of an access."""
    register = access.register
    if register is None:
        return False
    return register.block in REMOVED_WHOLE or f"{register.block}->{register.name}" in _REGISTERS


_STAYS = (deep_sleep, run_again, unmade, cleared_later, never_ready)
"""Why an access can't go with the set-up, None if it may."""
