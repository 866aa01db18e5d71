"""What the emulator can't run as it stands. WFI stops it, and a branch to itself has no end. An
original stays in thread mode, where a write of CONTROL would take its rights, and a new MSP would
take the stack that the run is measured on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from capstone import arm_const

from porter.context_switch.proof.image import CODE, STUBS, Image
from porter.context_switch.proof.result import NotProved
from porter.context_switch.proof.thumb import Instruction
from porter.context_switch.proof.walk import reachable

NOP = b"\xaf\xf3\x00\x80"  # nop.w, as long as an MSR
SHORT_NOP = b"\x00\xbf"
CONTROL = 20
_MSP = 8  # SYSm (ARMv7-M ARM B5.1)
_WAITS = (b"\x30\xbf", b"\x20\xbf")
_BRANCH_TO_ITSELF = b"\xfe\xe7"


def stack_writes(image: Image) -> Iterator[tuple[int, int, int]]:
    """Places where an MSR writes CONTROL or MSP: address, number of the register it is written
    from, CONTROL or not."""
    for start, code in image.code:
        if not CODE <= start < STUBS:
            continue
        for offset in range(0, len(code) - 3, 2):
            high = int.from_bytes(code[offset : offset + 2], "little")
            low = int.from_bytes(code[offset + 2 : offset + 4], "little")
            if high & 0xFFF0 == 0xF380 and low & 0xFF00 == 0x8800 and low & 0xFF in (_MSP, CONTROL):
                yield start + offset, high & 0xF, low & 0xFF


def calls_by_register(image: Image) -> Iterator[tuple[int, str]]:
    """Places where a function calls what a register says, and which."""
    found = reachable(image, False)
    for address, instruction in found.items():
        if instruction.name == "blx" and instruction.raw.operands[0].type == arm_const.ARM_OP_REG:
            if _condition(found, address):
                raise NotProved("the proof doesn't know calls by a register under a condition")
            yield address, instruction.register(instruction.raw.operands[0].reg)


def reads_of_msp(image: Image) -> Iterator[tuple[int, tuple[str, str]]]:
    """Places where an MRS reads MSP: which register gets it, and under which condition."""
    found = reachable(image, False)
    for address, instruction in found.items():
        if instruction.name == "mrs" and str(instruction.raw.op_str).lower().endswith("msp"):
            register = instruction.register(instruction.raw.operands[0].reg)
            yield address, (register, _condition(found, address))


def _condition(found: Mapping[int, Instruction], address: int) -> str:
    """Of the IT block that an instruction is in; "" for none."""
    for first in found.values():
        here = first.next
        for code in first.it:
            if here == address:
                return code
            if here not in found:
                break
            here = found[here].next
    return ""


def spins(image: Image) -> Iterator[int]:
    """Addresses of what is a branch to itself, where it is run."""
    return _halfwords(image, _BRANCH_TO_ITSELF)


def waits(image: Image) -> Iterator[int]:
    """Addresses of what is a WFI or a WFE, where it is run."""
    for wait in _WAITS:
        yield from _halfwords(image, wait)


def _halfwords(image: Image, wanted: bytes) -> Iterator[int]:
    for start, code in image.code:
        for offset in range(-start % 2, len(code) - 1, 2):
            if code[offset : offset + 2] == wanted:
                yield start + offset
