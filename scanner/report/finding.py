"""What the scanner says about a file: findings, and the verdict that follows from them."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from pathlib import PurePath
from typing import Literal

from scanner.report.evidence import Evidence

Severity = Literal["silent", "traps", "policy"]
"""What happens when the guest gets there: nothing anyone sees; a fault; what the policy says."""

Certainty = Literal["certain", "possible"]
"""Whether control flow is known to reach these bytes as an instruction."""

Verdict = Literal["accept", "warn", "reject"]


@dataclass(frozen=True)
class Inlined:
    """A call that became the callee's body: of `function`, at the line `source`, in `caller`."""

    function: str
    source: str | None
    caller: str | None

    @property
    def text(self) -> str:
        """The call in words."""
        where = "" if self.source is None else f" at {self.source}"
        return f"{self.function} inlined{where} in {self.caller or 'no function'}"


_WAYS = {
    "entry": "the program starts in",
    "vector": "a vector table leads to",
    "symbol": "nothing is known to call",
    "call": "calls",
    "jump": "goes on in",
}


@dataclass(frozen=True)
class Step:
    """One step of a path: it starts in `function` at an address, or goes there from it.

    `way` is how, one of `entry`, `vector`, `symbol`, `call` and `jump`.
    """

    way: str
    function: str | None
    address: int
    source: str | None

    @property
    def text(self) -> str:
        """The step in words."""
        where = f"0x{self.address:08x}" + ("" if self.source is None else f" {self.source}")
        return f"{_WAYS[self.way]} {self.function or 'unnamed code'} ({where})"


@dataclass(frozen=True)
class Finding:
    """One forbidden or questionable thing in a file; address and offset are None for the file.

    `inlined` are the calls through which its source line came into `function`, the innermost first.
    `path` is one way from where the program starts, where it was asked for and one is known.
    `strict` says that it rejects even where it only may be an instruction.
    """

    rule: str
    address: int | None
    offset: int | None
    function: str | None
    source: str | None
    severity: Severity
    certainty: Certainty
    text: str
    why: str
    fix: str
    strict: bool = False
    inlined: tuple[Inlined, ...] = ()
    path: tuple[Step, ...] = ()

    def rejects(self, strict: bool) -> bool:
        """Only what hardware would not stop by itself keeps a binary out of flash."""
        certain = strict or self.strict or self.certainty == "certain"
        return self.severity == "silent" and certain


@dataclass(frozen=True)
class Waived:
    """A finding that counts no longer, and the reason: a person's, the baseline or a filter."""

    finding: Finding
    by: Literal["waiver", "baseline", "filter"]
    reason: str


@dataclass(frozen=True)
class FileReport:
    """The findings of one file, those that reject first, then by address.

    `sha256` is the sum of the file in hexadecimal. `waived` are findings that the verdict leaves
    out. `arch` is `guessed` where neither the user nor the file names a core; `besides` are other
    cores that could run the program, whose silent instructions count, too. `evidence` says how the
    code was found, where any could be looked for; `toolchain` is what the file says made it.
    """

    file: str
    arch: str
    findings: tuple[Finding, ...]
    sha256: str
    strict: bool = False
    waived: tuple[Waived, ...] = ()
    guessed: bool = False
    besides: tuple[str, ...] = ()
    evidence: Evidence | None = None
    toolchain: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """`reject` if any finding rejects, `warn` if there are others, else `accept`."""
        if any(finding.rejects(self.strict) for finding in self.findings):
            return "reject"
        return "warn" if self.findings else "accept"


def fingerprints(file: str, findings: tuple[Finding, ...], folders: int = 0) -> list[str]:
    """A name for each finding that outlives a rebuild which moves code or its lines.

    It is made of the file's name with so many `folders` before it, the rule, the grade, the
    function and the text, and of a number where these are equal; of the address only where no
    function is known. A finding that becomes graver is another one.
    """
    seen: Counter[tuple[str, ...]] = Counter()
    names = []
    for finding in findings:
        address = "" if finding.address is None else f"{finding.address:x}"
        parts = (
            "/".join(PurePath(file).parts[-1 - folders :]),
            finding.rule,
            finding.severity,
            finding.certainty,
            finding.function or address,
            finding.text,
        )
        seen[parts] += 1
        text = "\0".join([*parts, str(seen[parts])])
        names.append(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32])
    return names
