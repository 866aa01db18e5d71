"""GPIO data registers: pins that the program sets and reads while it runs."""

from __future__ import annotations

from collections.abc import Container, Iterator

from porter.judging.unit import Unit
from porter.judging.verdict import Verdict
from porter.meaning.expressions import bare, bits_of, closed_up, masked
from porter.meaning.no_value import has_no_value
from porter.meaning.pin_output import LOW, output_of
from porter.meaning.pin_port import port_of
from porter.meaning.pin_statement import READS, MaySet, pin_statement
from porter.rules.rule import Rule, Sample
from porter.sites.access import Access
from porter.source.c_tree import Node, strip_parentheses, text_of
from porter.source.edit import Edit
from porter.source.values import Place

_DATA = frozenset({"BSRR", "BSRRL", "BSRRH", "BRR", "ODR", "IDR"})
_HALF = 2  # bytes: a port has 16 pins
_HEADER = (
    "typedef struct { volatile unsigned MODER, OTYPER, OSPEEDR, PUPDR, IDR, ODR, BSRR; }"
    " GPIO_TypeDef;\n#define GPIOA ((GPIO_TypeDef *)0x40020000)\n"
)
_HALVES = (
    "typedef struct { volatile unsigned MODER, OTYPER, OSPEEDR, PUPDR, IDR, ODR; "
    "volatile unsigned short BSRRL, BSRRH; } GPIO_TypeDef;\n"
    "#define GPIOA ((GPIO_TypeDef *)0x40020000)\n"
)
_G_AND_H = (
    "#define GPIOG ((GPIO_TypeDef *)0x40021C00)\n#define GPIOH ((GPIO_TypeDef *)0x40021400)\n"
)


