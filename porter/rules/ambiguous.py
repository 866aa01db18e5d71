"""Accesses that mean one register or another, depending on a build that nobody knows."""

from __future__ import annotations

from collections.abc import Iterator

from porter.judging.unit import Unit
from porter.judging.verdict import Status, Verdict
from porter.registers.register import Register
from porter.rules.boot_table import REMOVED_WHOLE
from porter.rules.definition import Definition
from porter.rules.dropped import Dropped
from porter.rules.never_runs import NeverRuns
from porter.rules.not_compiled import NotCompiled
from porter.rules.recipe_condition import RecipeCondition
from porter.rules.rule import Rule, Sample
from porter.rules.switched_off import SwitchedOff
from porter.sites.access import Access, access_of
from porter.sites.registers import Registers
from porter.sites.site import Site, SiteKind
from porter.source.c_tree import text_of, walk
from porter.source.values import Place, Value

_NOT_RUN = frozenset(
    it.id for it in (Definition, Dropped, NeverRuns, NotCompiled, RecipeCondition, SwitchedOff)
)
_PORTS = (b"GPIOA", b"GPIOA_BASE", b"GPIO_PORT_A_BASE")
_TWO = (
    "#ifdef USE_SIM\n#define ISER (*((volatile unsigned*)0x40054010))\n#else\n"
    "#define ISER (*((volatile unsigned*)0xE000E100))\n#endif\n"
)


class Ambiguous(Rule):
    """What a rule would do must be right whichever definition holds; else a person decides."""

    id = "ambiguous"
    finds = "a register whose macro has several definitions, or whose header serves several files"
    becomes = "itself"
    why = "the rewriting that is right for one of them is wrong for the other"
    samples = (Sample(_TWO + "void f(void) { ISER = 1u << 3; }", "", escalates=True),)

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Compares all that an access may be."""
        for site in list(unit.pending()):
            other = _read_otherwise(unit, site)
            access = unit.access(site) if site.kind is SiteKind.REGISTER else None
            if other is None and access is not None:
                other = _other(unit, access)
            if other is not None:
                yield self.escalated(site, other)


def decided_otherwise(unit: Unit, other: Unit, reader: str) -> Iterator[Verdict]:
    """Places that become one thing as the file is read here, and another as somebody else reads it.
    What doesn't run for one of them may be what it must be for the other."""
    theirs = {(site.start, site.end): it for site, it in other.verdicts.items()}
    for site, mine in unit.verdicts.items():
        its = theirs.get((site.start, site.end))
        if its is None or Status.REWRITTEN not in (mine.status, its.status):
            continue
        if {mine.rule, its.rule} & _NOT_RUN or mine.edits == its.edits:
            continue
        if mine.status is not Status.ESCALATED:
            what = f"{_becomes(mine)} as {unit.reader} reads it, {_becomes(its)} as {reader} does"
            yield Verdict(site, Status.ESCALATED, Ambiguous.id, what)


def _becomes(verdict: Verdict) -> str:
    if verdict.status is Status.ESCALATED:
        return f"a person's to decide ({verdict.reason})"
    if verdict.status is Status.LEFT:
        return f"what it is ({verdict.reason})"
    texts = (it.replacement.decode("utf-8", "replace").strip() for it in verdict.edits)
    return " ".join(f"'{it}'" for it in texts if it) or "nothing"


def _read_otherwise(unit: Unit, site: Site) -> str | None:
    """What a site in a header is for another C file; None if it is the same for all."""
    access = unit.access(site) if site.kind is SiteKind.REGISTER else None
    for reading in unit.found.readings:
        others = reading.sites
        same = next((it for it in others.sites if _is_there(it, site)), None)
        context = others.contexts.of(others.regions[same], same.start, same.end) if same else None
        other = access_of(same, context, others.registers) if same and context else None
        here = access.register if access is not None else None
        there = other.register if other is not None else None
        both = same is not None and site in unit.found.own
        if both and _key(unit.registers, here) == _key(others.registers, there):
            continue
        mine = _what(unit.registers, here, _value(access, unit.registers))
        its = _what(others.registers, there, _value(other, others.registers))
        return f"{mine} as {unit.reader} reads it, {its} as {reading.reader} does"
    return None


def _is_there(site: Site, other: Site) -> bool:
    return (site.start, site.end, site.kind) == (other.start, other.end, other.kind)


def _value(access: Access | None, registers: Registers) -> Value | None:
    if access is None:
        return None
    return registers.evaluator.value(access.place, access.context.scope)


def _other(unit: Unit, access: Access) -> str | None:
    """What else an access may be; None if all that it may be is treated alike."""
    registers, scope = unit.registers, access.context.scope
    value = registers.evaluator.value(access.place, scope)
    found = registers.identify(value)
    names = {text_of(it) for it in walk(access.place) if it.type == "identifier"}
    if found is not None and found.block == "GPIO" and found.instance is None:
        names.update(_PORTS)
    for name, others in registers.otherwise(sorted(names)):
        other = others.evaluator.value(access.place, scope)
        if _key(registers, found) != _key(others, others.identify(other)):
            here = _what(registers, found, value)
            there = _what(others, others.identify(other), other)
            macro = name.decode("latin-1")
            return f"{here} or {there}: {macro} has several definitions, and no build tells which"
    return None


def _key(registers: Registers, register: Register | None) -> tuple[object, ...]:
    """What decides how an access is rewritten."""
    if register is None:
        return (None,)
    if register.block in REMOVED_WHOLE:
        return (register.block,)
    first = registers.blocks.base_of("GPIOA") if register.block == "GPIO" else None
    base = first if register.instance is None else None
    return register.block, register.name, register.offset, register.instance, base


def _what(registers: Registers, register: Register | None, value: Value | None) -> str:
    if register is not None and register.block == "GPIO" and register.instance is None:
        first = registers.blocks.base_of("GPIOA")
        return f"{register} of ports from 0x{first:08X} on" if first is not None else str(register)
    if register is not None:
        return str(register)
    if isinstance(value, Place) and value.address is not None:
        return f"0x{value.address:08X}"
    return "no register"
