"""RV32IMFC from its encoding (RISC-V Unprivileged ISA, chapters 2, 7, 11, 18 and 24): the proof's
own reading, which shares nothing with the transcriber's."""

from __future__ import annotations

from dataclasses import dataclass

from porter.context_switch.proof.image import Image
from porter.context_switch.proof.result import NotProved

_BRANCH = ("beq", "bne", "", "", "blt", "bge", "bltu", "bgeu")
_LOAD = ("lb", "lh", "lw", "", "lbu", "lhu")
_STORE = ("sb", "sh", "sw")
_WITH_CONSTANT = ("add", "sll", "slt", "sltu", "xor", "srl", "or", "and")
_CSR = ("", "csrrw", "csrrs", "csrrc")
_MULTIPLY = ("mul", "mulh", "mulhsu", "mulhu", "div", "divu", "rem", "remu")
_SPIN = 32  # bytes of a loop that only waits for a debugger
_SYSTEM = {0x0000_0073: "ecall", 0x3020_0073: "mret", 0x1050_0073: "wfi", 0x0010_0073: "ebreak"}


@dataclass(frozen=True)
class Instruction:
    """`second` is a register's number or, where `constant`, a word. Addresses are absolute."""

    address: int
    size: int
    name: str
    rd: int = 0
    rs1: int = 0
    second: int = 0
    constant: bool = False
    offset: int = 0  # of a load, a store or a jump by register
    target: int = 0  # of a branch or jump
    csr: int = 0

    @property
    def next(self) -> int:
        """Address of the instruction behind it."""
        return self.address + self.size

    @property
    def is_condition(self) -> bool:
        """Whether control flow can go on in two ways."""
        return self.name in _BRANCH

    @property
    def reads_csr(self) -> bool:
        """Whether a CSR goes to a register and nothing else happens."""
        return self.name in ("csrrs", "csrrc") and self.second == 0

    @property
    def text(self) -> str:
        """For a person who has to find it."""
        return f"{self.name} at {self.address:#x}"


class Code:
    """The instructions of an image, by address."""

    def __init__(self, image: Image) -> None:
        self._image = image
        self._seen: dict[int, Instruction] = {}

    def at(self, address: int) -> Instruction:
        """NotProved where no instruction stands."""
        if address not in self._seen:
            half = self._image.word(address, 2)
            if half is None:
                raise NotProved(f"runs out of the code at {address:#x}")
            word = self._image.word(address) if half & 3 == 3 else half
            found = None
            if word is not None:
                found = _long(address, word) if half & 3 == 3 else _short(address, half)
            if found is None or not found.name:
                raise NotProved(f"the proof doesn't know the instruction {word or half:#x}")
            self._seen[address] = found
        return self._seen[address]

    def spins(self, jump: Instruction) -> bool:
        """Whether a jump goes back to itself, or to what is in front of it for a debugger: reads of
        CSRs that nobody else sees, and breakpoints."""
        if jump.name != "jal" or jump.rd or not jump.address - _SPIN <= jump.target <= jump.address:
            return False
        return self._for_debugger(jump.target) == jump

    def stops(self, breakpoint_: Instruction) -> bool:
        """Whether a breakpoint stands in such a loop."""
        return self.spins(self._for_debugger(breakpoint_.address))

    def _for_debugger(self, address: int) -> Instruction:
        """The first instruction from an address on that isn't there for a debugger."""
        it = self.at(address)
        while it.reads_csr or it.name == "ebreak":
            it = self.at(it.next)
        return it


def _field(word: int, low: int, width: int) -> int:
    return word >> low & (1 << width) - 1


def _signed(value: int, width: int) -> int:
    return value - (1 << width) if value >> width - 1 else value


def _pick(values: tuple[str, ...], index: int) -> str:
    return values[index] if index < len(values) else ""