class Pins(Rule):
    """Set, reset, invert and masked writes become one masked write by the kernel."""

    id = "pins"
    finds = "writes to BSRR, BRR and ODR, reads of IDR and ODR"
    becomes = "hyp_pin_write, hyp_pin_set or hyp_pin_toggle; hyp_pin_get or hyp_pin_latch"
    why = "a port's pins belong to several machines; the kernel sees to it that each has its own"
    samples = (
        Sample(
            _HEADER + "void f(void) { GPIOA->BSRR = 1u << 5; }",
            _HEADER + "void f(void) { hyp_pin_write(0, 1u << 5); }",
        ),
        Sample(
            _HEADER + "void f(void) { GPIOA->BSRR = 1u << (5 + 16); }",
            _HEADER + "void f(void) { hyp_pin_write(0, 1u << (5 + 16)); }",
        ),
        Sample(
            _HEADER + "void f(GPIO_TypeDef *p, unsigned short m) { p->BSRR = (unsigned)m << 16; }",
            _HEADER + "void f(GPIO_TypeDef *p, unsigned short m) "
            "{ hyp_pin_write(((uint32_t)p - 0x40020000U) / 0x400U, (unsigned)m << 16); }",
        ),
        Sample(
            _HEADER + "void f(GPIO_TypeDef *p) { (*p).BSRR = 1; }",
            _HEADER + "void f(GPIO_TypeDef *p) "
            "{ hyp_pin_write(((uint32_t)&(*p) - 0x40020000U) / 0x400U, 1); }",
        ),
        Sample(
            _HALVES + "void f(int v) { GPIOA->BSRRL = 1 << 5; GPIOA->BSRRH = v; }",
            _HALVES + "void f(int v) { hyp_pin_write(0, 1 << 5); "
            "hyp_pin_set(0, (v) & 0xFFFFU, 0); }",
        ),
        Sample(
            _HEADER.replace("BSRR;", "BSRR, LCKR, AFR[2], BRR;")
            + "void f(unsigned short v) { GPIOA->BRR = ~v; GPIOA->ODR ^= ~v; GPIOA->ODR &= ~v; }",
            _HEADER.replace("BSRR;", "BSRR, LCKR, AFR[2], BRR;")
            + "void f(unsigned short v) { hyp_pin_set(0, (~v) & 0xFFFFU, 0); "
            "hyp_pin_toggle(0, (~v) & 0xFFFFU); hyp_pin_set(0, (v) & 0xFFFFU, 0); }",
        ),
        Sample(  # RM0038, table 5
            _HEADER + _G_AND_H + "void f(GPIO_TypeDef *p) { p->BSRR = 1; }",
            _HEADER + _G_AND_H + "void f(GPIO_TypeDef *p) "
            "{ hyp_pin_write(((uint32_t)p == 0x40021C00U ? 6U : ((uint32_t)p == 0x40021400U ? 7U : "
            "((uint32_t)p - 0x40020000U) / 0x400U)), 1); }",
        ),
        Sample(
            _HEADER + _G_AND_H + "GPIO_TypeDef *next(void);\nvoid f(void) { next()->BSRR = 1; }",
            "",
            escalates=True,
        ),
        Sample(
            _HEADER + "void f(unsigned n, int on) { GPIOA->BSRR = (1u << n) << (on ? 0 : 16); }",
            _HEADER + "void f(unsigned n, int on) "
            "{ hyp_pin_write(0, (1u << n) << (on ? 0 : 16)); }",
        ),
        Sample(
            _HEADER + "void f(void) { GPIOA->ODR &= ~(1u << 5); }",
            _HEADER + "void f(void) { hyp_pin_set(0, 1u << 5, 0); }",
        ),
        Sample(
            _HEADER + "void f(void) { GPIOA->ODR ^= 1u << 5; }",
            _HEADER + "void f(void) { hyp_pin_toggle(0, 1u << 5); }",
        ),
        Sample(
            _HEADER + "void f(int on) { on ? (GPIOA->ODR |= 32) : (GPIOA->ODR &= ~32u), g(); }",
            _HEADER + "void f(int on) { on ? (hyp_pin_write(0, 32)) : "
            "(hyp_pin_set(0, 32u, 0)), g(); }",
        ),
        Sample(_HEADER + "int f(void) { return GPIOA->BSRR = 32; }", "", escalates=True),
        Sample(_HEADER + "void f(int on) { on && (GPIOA->BSRR = 32); }", "", escalates=True),
        Sample(
            _HEADER + "int f(void) { return (GPIOA->IDR & 0x20) != 0; }",
            _HEADER + "int f(void) { return (hyp_pin_get(0) & 0x20) != 0; }",
        ),
        Sample(
            _HEADER + "#define HIGH(p, m) (!!(p->IDR & (m)))\n"
            "int f(void) { return HIGH(GPIOA, 1 << 5); }",
            _HEADER + "#define HIGH(p, m) (!!(p->IDR & (m)))\n"
            "int f(void) { return (!!(hyp_pin_get(0) & (1 << 5))); }",
        ),
        Sample(
            _HEADER + "void f(void) { if (GPIOA->IDR) { g(); } }",
            _HEADER + "void f(void) { if (hyp_pin_get(0)) { g(); } }",
        ),
        Sample(
            _HEADER + "#define READ_REG(r) ((r))\n"
            "unsigned f(GPIO_TypeDef *p) { return READ_REG(p->ODR); }",
            _HEADER + "#define READ_REG(r) ((r))\nunsigned f(GPIO_TypeDef *p) "
            "{ return hyp_pin_latch(((uint32_t)p - 0x40020000U) / 0x400U); }",
        ),
        Sample(
            _HEADER + "unsigned f(GPIO_TypeDef *p) { return p->ODR; }",
            _HEADER + "unsigned f(GPIO_TypeDef *p) "
            "{ return hyp_pin_latch(((uint32_t)p - 0x40020000U) / 0x400U); }",
        ),
        Sample(
            _HEADER
            + "GPIO_TypeDef *port(int n);\nint f(int n) { return port(n)->IDR & 8 ? 1 : 0; }",
            _HEADER + "GPIO_TypeDef *port(int n);\nint f(int n) "
            "{ return hyp_pin_get(((uint32_t)port(n) - 0x40020000U) / 0x400U) & 8 ? 1 : 0; }",
        ),
        Sample(
            _HEADER
            + "void f(GPIO_TypeDef *p, unsigned m) { p->BSRR = m << (p->ODR & m ? 16 : 0); }",
            _HEADER + "void f(GPIO_TypeDef *p, unsigned m) "
            "{ hyp_pin_write(((uint32_t)p - 0x40020000U) / 0x400U, "
            "m << (hyp_pin_latch(((uint32_t)p - 0x40020000U) / 0x400U) & m ? 16 : 0)); }",
        ),
        Sample(
            _HEADER + "void f(unsigned x) { GPIOA->ODR = x; }",
            _HEADER + "void f(unsigned x) { hyp_pin_set(0, 0x0020U, x); }",
        ),
        Sample(
            _HEADER + "void f(void) { GPIOA->BSRR = GPIOA->IDR & 0x20; }",
            _HEADER + "void f(void) { hyp_pin_write(0, hyp_pin_get(0) & 0x20); }",
        ),
        Sample(
            _HEADER + "unsigned next(void);\nvoid f(void) { GPIOA->BSRR = next(); }",
            _HEADER + "unsigned next(void);\nvoid f(void) { hyp_pin_write(0, next()); }",
        ),
        Sample(_HEADER + "void f(GPIO_TypeDef *p) { p->ODR = 1; }", "", escalates=True),
        Sample(_HEADER + "void f(void) { GPIOA->BSRR &= ~(1u << 5); }", "", escalates=True),
        Sample(
            _HEADER + "void f(unsigned char b) { *(volatile unsigned char *)0x40020014 = b; }",
            "",
            escalates=True,
        ),
        Sample(
            _HEADER + "#define SET(r, c, s) ((r) = ((r) & ~(c)) | (s))\n"
            "void f(unsigned x) { SET(GPIOA->ODR, 0xFF, x); }",
            "",
            escalates=True,
        ),
        Sample(_HEADER + "int f(void) { return GPIOA->IDR & 1; }", "", escalates=True),
        Sample(_HEADER + "void f(void) { GPIOA->BSRR = 1u << 6; }", "", escalates=True),
    )

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Each access on its own."""
        for access in unit.accesses():
            register = access.register
            if register is None or register.block != "GPIO" or register.name not in _DATA:
                continue
            if access.use == "address":
                continue  # what is done at it is an access of its own
            yield self._one(unit, access, _name_of(access), register.instance)

    def _one(self, unit: Unit, access: Access, name: str, instance: str | None) -> Verdict:
        if access.use == "read":
            return self._read(unit, access, name, instance)
        if access.inside is not None and name in READS:
            port = port_of(unit, access.inside, access.context.scope, instance)
            if port is not None:
                return self._read_within(unit, access, access.inside, instance, port)
        made = pin_statement(unit, access, _may_set(unit)) if access.use == "unclear" else None
        if made is not None:
            reason = "the kernel reads and sets this machine's pins: the macro, written out"
            return self.rewritten(access.site, reason, access.replaced(made))
        if access.use != "write" or not has_no_value(unit, access) or access.value is None:
            return self.escalated(access.site, _unclear(access))
        if (problem := _in_part(unit, access, name)) is not None:
            return self.escalated(access.site, problem)
        port = port_of(unit, access.place, access.context.scope, instance)
        if port is None:
            return self.escalated(access.site, "which port this is can't be told")
        output = output_of(unit, access, name, _granted(unit, instance))
        if output is None:
            return self.escalated(
                access.site, f"which pins {access.operator.decode()} on {name} means isn't known"
            )
        if (problem := not_granted(unit, instance, output.pins)) is not None:
            return self.escalated(access.site, problem)
        edit = access.replaced(b"%s(%s, %s)" % (output.call, port, output.arguments))
        return self.rewritten(access.site, "masked write by the kernel", edit)

    def _read(self, unit: Unit, access: Access, name: str, instance: str | None) -> Verdict:
        """The machine sees its own pins; the others are 0."""
        if name not in READS:
            return self.escalated(access.site, f"{access.register} can only be written")
        port = port_of(unit, access.place, access.context.scope, instance)
        if port is None:
            return self.escalated(access.site, "which port this is can't be told")
        if (width := _width(unit, access)) is not None and width < _HALF:
            return self.escalated(
                access.site, "reads eight of the port's pins: shift and mask hyp_pin_get()'s result"
            )
        wanted = masked(access.place, unit.text.evaluator, access.context.scope)
        pins = wanted[1] if wanted is not None else None
        if (problem := not_its_own(unit, instance, pins)) is not None:
            return self.escalated(access.site, problem)
        start, end = access.context.start(access.place), access.context.end(access.place)
        edit = Edit(start, end, b"%s(%s)" % (READS[name], port))
        return self.rewritten(access.site, "the kernel reads this machine's pins", edit)

    def _read_within(
        self, unit: Unit, access: Access, inside: Node, instance: str | None, port: bytes
    ) -> Verdict:
        """A macro that is given the port makes something of its pins: written out."""
        wanted = masked(inside, unit.text.evaluator, access.context.scope)
        if (problem := not_its_own(unit, instance, wanted[1] if wanted else None)) is not None:
            return self.escalated(access.site, problem)
        whole = inside
        while whole.parent is not None and whole.parent.type.endswith("_expression"):
            whole = whole.parent
        if whole.parent is not None and whole.parent.type == "argument_list":
            return self.escalated(access.site, _unclear(access))
        whole = strip_parentheses(whole)
        text, begin = text_of(whole), inside.start_byte - whole.start_byte
        level = b"%s(%s)" % (READS[_name_of(access)], port)
        end = begin + len(text_of(inside))
        made = b"(%s)" % closed_up(text[:begin] + level + text[end:])
        reason = "the kernel reads this machine's pins: the macro, written out"
        return self.rewritten(access.site, reason, access.replaced(made))


def _name_of(access: Access) -> str:
    """The register's name. Older headers of ST's have names for the halves of BSRR, which a look at
    the address doesn't tell."""
    field = bare(access.place).child_by_field_name("field")
    named = text_of(field).decode("latin-1") if field is not None else ""
    known = access.register.name if access.register is not None else ""
    return named if known == "BSRR" and named in ("BSRRL", "BSRRH") else known


