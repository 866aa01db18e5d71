"""Fault records and register dumps in words: the crime, the place, whose memory it was."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from composer.debug.dump import Found, Registers
from composer.debug.status_bits import BFARVALID, CFSR, HFSR, MMARVALID, names
from composer.simulate.log import Record
from composer.simulate.places import Code, Places
from composer.simulate.sentences import DATA, place, sentence, what


@dataclass(frozen=True)
class Place:
    """An address of code: `text` is function, file and line, as far as they are known."""

    address: int
    text: str = ""


@dataclass(frozen=True)
class Decoded:
    """One record. What is unknown is None or ''."""

    line: int
    text: str
    domain: str = ""
    cause: str = ""
    status: tuple[tuple[str, str], ...] = ()
    access: str = ""
    address: int | None = None
    owner: str = ""
    pc: Place | None = None
    lr: Place | None = None
    task: str = ""
    tick: int | None = None
    restarts: int | None = None
    notes: tuple[str, ...] = field(default=())

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self) | {"status": [name for name, _ in self.status]}


def decode_record(found: Found, places: Places | None) -> Decoded:
    """A line of the kernel's log."""
    record = found.record
    name = record.fields.get("domain", "")
    status = record.number("cfsr") or 0
    bits = tuple(names(status & 0xFFFFFFFF, CFSR))
    address, pc, lr = record.number("address"), record.number("pc"), record.number("lr")
    notes = []
    if found.said_by:
        notes.append(f"the VM '{found.said_by}' printed this: it is not from the kernel's log")
    if "task" not in record.text or "tick" not in record.fields:
        notes.append("the record is cut off: fields are missing")
    code: Code | None = None
    if places is not None and places.part(name) is None:
        notes.append(f"the system has no domain '{name}': is it another one's dump?")
    elif places is not None:
        code = places.code(name)
        notes += _doubts(code, status, pc)
    return Decoded(
        line=found.line,
        text=sentence(record, places) if places and code else _plain(record, bits),
        domain=name,
        cause=record.fields.get("cause", ""),
        status=bits,
        access=code.access(pc) if code and pc is not None and status & DATA else "",
        address=address,
        owner=places.owner(address) if places and address is not None else "",
        pc=_place(code, pc),
        lr=_place(code, lr),
        task=record.task,
        tick=record.number("tick"),
        restarts=record.number("restarts"),
        notes=tuple(notes),
    )


def decode_registers(dump: Registers, places: Places | None) -> Decoded:
    """Registers that a fault handler of the user's printed."""
    values = dump.values
    status, pc, lr = values.get("cfsr", 0), values.get("pc"), values.get("lr")
    bits = (*names(status, CFSR), *names(values.get("hfsr", 0), HFSR))
    address = None
    if status & MMARVALID:
        address = values.get("mmfar")
    elif status & BFARVALID:
        address = values.get("bfar")
    name = _owner_of_code(places, pc, lr)
    code = places.code(name) if places is not None and name else None
    fields = {"domain": name, "cfsr": hex(status)}
    fields |= {key: hex(n) for key, n in (("address", address), ("pc", pc), ("lr", lr)) if n}
    record = Record("fault", "", fields)
    notes = []
    if address is None and values.keys() & {"mmfar", "bfar"}:
        notes.append("CFSR says that MMFAR and BFAR hold no address")
    if places is not None and code is None and pc is not None:
        notes.append(f"0x{pc:08x} is no code of this system: is it another build's dump?")
    if places is not None and code is not None:
        parts = [name, what(record, places, name), place(record, code)]
        text = f"{parts[0]}: " + ", ".join(part for part in parts[1:] if part)
        notes += _doubts(code, status, pc)
    else:
        text = _plain(record, tuple(bits))
    return Decoded(
        line=dump.line,
        text=text,
        domain=name,
        status=tuple(bits),
        access=code.access(pc) if code and pc is not None and status & DATA else "",
        address=address,
        owner=places.owner(address) if places and address is not None else "",
        pc=_place(code, pc),
        lr=_place(code, lr),
        notes=tuple(notes),
    )


def _plain(record: Record, bits: Iterable[tuple[str, str]]) -> str:
    """Without the system only numbers can be named."""
    meanings = [meaning for name, meaning in bits if not name.endswith("VALID")]
    cause = record.fields.get("cause", "")
    crime = ", ".join(meanings) or (f"{cause} fault" if cause else "no fault is recorded")
    address, pc = record.number("address"), record.number("pc")
    at = "" if address is None else f", address 0x{address:08x}"
    where = "" if pc is None else f", pc 0x{pc:08x}"
    task = f', task "{record.task}"' if record.task else ""
    return f"{record.fields.get('domain') or 'fault'}: {crime}{at}{where}{task}"


def _owner_of_code(places: Places | None, *addresses: int | None) -> str:
    """The part whose program has the first of these addresses that any has."""
    for address in addresses:
        for part in places.parts if places is not None else ():
            if address is not None and places is not None and places.code(part.name).holds(address):
                return part.name
    return ""


def _place(code: Code | None, address: int | None) -> Place | None:
    if address is None:
        return None
    inside = code is not None and code.holds(address & ~1)
    return Place(address, code.place(address & ~1) if code is not None and inside else "")


def _doubts(code: Code, status: int, pc: int | None) -> list[str]:
    if pc is None or not status & DATA or not code.holds(pc):
        return []
    if code.access(pc) == "access to":
        return ["the instruction at pc accesses no memory: is this the build that ran?"]
    return []


def describe(decoded: Decoded) -> list[str]:
    """Lines for people: the sentence, then what it was made from."""
    lines = [decoded.text]
    for bit, meaning in decoded.status:
        lines.append(f"    {bit:12} {meaning}")
    if decoded.address is not None:
        owner = f"[{decoded.owner}]" if decoded.owner else ""
        lines.append(f"    {'address':12} 0x{decoded.address:08x} {owner}".rstrip())
    for name, spot in (("pc", decoded.pc), ("lr", decoded.lr)):
        if spot is not None:
            lines.append(f"    {name:12} 0x{spot.address:08x} {spot.text}".rstrip())
    lines += [f"    note: {note}" for note in decoded.notes]
    return lines
