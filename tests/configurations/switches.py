"""What a description can switch, what of it doesn't go together, and the configurations.

All pairs of values are built. Of what the kernel's assembler is compiled by, every three: the
breach that made this needed three at once (lines that wait, a process's line, no process FPU).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from tests.configurations.covering import Forbidden, Row, Strength, cover

SEED = 24
NETDUINO = "netduinoplus2"
NO_FPU = "mps2-an385"

FACTORS: Mapping[str, tuple[str, ...]] = {
    "board": (NETDUINO, NO_FPU, "mps2-an386", "mps2-an500"),
    "vms": ("0", "1", "2", "3"),
    "vm-lines": ("none", "equal", "held"),  # held: those of the less urgent wait
    "vm-fpu": ("none", "one", "all"),
    "processes": ("0", "1", "2", "3"),
    "process-line": ("no", "yes"),
    "process-fpu": ("none", "one", "all"),
    "ports": ("no", "yes"),
    "objects": ("none", "slots", "memory"),
    "threads": ("one", "several"),
    "timers": ("no", "yes"),
    "events": ("no", "yes"),
    "log": ("none", "console", "text"),
    "fault": ("restart", "at-once", "stop", "user"),
    "watchdog": ("no", "yes"),
    "split": ("no", "yes"),
    "pins": ("no", "yes"),
    "optimize": ("0", "1", "2", "3", "s", "g"),
    "protection": ("on", "off"),
    "hostile": ("none", "vm", "process", "both"),
}


def _not(**values: str) -> Mapping[str, frozenset[str]]:
    """Values that don't go together; several of a factor are separated by blanks."""
    return {name.replace("_", "-"): frozenset(said.split()) for name, said in values.items()}


FORBIDDEN: Forbidden = (
    _not(vms="0", processes="0"),
    *(
        _not(vms="0", **{factor: values})
        for factor, values in (
            ("vm_lines", "equal held"), ("vm_fpu", "one all"), ("log", "text"),
            ("watchdog", "yes"), ("split", "yes"), ("pins", "yes"), ("hostile", "vm both"),
        )
    ),
    _not(vms="1", vm_lines="held"),
    _not(vms="1", vm_fpu="all"),  # as one
    *(
        _not(processes="0", **{factor: values})
        for factor, values in (
            ("process_line", "yes"), ("process_fpu", "one all"), ("ports", "yes"),
            ("objects", "slots memory"), ("threads", "several"), ("timers", "yes"),
            ("fault", "user"), ("split", "yes"), ("hostile", "process both"),
        )
    ),
    *(
        _not(processes="1", **{factor: values})
        for factor, values in (
            ("process_fpu", "all"), ("ports", "yes"), ("objects", "slots"),
            ("hostile", "process both"),  # the first one decides and watches: it behaves
        )
    ),
    _not(vms="0", processes="1", fault="user"),
    # Who decides about processes has threads of higher priorities, for good.
    _not(vms="0", fault="user", threads="several"),
    _not(vms="0", fault="user", objects="memory"),
    _not(board=NO_FPU, vm_fpu="one all"),
    _not(board=NO_FPU, process_fpu="one all"),
    _not(board="mps2-an385 mps2-an386 mps2-an500", split="yes"),  # a device of the STM32
    _not(board="mps2-an385 mps2-an386 mps2-an500", pins="yes"),
    # Who has no timer waits for a line, and the events of those who have.
    _not(processes="1 2 3", timers="no", process_line="no"),
    _not(timers="no", threads="several"),
    _not(protection="off", hostile="vm process both"),
    _not(ports="yes", fault="stop", hostile="process both"),  # who serves would stop at once
)  # fmt: skip

# What entry.S and its parts are compiled by.
ASSEMBLED: Mapping[str, Mapping[str, str]] = {
    "board": {b: "no fpu" if b == NO_FPU else "fpu" for b in FACTORS["board"]},
    "vms": {n: "none" if n == "0" else "some" for n in FACTORS["vms"]},
    "vm-lines": {v: "held" if v == "held" else "not held" for v in FACTORS["vm-lines"]},
    "process-line": {v: v for v in FACTORS["process-line"]},
    "process-fpu": {v: "no" if v == "none" else "yes" for v in FACTORS["process-fpu"]},
    "ports": {v: v for v in FACTORS["ports"]},
    "objects": {v: "no" if v == "none" else "slots" for v in FACTORS["objects"]},
}

# Where the breach was: a short run has it in any case.
BREACH = {"vm-lines": "held", "process-line": "yes", "process-fpu": "none", "board": NETDUINO}


@cache
def configurations() -> tuple[Row, ...]:
    strengths = (Strength(2, FACTORS), Strength(3, FACTORS, ASSEMBLED))
    return tuple(cover(FACTORS, FORBIDDEN, strengths, SEED))


def name_of(row: Row) -> str:
    return f"c{configurations().index(row):02}"


def number_of(name: str) -> int:
    return int(name[1:])


def short_form(count: int) -> list[int]:
    """Configurations that meet the breach, and most of what the assembler is compiled by."""
    rows, strength = configurations(), Strength(3, FACTORS, ASSEMBLED)
    meets = [i for i, row in enumerate(rows) if BREACH.items() <= row.items()]
    chosen, met = meets[:1], set(strength.met_by(rows[meets[0]]))
    while len(chosen) < count:
        rest = [i for i, row in enumerate(rows) if i not in chosen and row["protection"] == "on"]
        chosen.append(max(rest, key=lambda i: len(set(strength.met_by(rows[i])) - met)))
        met |= set(strength.met_by(rows[chosen[-1]]))
    return chosen