def _long(at: int, word: int) -> Instruction | None:
    opcode, rd, kind = _field(word, 2, 5), _field(word, 7, 5), _field(word, 12, 3)
    rs1, rs2, top = _field(word, 15, 5), _field(word, 20, 5), _field(word, 25, 7)
    constant = _signed(word >> 20, 12)
    match opcode:
        case 0b01101:
            return Instruction(at, 4, "li", rd, second=word & 0xFFFF_F000, constant=True)
        case 0b00101:
            value = at + (word & 0xFFFF_F000) & 0xFFFF_FFFF
            return Instruction(at, 4, "li", rd, second=value, constant=True)
        case 0b11011:
            distance = _field(word, 31, 1) << 20 | _field(word, 12, 8) << 12
            distance |= _field(word, 20, 1) << 11 | _field(word, 21, 10) << 1
            return Instruction(at, 4, "jal", rd, target=at + _signed(distance, 21))
        case 0b11001 if kind == 0:
            return Instruction(at, 4, "jalr", rd, rs1, offset=constant)
        case 0b11000:
            distance = _field(word, 31, 1) << 12 | _field(word, 7, 1) << 11
            distance |= _field(word, 25, 6) << 5 | _field(word, 8, 4) << 1
            target = at + _signed(distance, 13)
            return Instruction(at, 4, _BRANCH[kind], rs1=rs1, second=rs2, target=target)
        case 0b00000:
            return Instruction(at, 4, _pick(_LOAD, kind), rd, rs1, offset=constant)
        case 0b00001 if kind == 2:
            return Instruction(at, 4, "flw", rd, rs1, offset=constant)
        case 0b01000 | 0b01001:
            name = _pick(_STORE, kind) if opcode == 0b01000 else "fsw" if kind == 2 else ""
            return Instruction(at, 4, name, 0, rs1, rs2, offset=_signed(top << 5 | rd, 12))
        case 0b00100:
            return _by_constant(at, word, rd, kind, rs1, constant)
        case 0b01100:
            return _by_register(at, rd, kind, rs1, rs2, top)
        case 0b00011:
            return Instruction(at, 4, "fence")
        case 0b11100:
            return _system(at, word, rd, kind, rs1)
    return None


def _by_constant(
    at: int, word: int, rd: int, kind: int, rs1: int, constant: int
) -> Instruction | None:
    name = _WITH_CONSTANT[kind]
    if name in ("sll", "srl"):
        top = _field(word, 25, 7)
        if top not in (0, 0x20) or (top and name == "sll"):
            return None
        name, constant = ("sra" if top else name), _field(word, 20, 5)
    return Instruction(at, 4, name, rd, rs1, constant & 0xFFFF_FFFF, True)


def _by_register(at: int, rd: int, kind: int, rs1: int, rs2: int, top: int) -> Instruction | None:
    if top == 1:
        return Instruction(at, 4, _MULTIPLY[kind], rd, rs1, rs2)
    names = {0: _WITH_CONSTANT, 0x20: ("sub", "", "", "", "", "sra")}.get(top, ())
    return Instruction(at, 4, _pick(names, kind), rd, rs1, rs2)


def _system(at: int, word: int, rd: int, kind: int, rs1: int) -> Instruction | None:
    if kind == 0:
        return Instruction(at, 4, _SYSTEM.get(word, ""))
    name = _CSR[kind & 3]
    return Instruction(at, 4, name, rd, 0, rs1, constant=kind > 3, csr=word >> 20)


def _short(at: int, half: int) -> Instruction | None:
    """The table of chapter 18.8, quadrant by quadrant."""
    kind = _field(half, 13, 3)
    return (_quadrant_0, _quadrant_1, _quadrant_2)[half & 3](at, half, kind)


