"""What is known about a transcription after its proof."""

from __future__ import annotations

from dataclasses import dataclass

from porter.context_switch.result import NotTranscribable


class NotProved(NotTranscribable):
    """Original and port differ, or part of the original wasn't compared; str() says where."""


@dataclass(frozen=True)
class Runs:
    """Side by side in an emulator: `states` compared, of the original's `instructions` all ran,
    and each of its `conditions` went both ways."""

    states: int
    instructions: int
    conditions: int


@dataclass(frozen=True)
class Proof:
    """Both oracles agree. `paths` are those of the original that the solver compared; `steps` is
    how many instructions the port's C runs in the mean of all states; `seconds` of processor time
    for both, which the text leaves out so that equal input gives equal reports. `yields`: how many
    cooperative yields were compared with the handler."""

    runs: Runs
    paths: int
    steps: float
    seconds: float
    yields: int = 0

    def __str__(self) -> str:
        runs = self.runs
        return (
            f"proved: equal from {runs.states} states (all {runs.instructions} instructions ran, "
            f"{runs.conditions} conditions both ways) and, on {self.paths} paths, for all states "
            "(z3)"
        ) + (f"; {self.yields} yields equal to it" if self.yields else "")