def _in_part(unit: Unit, access: Access, name: str) -> str | None:
    """Why a write isn't one of a whole register by what its value says; None if it is."""
    if unit.reads_within_macro(access):
        return "the macro also reads a register for the value: write out what it does"
    width = _width(unit, access)
    if width is not None and width < _HALF:
        return "writes eight of the port's pins and leaves the others: use hyp_pin_set()"
    if width == _HALF and name == "BSRR":
        return "sets pins by half of BSRR, which resets none: use hyp_pin_set()"
    return None


def _width(unit: Unit, access: Access) -> int | None:
    """Bytes of an access; None where that isn't known."""
    place = unit.text.evaluator.value(access.place, access.context.scope)
    is_scalar = isinstance(place, Place) and place.type.kind == "scalar"
    return place.type.size if isinstance(place, Place) and is_scalar and place.type.size else None


def _granted(unit: Unit, instance: str | None) -> bytes | None:
    """C for the outputs of a port that the machine may set: a write of all means these."""
    if unit.domain is None:
        return b"0xFFFFU"
    if instance is None:
        return None
    pins = sum(1 << pin for port, pin in unit.domain.pins if port == instance[-1])
    return b"0x%04XU" % pins if pins else None


def _may_set(unit: Unit) -> MaySet:
    return lambda instance, pins: not_granted(unit, instance, pins) is None