def _quadrant_0(at: int, half: int, kind: int) -> Instruction | None:
    near, base = 8 + _field(half, 2, 3), 8 + _field(half, 7, 3)
    offset = _field(half, 10, 3) << 3 | _field(half, 6, 1) << 2 | _field(half, 5, 1) << 6
    match kind:
        case 0:
            value = _field(half, 11, 2) << 4 | _field(half, 7, 4) << 6
            value |= _field(half, 6, 1) << 2 | _field(half, 5, 1) << 3
            return Instruction(at, 2, "add" if value else "", near, 2, value, True)
        case 2 | 3:
            return Instruction(at, 2, ("lw", "flw")[kind - 2], near, base, offset=offset)
        case 6 | 7:
            return Instruction(at, 2, ("sw", "fsw")[kind - 6], 0, base, near, offset=offset)
    return None


def _quadrant_1(at: int, half: int, kind: int) -> Instruction | None:
    rd = _field(half, 7, 5)
    value = _signed(_field(half, 12, 1) << 5 | _field(half, 2, 5), 6) & 0xFFFF_FFFF
    match kind:
        case 0:
            return Instruction(at, 2, "add", rd, rd, value, True)
        case 1 | 5:
            return Instruction(at, 2, "jal", kind == 1, target=at + _distance(half))
        case 2:
            return Instruction(at, 2, "li", rd, second=value, constant=True)
        case 3 if rd == 2:
            move = _field(half, 12, 1) << 9 | _field(half, 6, 1) << 4 | _field(half, 5, 1) << 6
            move |= _field(half, 3, 2) << 7 | _field(half, 2, 1) << 5
            return Instruction(at, 2, "add", 2, 2, _signed(move, 10) & 0xFFFF_FFFF, True)
        case 3:
            return Instruction(at, 2, "li", rd, second=value << 12 & 0xFFFF_FFFF, constant=True)
        case 4:
            return _logic(at, half, value)
    distance = _field(half, 12, 1) << 8 | _field(half, 10, 2) << 3 | _field(half, 5, 2) << 6
    distance |= _field(half, 3, 2) << 1 | _field(half, 2, 1) << 5
    target = at + _signed(distance, 9)
    return Instruction(at, 2, _BRANCH[kind - 6], rs1=8 + _field(half, 7, 3), target=target)


def _distance(half: int) -> int:
    """Of c.j and c.jal."""
    places = (11, 4, 9, 8, 10, 6, 7, 3, 2, 1, 5)
    value = sum(_field(half, 12 - index, 1) << place for index, place in enumerate(places))
    return _signed(value, 12)


def _logic(at: int, half: int, value: int) -> Instruction | None:
    rd = 8 + _field(half, 7, 3)
    name = ("srl", "sra", "and")[min(_field(half, 10, 2), 2)]
    if _field(half, 10, 2) == 3:
        name = ("sub", "xor", "or", "and")[_field(half, 5, 2)]
        name = "" if _field(half, 12, 1) else name
        return Instruction(at, 2, name, rd, rd, 8 + _field(half, 2, 3))
    return Instruction(at, 2, name, rd, rd, value if name == "and" else value & 31, True)


def _quadrant_2(at: int, half: int, kind: int) -> Instruction | None:
    rd, rs2, bit = _field(half, 7, 5), _field(half, 2, 5), _field(half, 12, 1)
    match kind:
        case 0:
            return Instruction(at, 2, "sll", rd, rd, rs2, True)
        case 2 | 3:
            offset = bit << 5 | _field(half, 4, 3) << 2 | _field(half, 2, 2) << 6
            return Instruction(at, 2, ("lw", "flw")[kind - 2], rd, 2, offset=offset)
        case 4 if rs2:
            return Instruction(at, 2, "add", rd, rd if bit else 0, rs2)
        case 4:
            return Instruction(at, 2, "jalr" if rd else "ebreak", bit, rd)
        case 6 | 7:
            offset = _field(half, 9, 4) << 2 | _field(half, 7, 2) << 6
            return Instruction(at, 2, ("sw", "fsw")[kind - 6], 0, 2, rs2, offset=offset)
    return None
