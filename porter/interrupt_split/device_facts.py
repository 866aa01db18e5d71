"""What the sources say about the use of one device: who writes, who calls, what has a name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from porter.interrupt_split.device import Device, DeviceRegister
from porter.interrupt_split.effects import is_acknowledgement
from porter.interrupt_split.functions import Function
from porter.interrupt_split.refusal import At, Refusal
from porter.interrupt_split.result import HandlerSplit
from porter.interrupt_split.statement import Statement, accesses
from porter.interrupt_split.touches import Touches
from porter.program.reachability import CallGraph
from porter.source.values import Place, Pointer

_HARMLESS = ("mem", "str", "__", "NVIC_", "virt_", "hyp_")  # of libraries without sources


@dataclass(eq=False)
class DeviceFacts:
    """Answers from all accesses to one device."""

    touches: Touches
    graph: CallGraph
    result: HandlerSplit

    def moved_by_software(self, statements: list[Statement]) -> frozenset[str]:
        """Registers that only software moves here: a compare value, say."""
        written = {
            touch.register.name
            for touch in self.touches.all
            if touch.use == "write" and touch.register is not None and touch.certain
        }
        inside = {
            item.register.name
            for _, item in accesses(statements)
            if item.kind == "write" and item.register is not None
        }
        return frozenset(inside | {name for name in written if name.startswith("CCR")})

    def residual(self, statements: list[Statement]) -> bool:
        """Whether the handler does more with the device than the mid-section takes over."""
        for _, item in accesses(statements):
            if item.kind == "write" and not is_acknowledgement(item):
                return True
            if item.kind == "call" and (item.indirect or self.writes(item.name) != frozenset()):
                return True
        return False

    def writes(self, name: str) -> frozenset[str] | None:
        """Registers that a function may write; None: any, or there is no source of it."""
        if name in self.touches.touching:
            return self.touches.written_by(name)
        known = name in self.graph.defined or name in self.graph.edges
        if known or name.startswith(_HARMLESS):
            return frozenset()
        return None

    def named(self, device: Device) -> Callable[[str], DeviceRegister | None]:
        """Looks registers of the device up by name."""
        evaluator = device.evaluator

        def named(name: str) -> DeviceRegister | None:
            pointer = evaluator.name(self.result.split.device.encode())
            if isinstance(pointer, Pointer) and pointer.address is not None:
                member = evaluator.types.members(pointer.type).get(name.encode())
                if member is not None and not member.part:
                    return device.register(
                        Place(pointer.address + member.offset, member.type,
                              pointer.type.name, name.encode())
                    )  # fmt: skip
            return device.by_offset(name)

        return named

    def nothing(self, function: Function) -> Refusal:
        """Why there is nothing to capture."""
        line = function.text.file.line(function.tree.start(function.node))
        pointers = [t for t in self.touches.all if t.register is None or not t.certain]
        if pointers:
            return At(
                line,
                f"{function.name} doesn't name {self.result.split.device}: {pointers[0].place} "
                f"reaches registers by {pointers[0].text.strip()}, a pointer in the VM's memory; "
                "write a handler that names the device",
            )
        return At(
            line,
            f"{function.name} neither reads data of {self.result.split.device} nor acknowledges: "
            "there is nothing that a mid-section could do for it",
        )
