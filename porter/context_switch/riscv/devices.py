"""Devices that a guest doesn't have: what stands at an address that is a number in the code."""

from __future__ import annotations

from porter.context_switch.ir import Const, Load, Program, Store
from porter.context_switch.result import NotTranscribable
from porter.context_switch.walk import reads, subexpressions


def check_devices(program: Program) -> None:
    """Refuse accesses to numbered addresses. A guest's own device is one that C code serves; what a
    switch touches, a timer or a software interrupt, is the kernel's."""
    for block in program.blocks.values():
        for item in (*block.statements, block.end):
            places = [
                part.address
                for expr in reads(item)
                for part in subexpressions(expr)
                if isinstance(part, Load)
            ]
            if isinstance(item, Store):
                places.append(item.address)
            for place in places:
                if isinstance(place, Const):
                    raise NotTranscribable(
                        f"accesses the device at {place.value:#010x}; if that requests a switch "
                        "(msip), virt_yield() does, if it sets a timer, hyp_tick_set()"
                    )
