"""Which port a register of GPIO belongs to, as C that asks where only the program knows."""

from __future__ import annotations

import re

from porter.judging.unit import Unit
from porter.meaning.expressions import bare, source
from porter.source.c_tree import Node, arguments_of
from porter.source.evaluate import Evaluator, Scope

_FIRST_PORT = re.compile(rb"(?m)^[ \t]*#[ \t]*define[ \t]+GPIO_?A(?:_BASE)?\b|\bGPIO_PORT_A_BASE\b")
_SPACING = 0x400  # bytes between GPIO blocks on every STM32


def port_of(unit: Unit, register: Node, scope: Scope, instance: str | None) -> bytes | None:
    """C for the number of the port that a register is written as a part of: 0 is A."""
    if instance is not None:
        return b"%d" % (ord(instance[-1]) - ord("A"))
    base = unit.registers.blocks.base_of("GPIOA")
    place = _written(register, unit.text.evaluator, scope)
    pointer = place.child_by_field_name("argument")
    if base is None or place.type != "field_expression" or pointer is None:
        return None
    if unit.borrows(_FIRST_PORT):
        return None
    is_arrow = any(child.type == "->" for child in place.children)
    text = source(pointer) if is_arrow else b"&" + source(pointer)
    number = b"((uint32_t)%s - 0x%08XU) / 0x%XU" % (text, base, _SPACING)
    others = _out_of_order(unit, base)
    if others and not (is_arrow and pointer.type == "identifier"):
        return None
    for address, port in others:
        number = b"((uint32_t)%s == 0x%08XU ? %dU : %s)" % (text, address, port, number)
    return number


def _written(place: Node, evaluator: Evaluator, scope: Scope) -> Node:
    """The register as it is written, where macros are given it that only hand it back:
    `READ_REG(GPIOx->ODR)`."""
    place = bare(place)
    value = evaluator.value(place, scope)
    while place.type == "call_expression" and len(given := arguments_of(place)) == 1:
        if evaluator.value(given[0], scope) != value:
            break
        place = bare(given[0])
    return place


def _out_of_order(unit: Unit, first: int) -> list[tuple[int, int]]:
    """Ports that aren't where their letter says, as G and H of the STM32L1 (RM0038, table 5):
    address and number."""
    ports = [
        (address, ord(name[-1]) - ord("A"))
        for address, name in sorted(unit.registers.blocks.bases.items())
        if name.startswith("GPIO")
    ]
    return [(at, port) for at, port in ports if at != first + _SPACING * port]
