"""What the transcriber hands to the rest of the porter: byte ranges and their replacement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from porter.context_switch.proof.result import Proof

REWRITTEN = "rewritten"
ESCALATED = "escalated"

ROLE_SWITCH = "switch"
ROLE_SVC = "svc"
ROLE_START = "start"
ROLE_CALL = "call"
ROLE_OTHER = "other"
ROLE_STACK = "stack"  # puts its caller on PSP
ROLE_PART = "part"  # of handlers, which alone come to it
ROLE_QUERY = "query"  # escalated: no rule on C may port it either


@dataclass(frozen=True)
class SwitchPort:
    """One edit of an original file, a new file, or one function that a person has to port.

    `start` and `end` count bytes of the file as it is on disk; `replacement` has the file's own
    line ends. An escalated entry covers the function's definition and repeats its bytes, so
    applying it changes nothing. `proof` is that of a rewritten function.
    """

    file: Path
    start: int
    end: int
    replacement: bytes
    role: str
    name: str
    status: str
    reason: str
    proof: Proof | None = None


def with_proofs(
    edits: Sequence[SwitchPort], source: Path, proofs: dict[int, Proof]
) -> list[SwitchPort]:
    """The edits with the proofs of the functions of `source`, which are by the function's start."""
    return [
        replace(
            edit,
            proof=proofs[edit.start],
            reason=f"{edit.reason}; {proofs[edit.start]}",
        )
        if edit.file == source and edit.start < edit.end and edit.start in proofs
        else edit
        for edit in edits
    ]


def companion_of(source: Path) -> Path:
    """The C file beside an assembler file that holds what was taken out of it."""
    return source.with_name(f"{source.stem}_fvm.c")


TEMPLATES = "rtos-patches/templates"
WAITS = "waiting_handler.c"
OWN_CONDITION = (
    "of its assembler decides here what is assembled; leave only what this build assembles, or let "
    "the preprocessor decide, by #if"
)
DISPATCHES = "supervisor_call.c"
ONE_ENTRY = "common_entry.c"
FAKES_A_FRAME = "fake_frame.c"
ANY_SWITCH = "switch_handler.c"
ANY_TRAP = "trap_entry.c"
ANOTHER_WAY = (
    "goes to a task otherwise than by taking its exception frame apart (of eight words, or 26 "
    "where it has used the FPU before), or by calling the entry that it was given. Let it request "
    "the first switch"
)
ON_MAIN_STACK = (
    "switches on the main stack: it loads sp, and a machine's tasks are on PSP, its handlers on a "
    "stack of their own. Let tasks use PSP (CONTROL.SPSEL) and the handler read and write it "
    f"there; {TEMPLATES}/{ANY_SWITCH} shows such a handler"
)


class NotTranscribable(Exception):
    """A function the transcriber doesn't fully understand; str() is the reason for a person.
    `template`: the file of TEMPLATES that shows what can be done by hand."""

    def __init__(self, reason: str, template: str = "") -> None:
        self.template = template
        where = f"; {TEMPLATES}/{template} shows what to write instead" if template else ""
        super().__init__(reason + where)


class OneInstruction(NotTranscribable):
    """What the instruction at an address does; the reason says what to write instead."""

    def __init__(self, reason: str, address: int) -> None:
        self.address = address
        super().__init__(reason)


class Unprepared(NotTranscribable):
    """A function that needs no new text, only something that the project or its build must say."""
