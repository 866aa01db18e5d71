"""What the scanner finds in a legacy program that no virtual machine can run, whoever wrote it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from porter.project.domain import Domain
from scanner.image.load import load_image
from scanner.policy import Grant, Policy, load_policy
from scanner.report.errors import FvmError, MissingError
from scanner.report.finding import Finding
from scanner.rules.file_rules import FILE_RULES
from scanner.scan import scan_bytes

_BELOW_DEVICES, _DEVICES, _BUS = 0x1000_0000, 0x4000_0000, 0xE000_0000
_ABOVE_DEVICES = 0x6000_0000
_OF_MEMORY = frozenset({"wx-segment", "elf-overlap"})
"""What the project's own linker script made of memory: it isn't used any more."""


@dataclass(frozen=True)
class Program:
    """`findings` are certain and have an address; `doubtful`: how many are not certain."""

    path: Path
    data: bytes
    findings: tuple[Finding, ...]
    doubtful: int
    has_lines: bool


def read_program(path: Path, domain: Domain | None, shown: Path | None = None) -> Program:
    """Raises MissingError if the file can't be opened, FvmError if it can't be judged.

    `shown`: what to call it where its path is nobody's business.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise MissingError(f"can't be opened: {error.strerror}", file=path) from error
    report = scan_bytes(data, str(path), _policy(domain))
    for finding in report.findings:
        if finding.rule in FILE_RULES and finding.rule not in _OF_MEMORY:
            raise FvmError(
                f"can't be compared with the project: {finding.text}",
                file=path,
                hint="give the ELF that the project's own build makes",
            )
    kept = [it for it in report.findings if it.address is not None and it.rule not in FILE_RULES]
    certain = tuple(it for it in kept if it.certainty == "certain")
    image = load_image(data)
    if image.symbols is None:
        raise FvmError("has neither symbols nor lines", file=path, hint="give an ELF, not stripped")
    has_lines = any(it.source is not None for it in certain)
    return Program(shown or path, data, certain, len(kept) - len(certain), has_lines)


def _policy(domain: Domain | None) -> Policy:
    """What the domain may do, but in the old program's memory and on the old chip.

    Nothing that the description decides for a whole program is a site: FPU, memory. Every SVC is
    one, since no legacy program knows the hypercall.
    """
    if domain is None:
        return Policy(svc=frozenset())
    policy = load_policy(domain.path)
    devices = [grant for grant in policy.grants or () if grant.kind == "device"]
    memory = (
        Grant("memory", "ram", _BELOW_DEVICES, _DEVICES - _BELOW_DEVICES),
        Grant("external memory", "ram", _ABOVE_DEVICES, _BUS - _ABOVE_DEVICES),
    )
    return replace(
        policy, arch=None, chip=None, fpu=True, svc=frozenset(), grants=(*devices, *memory)
    )
