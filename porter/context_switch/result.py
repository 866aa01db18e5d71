"""What the transcriber hands to the rest of the porter: byte ranges and their replacement."""

from __future__ import annotations

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
ROLE_OTHER = "other"

_UNPROVED = "NOT PROVED: read how it resumes the first task"


@dataclass(frozen=True)
class SwitchPort:
    """One edit of an original file, a new file, or one function that a person has to port.

    `start` and `end` count bytes of the file as it is on disk; `replacement` has the file's own
    line ends. An escalated entry covers the function's definition and repeats its bytes, so
    applying it changes nothing. `proof` is that of a rewritten handler; one that is `unproved` is
    written all the same, for a person who has to look at it.
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
    unproved: bool = False

    @property
    def verdict(self) -> str:
        """What the report says of it: a person must look at what isn't proved."""
        return ESCALATED if self.unproved else self.status


def with_proofs(
    edits: list[SwitchPort], source: Path, proofs: dict[int, Proof | None]
) -> list[SwitchPort]:
    """The edits with the proofs of the functions of `source`, which are by the function's start."""
    return [
        replace(
            edit,
            proof=proofs[edit.start],
            unproved=proofs[edit.start] is None,
            reason=f"{edit.reason}; {proofs[edit.start] or _UNPROVED}",
        )
        if edit.file == source and edit.start < edit.end and edit.start in proofs
        else edit
        for edit in edits
    ]


def companion_of(source: Path) -> Path:
    """The C file beside an assembler file that holds what was taken out of it."""
    return source.with_name(f"{source.stem}_fvm.c")


class NotTranscribable(Exception):
    """A function the transcriber doesn't fully understand; str() is the reason for a person."""
