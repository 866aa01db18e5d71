"""The tables of docs/faults.md: what the campaign found, and why a class can't be shown here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

BEGIN, END = "<!-- made by make faults -->", "<!-- end -->"

# The observables named by a class, beside O1-O4 and O6 that hold for all.
CLASSES = {
    "S01": ("null read", "O5"), "S02": ("null write", "O5"), "S03": ("null call", "O5"),
    "S04": ("read of another VM's RAM", "O5"), "S05": ("write of another VM's RAM", "O5"),
    "S06": ("read of the kernel's RAM", "O5"), "S07": ("write of the kernel's RAM", "O5"),
    "S08": ("write of its own kernel objects", "O5"), "S09": ("write of its own code", "O5"),
    "S10": ("write of others' flash", "O5"), "S11": ("read of others' flash", "O5"),
    "S12": ("read of another's device", "O5"), "S13": ("write of another's device", "O5"),
    "S14": ("system control space", "O5"), "S15": ("registers of the MPU", "O5"),
    "S16": ("one byte past each edge", "O5"), "S17": ("accesses across an edge", "O5"),
    "S18": ("hole of subregions", "O5"), "S19": ("execution of its own RAM", "O5"),
    "S20": ("execution of another's code", "O5"), "S21": ("unaligned accesses", "O5"),
    "S22": ("foreign stack, then an interrupt", "O5"),
    "S23": ("stack in the kernel, then a call", "O5"), "S24": ("stack at an edge", "O5"),
    "S25": ("recursion without end", "O5"), "S26": ("saved context elsewhere", ""),
    "S27": ("DMA into others' RAM", "O5"), "S28": ("bit-band aliases", "O5"),
    "S29": ("unmapped addresses", "O5"), "S30": ("read-only shared memory", "O5"),
    "C01": ("forged EXC_RETURN", ""), "C02": ("false claims of an FPU frame", "O5"),
    "C03": ("forged mstatus", ""), "C04": ("forged xPSR", "O5"), "C05": ("forged pc", "O5"),
    "C06": ("forged SP", "O5"), "C07": ("special registers", "O7"),
    "C08": ("CPS, WFI, WFE, SEV, BKPT", "O5, O7"), "C09": ("wild calls", "O7"),
    "C10": ("wild capabilities", "O7"), "C11": ("frames of calls outside", "O5"),
    "C12": ("arguments at the ends of their ranges", "O7"),
    "C13": ("arguments that change meanwhile", "O7"),
    "C14": ("registration after lockdown", "O7"), "C15": ("another's line", "O7"),
    "C16": ("illegal instructions", "O5"), "C17": ("its own vectors and RAM spoilt", "O5, O8"),
    "C18": ("forged capability words", "O7"), "C19": ("fault at every start", "O8"),
    "C20": ("boot data that make it fault", "O8"), "C21": ("SP moved while USR waits", "O5"),
    "C22": ("call with a bad SP", "O5"), "T01": ("loop in a task", ""),
    "T02": ("loop, masked", ""), "T03": ("loop in VCT", ""), "T04": ("watchdog", "O5, O8"),
    "T05": ("false feeding of the watchdog", "O5, O8"), "T06": ("shares", ""),
    "T07": ("priority beyond a ceiling", ""), "T08": ("storm of calls", "O7"),
    "T09": ("flood of events", ""), "T10": ("line never cleared", ""),
    "T11": ("back-off", ""), "T12": ("long instructions", "O7"), "T13": ("sleep for ever", ""),
    "T14": ("interrupt in kernel paths", ""), "T15": ("interrupt at every instruction", ""),
    "T16": ("sleep before each tick", "O7"), "F01": ("FPU registers of others", "O7"),
    "F02": ("forged FPU state", "O5"), "F03": ("place of lazy stacking", "O5"),
    "F04": ("registers after calls", "O7"), "F05": (".data and .bss after a restart", "O7"),
    "F06": ("flipped bits in the context", ""), "F07": ("FPU part of a frame elsewhere", "O5"),
}  # fmt: skip

ELSEWHERE = {
    "S26": "not here: the kernel's pointer to the context is set at boot and no call changes it;"
    " the invariants compare it at the end of every run",
    "C03": "not here: a register of RISC-V",
    "F02": "shown as C02: on this processor it is bit 4 of EXC_RETURN",
    "F05": "shown by C17: the victim tells what it finds",
    "T06": "shown by tests/runtime/test_shares.py",
    "T07": "shown by tests/runtime: a ceiling is a capability's",
    "T11": "shown by C19 and C20 (restarts of a row are delayed) and tests/runtime",
}
NOTES = {
    "S10": "no control: QEMU's flash ignores stores, as the chip's does",
    "S17": "QEMU checks an unaligned word by its first byte, so one that straddles passes there",
    "S27": "QEMU has no bus master here; the controller's registers are out of reach",
    "S29": "QEMU knows no imprecise bus error",
}


def write(document: Path, results: Sequence[Mapping[str, Any]], longest: Mapping[str, Any]) -> None:
    """Between the markers; the rest of the page is kept."""
    text = document.read_text("utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    made = "\n".join([*classes(results), "", longest_sentence(longest), "", *paths(longest)])
    document.write_text(f"{before}{BEGIN}\n\n{made}\n\n{END}{after}", "utf-8")


def classes(results: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = [
        "| class | what | observables beside O1-O4, O6 | runs | controls | result |",
        "|---|---|---|---|---|---|",
    ]
    for name, (what, observables) in CLASSES.items():
        mine = [r for r in results if r["id"] == name]
        runs = sum(r["role"] != "control" for r in mine)
        controls = sum(r["role"] == "control" for r in mine)
        lines.append(
            f"| {name} | {what} | {observables} | {runs} | {controls} | {verdict(name, mine)} |"
        )
    return lines


def verdict(name: str, mine: Sequence[Mapping[str, Any]]) -> str:
    if not mine:
        return ELSEWHERE.get(name, "not shown")
    broken = [r["name"] for r in mine if r["broken"]]
    said = f"broken: {'; '.join(broken)}" if broken else "holds"
    return f"{said}; {NOTES[name]}" if name in NOTES else said


def longest_sentence(longest: Mapping[str, Any]) -> str:
    kind = longest["longest"]
    if kind is None:
        return "No kernel path was measured."
    path = longest["kinds"][kind]
    return (
        f"Longest kernel path of all runs: {path['instructions']} instructions"
        f" (goal {longest['goal']}), entry `{kind}` {path['argument']}, during {path['during']}."
    )


def paths(longest: Mapping[str, Any]) -> list[str]:
    lines = ["| entry | instructions | during | where they are |", "|---|---|---|---|"]
    for kind, path in longest["kinds"].items():
        profile = ", ".join(f"`{name}` {count}" for name, count in path["profile"].items())
        lines.append(f"| {kind} | {path['instructions']} | {path['during']} | {profile} |")
    return lines
