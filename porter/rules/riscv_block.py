"""The interrupt controllers and timers of RISC-V chips: CLINT, PLIC, PFIC and their like."""

from __future__ import annotations

from collections.abc import Iterator

from porter.judging.unit import Unit
from porter.judging.verdict import Verdict
from porter.meaning.stored_value import why_value
from porter.registers.register import Register
from porter.registers.riscv_blocks import SYSTEM
from porter.rules.not_compiled import false_condition
from porter.rules.rule import Rule
from porter.sites.objects import TRANSPARENT, address_around, sum_around
from porter.sites.site import Site, SiteKind
from porter.source.c_tree import text_of
from porter.source.declared import declared_name
from porter.source.values import Initial, Number, Pointer

_TICK = "hyp_tick_set(hz) starts the machine's tick, and hyp_tick_set(0) ends it"
_USES = (  # what a register's name has in it, in any vendor's headers, and what serves instead
    ("dbg reset", "hyp_reboot() starts this machine anew, nothing else"),
    ("dbg ", "what a debugger stops is the whole chip's affair: leave it out"),
    ("debug ", "only a debugger reads it: write where the machine's output goes, or leave it out"),
    ("cmp", "hyp_tick_set(hz) starts the machine's tick, and the kernel sets every next one"),
    ("mstop", _TICK),
    ("mtime_ctrl", _TICK),
    ("systick ctlr", f"{_TICK}; where it asks for the software interrupt, virt_yield() does"),
    ("systick sr", "the kernel clears the tick's flag before it calls the vector: leave it out"),
    ("pfic cfgr", "hyp_reboot() starts this machine anew, and how vectors nest is the kernel's"),
    ("pfic sctlr", "hyp_vct_wait() sleeps, and how deep is the kernel's choice"),
    ("ipsr", "virt_vct_trig(fvm_virt_of_irq(line)) makes a vector pending"),
    ("iprr", "virt_vct_clear(fvm_virt_of_irq(line)) takes that back"),
    ("sip", "virt_yield() requests a switch, virt_vct_trig() any other vector"),
    ("softirq", "virt_yield() requests a switch, virt_vct_trig() any other vector"),
    ("mtime", "virt_cycles() counts the core's cycles"),
    ("cnt", "virt_cycles() counts the core's cycles"),
    ("claim", "the kernel claims an interrupt before it calls the vector and completes it then"),
)
_CONTROLLER = "hyp_irq_ena() and hyp_irq_dis() open and close a line, its priority is described"


class RiscvBlock(Rule):
    """What starts a tick there and what only keeps it going look alike: a person knows."""

    id = "riscv-block"
    finds = "access to, or an address in, a chip's CLINT, PLIC, PFIC, ECLIC, timer or debug unit"
    becomes = "itself"
    why = "these blocks are the kernel's; which of its calls serves instead depends on the purpose"

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Every site that leads to such a block."""
        for site in unit.pending(SiteKind.REGISTER):
            register = _register(unit, site)
            if register is None or register.block != SYSTEM:
                continue
            if not unit.is_compiled(site.start, site.end):
                yield self.left(site, false_condition(unit, site))
            elif (reason := _why_idle(unit, site)) is not None:
                yield self.left(site, reason)
            else:
                yield self.escalated(site, f"{register} is the kernel's: {_instead(register)}")


def _why_idle(unit: Unit, site: Site) -> str | None:
    """Why an address that a variable is given does nothing by itself; None if it may."""
    access = unit.access(site)
    if access is None or access.use != "address":
        return None
    parent = access.whole.parent
    while parent is not None and parent.type in TRANSPARENT:
        parent = parent.parent
    _, value = sum_around(access.place, access.context, unit.text.evaluator)
    if (why := why_value(unit, access, value)) is not None:
        return why
    if parent is None or parent.type != "init_declarator":
        return None
    name = declared_name(parent)
    if name is None:
        return None
    held = access.context.scope(text_of(name))
    is_known = isinstance(held, Number | Initial) or (
        isinstance(held, Pointer) and held.address is not None
    )
    is_followed = unit.sees_all_uses(access.context, name)
    if is_known and is_followed and unit.variables.resolve(name) is not None:
        return "a name for an address; each use is a site of its own"
    return "only removed code read it" if unit.reads_are_gone(text_of(name)) else None


def _register(unit: Unit, site: Site) -> Register | None:
    access = unit.access(site)
    if access is not None and access.register is not None:
        return access.register
    context = unit.context(site)
    leaf = context.node_at(site.start, site.end) if context is not None else None
    if context is None or leaf is None:
        return None
    address = address_around(leaf, context, unit.text.evaluator)
    return unit.registers.space.identify(*address) if address is not None else None


def _instead(register: Register) -> str:
    name = f"{register.instance} {register.name}".lower()
    return next((use for word, use in _USES if word in name), _CONTROLLER)
