"""Addresses of blocks that are only handed on."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.judging.unit import Unit
from porter.judging.verdict import Verdict
from porter.meaning.stored_value import why_value
from porter.rules.not_compiled import false_condition
from porter.rules.rule import Rule, Sample
from porter.sites.access import Access
from porter.sites.measured import is_measured
from porter.sites.objects import operator_of
from porter.sites.registers import NOT_GRANTED
from porter.source.c_tree import PARENTHESES, Node, ancestors, one_line, text_of
from porter.source.c_types import UNKNOWN, CType
from porter.source.declarations import parameter_list
from porter.source.declared import declared_name
from porter.source.values import Initial, Number, Place, Pointer, Value

_HEADER = (
    "typedef struct { volatile unsigned MODER; } GPIO_TypeDef;\n"
    "#define GPIOA ((GPIO_TypeDef *)0x40020000)\n"
)
_TEMPLATES = frozenset({"template_function", "template_type", "template_method"})
_COMPARISONS = (b"==", b"!=")
_KEEPS_TYPE = frozenset(
    {"argument_list", "init_declarator", "initializer_list", "initializer_pair",
     "assignment_expression", "return_statement", "conditional_expression", "case_statement"}
)  # fmt: skip
_LOST = (
    "handed on as {name}, a pointer to nothing in particular: what is accessed there can't be told "
    "from other memory; declare it as what it is"
)
_VOID = re.compile(rb"\bvoid\b(?![^*]*\()")
_HANDED_ON = "handed on with its type; each access that the project contains is a site"


class Address(Rule):
    """Harmless as long as its type stays: every access through it is a site of its own."""

    id = "address"
    finds = "the address of a shared block as an argument, initialiser or comparison"
    becomes = "itself"
    why = "an address does nothing; what is done through it is found by its type"
    samples = (
        Sample(
            _HEADER + "void set(GPIO_TypeDef *port);\nvoid f(void) { set(GPIOA); }",
            _HEADER + "void set(GPIO_TypeDef *port);\nvoid f(void) { set(GPIOA); }",
        ),
        Sample(_HEADER + "void set(void *port);\nvoid f(void) { set(GPIOA); }", "", escalates=True),
        Sample(
            _HEADER + "void set(int n, volatile void *port);\nvoid f(void) { set(1, GPIOA); }",
            "",
            escalates=True,
        ),
        Sample(
            _HEADER + "void f(void *p) { void *port = GPIOA; if (p) port = p; g(port); }",
            "",
            escalates=True,
        ),
        Sample(
            _HEADER + "void set(GPIO_TypeDef *port, void (*done)(void));\nvoid h(void);\n"
            "void f(void) { set(GPIOA, h); }",
            _HEADER + "void set(GPIO_TypeDef *port, void (*done)(void));\nvoid h(void);\n"
            "void f(void) { set(GPIOA, h); }",
        ),
        Sample(_HEADER + "void set(unsigned);\nvoid f(void) { set((unsigned)GPIOA); }", "",
               escalates=True),
        Sample(_HEADER + "void set(volatile unsigned *);\nvoid f(void) { set(&GPIOA->MODER); }",
               "", escalates=True),
    )  # fmt: skip

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Whatever is left of register sites that access nothing."""
        for access in unit.accesses():
            if access.use in ("address", "reference") and (
                not unit.is_compiled(access.site.start, access.site.end)
            ):
                yield self.left(access.site, false_condition(unit, access.site))
            elif access.use == "address":
                yield self._one(unit, access)
            elif access.use == "reference":
                value = unit.text.evaluator.value(access.place, access.context.scope)
                yield self.escalated(
                    access.site,
                    f"a function may get {unit.registers.identify(value)} by reference, and write "
                    "it: access it where it is named, or hand on the value that is read",
                )

    def _one(self, unit: Unit, access: Access) -> Verdict:
        value = unit.text.evaluator.value(access.whole, access.context.scope)
        kind = _pointed_to(value)
        parent = _parent(access.whole)
        if _is_distance(unit, access):
            return self.left(access.site, "only how far it is from another address is asked")
        if parent is not None and is_measured(access.whole, unit.text.evaluator):
            return self.left(access.site, "only its size is asked for")
        if parent is not None and parent.type == "binary_expression":
            sign = parent.child_by_field_name("operator")
            if sign is not None and text_of(sign) in _COMPARISONS:
                return self.left(access.site, "only compared")
        if (reason := why_value(unit, access, value)) is not None:
            return self.left(access.site, reason)
        if parent is not None and _is_label(access.whole, parent):
            return self.left(access.site, "only compared")
        if parent is not None and _names_enumerator(unit, parent):
            return self.left(access.site, "a name for an address; each use is a site of its own")
        template = next((it for it in ancestors(access.whole) if it.type in _TEMPLATES), None)
        if template is not None:
            return self.escalated(
                access.site,
                f"the address is an argument of the template {one_line(template)}: what it makes "
                "of it isn't followed; name the register where it is accessed",
            )
        if access.register is None and names_variable(unit, access):
            return self.left(access.site, "a name for an address; each use is a site of its own")
        struct = kind is not None and unit.registers.blocks.kind_of_struct(kind.name) is not None
        handed_on = parent is not None and parent.type in _KEEPS_TYPE
        if access.register is None and struct and handed_on:
            if (name := _named_void(unit, access.whole)) is not None:
                return self.escalated(access.site, _LOST.format(name=name))
            return self.left(access.site, _HANDED_ON)
        if access.place.type == "field_expression" and value is None:
            base = access.place.child_by_field_name("argument") or access.place
            return self.escalated(
                access.site,
                f"{access.site.what} is a register of a shared block, and of what type "
                f"{one_line(base)} is can't be told: declare it with its type",
            )
        what, remedy = _what(unit, access, value), _remedy(unit, access, value)
        return self.escalated(access.site, f"{what} goes where it can't be followed: {remedy}")


