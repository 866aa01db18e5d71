"""A handler as it was and as it became, built side by side, and runs of both from one state."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from porter.interrupt_split.record import struct_name
from tests.porter.interrupt_split.execution import (
    DOMAIN_HEADER,
    HARNESS,
    RECORDS,
    STRICT,
    Machine,
    Program,
    compile_object,
)
from tests.porter.interrupt_split.peripherals import PERIPHERALS, Peripheral
from tests.porter.interrupt_split.shapes import BASES, Shape
from tests.porter.interrupt_split.splitting import port_shape, split_shape

VARIABLES = ("buffer", "head", "tail", "ticks", "errors", "flags", "out", "out_head", "out_tail")
Change = Callable[[str], str]


@dataclass(frozen=True)
class Pair:
    """Both programs of a shape."""

    shape: Shape
    original: Program
    split: Program

    @property
    def handler(self) -> str:
        """The function that the line starts."""
        return f"{self.shape.device}_IRQHandler"

    def peripheral(self) -> Peripheral:
        """A new one."""
        key = self.shape.usart if self.shape.device == "USART1" else self.shape.device
        return PERIPHERALS.get(key, PERIPHERALS[self.shape.device])()

    def machines(self) -> tuple[Machine, Machine]:
        """One for each program."""
        base = BASES[self.shape.device]
        return Machine(self.original, base), Machine(self.split, base)


def build(folder: Path, shape: Shape, in_middle: Change = str, in_bottom: Change = str) -> Pair:
    """Split, port and compile a shape; the changes plant faults in what was generated."""
    result = split_shape(folder / "legacy", shape)
    assert result.mid is not None, result.escalated
    ported = port_shape(folder / "legacy", shape)
    new = folder / "new"
    new.mkdir()
    names = {"main.c", *shape.files}
    for port in ported.files:
        if port.file.name in names:
            text = port.ported.decode()
            (new / port.file.name).write_text(in_bottom(text))
            names.discard(port.file.name)
    for name in names:
        (new / name).write_text((folder / "legacy" / name).read_text())
    section = f"{shape.device.lower()}_mid"
    (new / f"{section}.c").write_text(in_middle(result.mid.code()))
    (new / f"{struct_name(shape.device)}.h").write_text(result.mid.header())
    (new / "fvm_domain.h").write_text(DOMAIN_HEADER.format(irq=shape.device))
    (new / "harness.c").write_text(
        HARNESS.format(irq=shape.device, section=section, judge="(void)number, (void)consumed, 0u")
    )
    sources = ["main.c", *shape.files]
    return Pair(
        shape,
        _program(folder / "legacy", sources, folder / "legacy.elf"),
        _program(new, [*sources, "harness.c"], folder / "new.elf"),
    )


def _program(folder: Path, sources: list[str], target: Path) -> Program:
    objects = []
    for name in sources:
        objects.append(folder / f"{name}.o")
        said = compile_object(folder / name, objects[-1], [folder], *STRICT)
        assert not said, said
    return Program.link(objects, target)


@dataclass(frozen=True)
class Outcome:
    """What a run left behind."""

    memory: dict[str, bytes]
    registers: dict[int, int]
    taken: list[tuple[str, int, int]]  # reads that take something out
    acknowledged: list[tuple[str, int, int]]
    controlled: list[tuple[str, int, int]]  # every other write


def outcome(machine: Machine) -> Outcome:
    """Everything that can be compared. Reads, acknowledgements and control writes each keep their
    order; between them it is the split that decides."""
    device = machine.peripheral
    clears = {device.clear, device.status}
    return Outcome(
        {name: machine.variable(name) for name in VARIABLES},
        dict(device.words),
        [entry for entry in device.log if entry[0] == "r"],
        [entry for entry in device.log if entry[0] == "w" and entry[1] in clears],
        [entry for entry in device.log if entry[0] == "w" and entry[1] not in clears],
    )


def prepare(pair: Pair, dice: random.Random) -> tuple[Machine, Machine]:
    """Both programs in the same random state."""
    machines = pair.machines()
    device = pair.peripheral()
    device.shuffle(dice, range(0, 0x50, 4))
    if pair.shape.loops:
        device.incoming = []
    contents = {name: _content(name, dice) for name in VARIABLES}
    for machine in machines:
        machine.peripheral = pair.peripheral()
        machine.peripheral.words = dict(device.words)
        machine.peripheral.incoming = list(device.incoming)
        for name, content in contents.items():
            machine.set(name, content)
    return machines


def _content(name: str, dice: random.Random) -> bytes:
    if name in ("buffer", "out"):
        return dice.randbytes(16)
    return dice.choice((0, 1, dice.randrange(16), dice.getrandbits(32))).to_bytes(4, "little")


def capture(machine: Machine, number: int) -> bool:
    """The mid-section's turn."""
    assert number < RECORDS
    return bool(machine.call("test_capture", number) & 0xFF)


def serve(pair: Pair, machine: Machine, records: int) -> None:
    """The VM's turn."""
    machine.set_word("test_next", 0)
    machine.set_word("test_count", records)
    machine.call(pair.handler)


def same_once(pair: Pair, seed: int) -> None:
    """One interrupt: both do the same, and the mid-section knows whether it served it."""
    original, split = prepare(pair, random.Random(seed))
    before = split.peripheral.words.get(split.peripheral.status, 0)
    original.call(pair.handler)
    consumed = capture(split, 0)
    after = split.peripheral.words.get(split.peripheral.status, 0)
    assert consumed == bool(before & ~after), "the line is opened exactly when a flag went"
    serve(pair, split, 1)
    assert outcome(split) == outcome(original)


def same_late(pair: Pair, seed: int) -> None:
    """Several characters come before the VM gets its turn; a transmitter is served beside."""
    dice = random.Random(seed)
    original, split = prepare(pair, dice)
    count = dice.randrange(1, 4)
    characters = [dice.getrandbits(7) for _ in range(count)]
    for machine in (original, split):
        device = machine.peripheral
        device.words = dict.fromkeys(device.words, 0xFF)  # every interrupt is enabled
        device.words[device.status] = device.sent
    for character in characters:
        _arrives(original, character)
        original.call(pair.handler)
    for number, character in enumerate(characters):
        _arrives(split, character)
        assert capture(split, number)
    serve(pair, split, count)
    for _ in range(4):
        for machine in (original, split):
            machine.peripheral.words[machine.peripheral.status] |= machine.peripheral.sent
        original.call(pair.handler)
        assert not capture(split, 0), "only the VM can serve the transmitter"
        serve(pair, split, 1)
    assert split.peripheral.overwritten == 0, "sent while the transmitter was full"
    assert outcome(split) == outcome(original)


def _arrives(machine: Machine, character: int) -> None:
    device = machine.peripheral
    device.words[device.data_in] = character
    device.words[device.status] |= device.received
