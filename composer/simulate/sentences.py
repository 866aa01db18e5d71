"""Fault records, and what VMs wrote into the log, as sentences for people.

motor-controller rebooted (1): write to 0x20008000 [sensor-node RAM], crash_cmd console.c:88,
task "console"                                                       (one line)
"""

from __future__ import annotations

from composer.simulate.log import Record
from composer.simulate.places import Code, Places

# Bits of the Configurable Fault Status Register (Armv7-M ARM, B3.2.15).
FETCH = 1 << 0 | 1 << 8  # IACCVIOL, IBUSERR
DATA = 1 << 1 | 1 << 9 | 1 << 10  # DACCVIOL, PRECISERR, IMPRECISERR
FRAME = 0b11 << 3 | 1 << 5 | 0b11 << 11 | 1 << 13  # (un)stacking and lazy FP stacking
USAGE = (
    (1 << 16, "undefined instruction"),
    (1 << 17, "jump to an address that is no Thumb code"),
    (1 << 18, "invalid exception return"),
    (1 << 19, "use of the FPU without a grant"),
    (1 << 24, "unaligned access"),
    (1 << 25, "division by zero"),
)
OTHER_CAUSES = {
    "reset": "reset request",
    "header": "no valid header at the start of its flash",
}
WROTE = " wrote: "  # between a VM and what it wrote into the log
HYPERCALL = "hyp_"  # prefix of the guest library's functions
SVC_BYTES = 2


def sentence(record: Record, places: Places) -> str:
    """A `fault` record in words; a record that names no domain of the system stays as it is."""
    name = record.fields.get("domain", "")
    if places.part(name) is None:
        return record.text
    outcome = {"stop": "stopped", "open": "faulted"}.get(
        record.fields.get("action", ""), f"rebooted ({record.fields.get('restarts', '?')})"
    )
    parts = [what(record, places, name), place(record, places.code(name))]
    if record.task:
        parts.append(f'task "{record.task}"')
    return f"{name} {outcome}: " + ", ".join(part for part in parts if part)


def writing(record: Record, places: Places) -> str:
    """A `text` record in words; one that names no domain of the system stays as it is."""
    name = record.fields.get("domain", "")
    if places.part(name) is None:
        return record.text
    lost = record.number("lost")
    missed = "" if lost is None else f"({lost} characters of {name} found no room) "
    return f"{missed}{name}{WROTE}{record.said}"


def what(record: Record, places: Places, name: str) -> str:
    """The crime."""
    cause = record.fields.get("cause", "")
    if cause == "watchdog":
        part = places.part(name)
        return f"watchdog after {part.watchdog_ms if part else 0} ms"
    if cause in OTHER_CAUSES:
        return OTHER_CAUSES[cause]
    said = hardware_fault(record, places, name)
    if not said and cause == "hard" and places.code(name).is_breakpoint(record.number("pc")):
        return "BKPT, with no debugger attached"
    return said or f"{cause or 'unknown'} fault"


def hardware_fault(record: Record, places: Places, name: str) -> str:
    """What the fault status says; "" when it says nothing."""
    status = record.number("cfsr") or 0
    pc = record.number("pc")
    if status & FRAME or record.fields.get("cause") == "stacking":
        address = record.number("address")
        known = "" if address is None else f", at {target(address, places)}"
        return f"stack outside its own memory{known}"
    if status & FETCH:
        at = pc if pc is not None else record.number("address")
        return "jump outside its own code" if at is None else f"jump to {target(at, places)}"
    if status & DATA:
        address = record.number("address")
        verb = "access to" if pc is None else places.code(name).access(pc)
        return f"{verb} " + ("an unknown address" if address is None else target(address, places))
    return next((text for bit, text in USAGE if status & bit), "")


def target(address: int, places: Places) -> str:
    """An address and whose it is."""
    return f"0x{address:08x} [{places.owner(address)}]"


def place(record: Record, code: Code) -> str:
    """Where it happened: the pc; the caller where the pc says nothing about the crime."""
    pc, lr = record.number("pc"), record.number("lr")
    if pc is not None and record.fields.get("cause") == "reset":
        pc -= SVC_BYTES  # the record's pc is where the call would return to
    caller = None if lr is None else (lr & ~1) - 2  # inside the call that lr returns from
    if pc is not None and code.holds(pc):
        library = (code.function(pc) or "").startswith(HYPERCALL)
        if not (library and caller is not None and code.holds(caller)):
            return code.place(pc)
    if caller is not None and code.holds(caller):
        return code.place(caller)
    return "" if pc is None else f"pc 0x{pc:08x}"
