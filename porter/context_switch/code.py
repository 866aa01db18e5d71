"""A function's instructions, whatever the machine: what is asked of them, and how they become C."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Protocol

from porter.context_switch.assemble import Assembly
from porter.context_switch.checks import Check
from porter.context_switch.draft import Draft
from porter.context_switch.lift_state import Signature
from porter.context_switch.object_file import Function
from porter.context_switch.register_steps import Step


class _Instruction(Protocol):
    @property
    def address(self) -> int: ...

    @property
    def next(self) -> int: ...

    @property
    def text(self) -> str: ...


class Code(ABC):
    """The instructions of a function by address. `checks`: what its C has to pass, in order."""

    checks: ClassVar[tuple[Check, ...]]
    _found: Mapping[int, _Instruction]

    def __init__(self, assembly: Assembly, function: Function) -> None:
        """NotTranscribable where its bytes aren't understood."""
        self._unit, self._function = assembly.object, function

    def texts(self) -> dict[int, str]:
        """As their author wrote them, by address."""
        return {address: it.text for address, it in self._found.items()}

    @abstractmethod
    def decoded(self) -> str:
        """The instructions themselves, a line each: where a macro made them, no text has them."""

    def reached(self, start: int, end: int) -> list[int]:
        """Where they stand between two addresses."""
        return [address for address in self._found if start <= address < end]

    def covered(self) -> set[int]:
        """Addresses of all their halfwords."""
        return {place for it in self._found.values() for place in range(it.address, it.next, 2)}

    @classmethod
    @abstractmethod
    def privileged(cls, assembly: Assembly, function: Function) -> str:
        """What of a function that a compiler made is privileged; "" for nothing."""

    @abstractmethod
    def role(self, is_handler: bool) -> str | None:
        """What the function is; None for one that the transcriber has nothing to do with.
        `is_handler`: it is known to serve an exception."""

    @abstractmethod
    def needs_port(self) -> bool:
        """Whether it does what a guest can't."""

    @abstractmethod
    def touches_stack_pointers(self) -> bool:
        """Whether no other part of the porter may understand it."""

    @abstractmethod
    def loads_stack_pointer(self) -> bool:
        """Whether it goes on, on a stack that it got from memory."""

    @abstractmethod
    def never_a_guests(self) -> str:
        """Why no guest has a function like this; "" where nothing is known to say so."""

    @abstractmethod
    def entry_state(self) -> str:
        """What of it uses what an exception's entry leaves; "" for nothing."""

    @abstractmethod
    def callees(self) -> set[str]:
        """Functions that it calls without a relocation that says so."""

    @abstractmethod
    def signature(self) -> Signature | None:
        """What it takes, as far as its instructions say."""

    @abstractmethod
    def steps(self) -> dict[int, Step]:
        """What each does with registers, as far as the function runs in its own text: a jump to
        another function's beginning leaves. Also of instructions that nothing in it leads to."""

    @abstractmethod
    def understood(self, draft: Draft) -> Draft:
        """The draft with its statements."""
