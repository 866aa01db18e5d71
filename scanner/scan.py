"""The scan of one file, as commands and other packages call it."""

from __future__ import annotations

import stat
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING

from scanner.policy import Policy, load_policy
from scanner.report.errors import MissingError
from scanner.report.finding import FileReport, Finding

if TYPE_CHECKING:
    from scanner.image.model import Image, Problem

ARCHITECTURES = ("armv7m", "armv7em")
"""What the rules are written for, the smaller first: each runs the code of those before it."""

_DEFAULT_ARCHITECTURE = "armv7em"
_UNKNOWN = "unknown"
_MAX_FILE = 256 << 20


def scan_file(
    path: str | PathLike[str],
    policy: Policy | str | PathLike[str] | None = None,
    strict: bool = False,
    arch: str | None = None,
) -> FileReport:
    """Scan a finished program for what an unprivileged guest must not hold.

    `policy` is a domain's policy or the path of its `.domain.json`; without one the defaults of
    `Policy` hold. With `strict` a possible silent instruction rejects like a certain one. `arch`
    overrides what the file says it was built for. Raises MissingError if a file can't be opened
    and FvmError for a policy that can't be read; a program that can't be trusted is no error but
    a report that rejects.
    """
    if policy is None or isinstance(policy, Policy):
        rules = policy or Policy()
    else:
        rules = load_policy(policy)
    data = _read(Path(path))
    report = scan_bytes(data, fspath(path), rules, arch)
    return replace(report, strict=strict)


def scan_bytes(data: bytes, name: str, policy: Policy, arch: str | None = None) -> FileReport:
    """The same for a program in memory; `name` stands for the file in the report."""
    from scanner.engine import find
    from scanner.image.elf import load_elf
    from scanner.image.model import Problem

    if len(data) > _MAX_FILE:
        text = f"larger than {_MAX_FILE >> 20} MiB, which no microcontroller's program is"
        return FileReport(name, _UNKNOWN, (_file_finding(Problem("elf-malformed", text)),))
    image = load_elf(data)
    built_for = arch or image.arch
    problems = [*image.problems, *_machine_problems(image, policy, arch)]
    findings = [_file_finding(problem) for problem in problems]
    if image.segments:
        findings += find(image, policy)
        built_for = built_for or policy.arch or _DEFAULT_ARCHITECTURE
    findings.sort(key=lambda f: (not f.rejects(strict=False), not f.rejects(True), f.address or 0))
    return FileReport(name, built_for or _UNKNOWN, tuple(findings))


def _read(path: Path) -> bytes:
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise MissingError("can't scan: not a regular file", file=path)
        with path.open("rb") as stream:
            return stream.read(_MAX_FILE + 1)
    except OSError as error:
        raise MissingError(f"can't open: {error.strerror}", file=path) from None


def _machine_problems(image: Image, policy: Policy, forced: str | None) -> list[Problem]:
    """A core that the rules don't know, or that the domain's chip is not."""
    from scanner.image.model import Problem

    built_for = forced or image.arch
    if built_for is None:
        return []
    if built_for not in ARCHITECTURES:
        known = ", ".join(ARCHITECTURES)
        return [Problem("wrong-machine", f"built for {built_for}; the rules know {known}")]
    if policy.arch in ARCHITECTURES and _rank(built_for) > _rank(policy.arch):
        return [Problem("wrong-machine", f"built for {built_for}; the chip is {policy.arch}")]
    return []


def _rank(architecture: str | None) -> int:
    return ARCHITECTURES.index(architecture) if architecture in ARCHITECTURES else -1


def _file_finding(problem: Problem) -> Finding:
    from scanner.rules.file_rules import FILE_RULES

    rule = FILE_RULES[problem.rule]
    return Finding(
        rule=rule.id,
        address=problem.address,
        offset=None,
        function=None,
        source=None,
        severity="silent",
        certainty="certain",
        text=problem.text,
        why=rule.why,
        fix=rule.fix,
    )
