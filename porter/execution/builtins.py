"""Functions that are instructions or belong to the C library: what they do to known values."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from porter.execution.state import PERIPHERALS, State
from porter.execution.words import Pointer, Value, number

_Arguments = tuple[Value, ...]
UNKNOWN_RESULT = object()
"""A builtin leaves a call to the function of that name."""


def _reversed_bits(known: int) -> int:
    return int(f"{known & 0xFFFF_FFFF:032b}"[::-1], 2)


def _leading_zeros(known: int) -> int:
    return 32 - (known & 0xFFFF_FFFF).bit_length()


INSTRUCTIONS: Mapping[str, Callable[[int], int]] = {
    "mov": lambda known: known,
    "rbit": _reversed_bits,
    "clz": _leading_zeros,
}
"""Instructions from one register to another, by mnemonic."""


def _instruction(name: str) -> Callable[[State, _Arguments], Value]:
    def run(_state: State, arguments: _Arguments) -> Value:
        known = number(arguments[0]) if arguments else None
        return None if known is None else INSTRUCTIONS[name](known)

    return run


def _set(state: State, arguments: _Arguments) -> Value:
    match arguments:
        case (Pointer(memory=memory, offset=0), value, _) if memory is not None:
            state.forget(memory)
            memory.zero = number(value) == 0
            for offset in memory.cells if memory.zero else ():
                state.put(memory, offset, 0)
    return arguments[0] if arguments else None


def _copied(state: State, arguments: _Arguments) -> Value:
    match arguments:
        case (Pointer(memory=memory, offset=int() as offset), Pointer() as source, size):
            if memory is not None:
                state.copy(memory, offset, source, number(size) or 0)
    return arguments[0] if arguments else None


def _load_exclusive(state: State, arguments: _Arguments) -> Value:
    match arguments:
        case (Pointer(memory=None, offset=int() as address),) if address >= PERIPHERALS:
            return state.register(address)
        case (Pointer(memory=memory, offset=int() as offset),) if memory is not None:
            return state.get(memory, offset)
    return None


def _store_exclusive(state: State, arguments: _Arguments) -> Value:
    match arguments:
        case (value, Pointer(memory=None, offset=int() as address)) if address >= PERIPHERALS:
            state.write_register(address, value)
        case (value, Pointer(memory=memory, offset=int() as offset)) if memory is not None:
            state.put(memory, offset, value)
    return 0


BUILTINS: Mapping[str, Callable[[State, _Arguments], Value]] = {
    "__RBIT": _instruction("rbit"),
    "__CLZ": _instruction("clz"),
    "__builtin_clz": _instruction("clz"),
    "memset": _set,
    "memcpy": _copied,
    "__LDREXW": _load_exclusive,
    "__STREXW": _store_exclusive,
}