def not_granted(unit: Unit, instance: str | None, pins: int | None) -> str | None:
    """Which of these pins of a port the machine may not set."""
    missing = _missing(instance, pins, unit.domain.pins) if unit.domain is not None else ""
    if unit.domain is None or not missing:
        return None
    return f"{missing} is no run-time output in the description of {unit.domain.name}"


def not_its_own(unit: Unit, instance: str | None, pins: int | None) -> str | None:
    """Which of these pins of a port the machine may not read."""
    missing = _missing(instance, pins, unit.domain.own_pins) if unit.domain is not None else ""
    if unit.domain is None or not missing:
        return None
    return f"{missing} is read, but the description of {unit.domain.name} doesn't have it"


def _missing(instance: str | None, pins: int | None, granted: Container[tuple[str, int]]) -> str:
    """Names of the pins that aren't granted; nothing where port or pins are only known later."""
    if instance is None or pins is None:
        return ""
    port = instance[-1]
    return ", ".join(f"P{port}{pin}" for pin in bits_of(pins & LOW) if (port, pin) not in granted)


def _unclear(access: Access) -> str:
    """What is done isn't one write of a value; and how to write it so."""
    is_used = access.use == "write" and not access.is_alone
    remedy = "take its value from a variable instead, and " if is_used else ""
    return (
        f"what happens to {access.register} can't be told: {remedy}make it a statement that stores "
        "a value, register = value;, or call hyp_pin_set(port, mask, levels)"
    )
