"""Why a verdict may be believed: how a program's code was found, and how much of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Evidence:
    """What led the scan through one file.

    `entries`, `vectors` and `functions` are how many places it was entered at: where the file or
    the user says that it starts, where vector tables lead, and where symbols say that functions
    begin. Of `executable` bytes `reached` are instructions that control is known to come to, and
    `unreached` look like functions to which nothing leads. Of those reached `privileged` are not
    judged, because of what `privileged_by` names: they run beside guests. `by_policy` says that a
    policy told what may be executed, and not the program's headers alone. `remarks` are sentences
    on what didn't fit.
    """

    entries: int = 0
    vectors: int = 0
    functions: int = 0
    executable: int = 0
    reached: int = 0
    unreached: int = 0
    privileged: int = 0
    privileged_by: tuple[str, ...] = ()
    by_policy: bool = False
    remarks: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The figures as clauses."""
        ways = [
            _count(number, what)
            for number, what in (
                (self.entries, "entry"),
                (self.vectors, "vector"),
                (self.functions, "function"),
            )
            if number
        ]
        clauses = [
            f"from {_joined(ways) or 'nowhere'} {self.reached} of {self.executable} bytes reached"
        ]
        if self.privileged_by:
            by = ", ".join(self.privileged_by)
            clauses.append(f"{self.privileged} of them privileged and not judged ({by})")
        if self.unreached:
            clauses.append(f"{self.unreached} more look like code")
        if not self.by_policy:
            clauses.append("executable segments alone, without a policy")
        return "; ".join([*clauses, *self.remarks])


def _count(number: int, noun: str) -> str:
    many = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{number} {noun if number == 1 else many}"


def _joined(parts: list[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