def names_variable(unit: Unit, access: Access) -> bool:
    """Whether the address initialises a variable that never holds another one."""
    parent = _parent(access.whole)
    while parent is not None and parent.type in ("initializer_list", "argument_list"):
        parent = parent.parent
    if parent is None or parent.type not in ("init_declarator", "field_declaration"):
        return False
    declarator = parent.child_by_field_name("declarator")
    name = declared_name(declarator) if declarator is not None else None
    if name is None or not unit.sees_all_uses(access.context, name):
        return False
    value = access.context.scope(text_of(name))
    if isinstance(value, Number):  # a constant: each use is found by its name
        return text_of(name) in unit.text.evaluator.types.scoped
    return isinstance(value, Pointer | Place) and value.address is not None


def _named_void(unit: Unit, whole: Node) -> str | None:
    """The parameter or variable of type `void *` that a pointer is given to, if that is what it
    is."""
    outer, parent = whole, whole.parent
    while parent is not None and parent.type in PARENTHESES:
        outer, parent = parent, parent.parent
    if parent is not None and parent.type == "init_declarator":
        declaration = parent.parent
        kind = declaration.child_by_field_name("type") if declaration is not None else None
        name = declared_name(parent)
        is_void = kind is not None and text_of(kind) == b"void" and name is not None
        return text_of(name).decode("latin-1") if is_void and name is not None else None
    call = parent.parent if parent is not None and parent.type == "argument_list" else None
    function = call.child_by_field_name("function") if call is not None else None
    known = unit.text.evaluator.types.globals.get(text_of(function) if function else b"")
    listed = parameter_list(known[1]) if known is not None else None
    if parent is None or listed is None or outer not in parent.named_children:
        return None
    place = parent.named_children.index(outer)
    taken = listed.named_children[place : place + 1]
    if not taken or not _VOID.search(text_of(taken[0])):
        return None
    return f"'{one_line(taken[0])}'"


def _is_distance(unit: Unit, access: Access) -> bool:
    """Whether an address is taken from a number, or another address from it."""
    node = access.context.node_at(access.site.start, access.site.end)
    outer = _parent(node) if node is not None else None
    if node is None or outer is None or outer.type != "binary_expression":
        return False
    left, right = (outer.child_by_field_name(it) for it in ("left", "right"))
    if left is None or right is None or operator_of(outer) != b"-":
        return False
    if right.start_byte <= node.start_byte:
        return isinstance(unit.text.evaluator.value(right, access.context.scope), Number)
    other = unit.text.evaluator.number(right, access.context.scope)
    return other is not None and unit.registers.describe(other & 0xFFFF_FFFF) is not None


def _is_label(whole: Node, parent: Node) -> bool:
    """Whether an expression is the value behind `case`."""
    return parent.type == "case_statement" and parent.child_by_field_name("value") == whole


def _names_enumerator(unit: Unit, parent: Node) -> bool:
    """Whether an address is what an enumerator is, whose uses are found by its name."""
    name = parent.child_by_field_name("name")
    if parent.type != "enumerator" or name is None:
        return False
    return unit.registers.may_be_register(text_of(name)) or (
        unit.registers.names_register(text_of(name))
    )


def _pointed_to(value: Value | None) -> CType | None:
    if isinstance(value, Pointer):
        return value.type
    if isinstance(value, Place):
        return value.type.target if value.type.kind == "pointer" else value.type
    return None


def _parent(node: Node) -> Node | None:
    parent = node.parent
    while parent is not None and parent.type in PARENTHESES:
        parent = parent.parent
    return parent


def _remedy(unit: Unit, access: Access, value: Value | None) -> str:
    """What to write instead."""
    match value:
        case Number(value=number) | Initial(value=number):
            address: int | None = number & 0xFFFF_FFFF
        case Pointer(address=address):
            if address is not None and unit.registers.memory_at(address) is not None:
                return "name what the linker places there"
        case _:
            address = None
    register = None if address is None else unit.registers.identify(Place(address, UNKNOWN))
    if register is not None and register.block == NOT_GRANTED and unit.domain is not None:
        return f"grant {unit.domain.name} the device, or take this out"
    return "access the register where it is named, or hand on a pointer to the type of its block"


def _what(unit: Unit, access: Access, value: Value | None) -> str:
    if access.register is not None:
        return f"the address of {access.register}"
    match value:
        case Number(value=number) | Initial(value=number):
            known = unit.registers.describe(number & 0xFFFF_FFFF)
        case Pointer(address=int() as number) if memory := unit.registers.memory_at(number):
            known = f"{memory.name} in the old chip's {memory.instance}"
        case Pointer(address=int() as number):
            known = unit.registers.describe(number)
        case _:
            known = None
    return "the address" if known is None else f"the address of {known}"
