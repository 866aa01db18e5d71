"""The scan of one file, as commands and other packages call it."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike, fspath
from typing import TYPE_CHECKING

from scanner.arch.chips import Chip, chip
from scanner.arch.registry import ARCHITECTURES, MACHINES
from scanner.policy import Policy, load_policy
from scanner.report.errors import MissingError
from scanner.report.finding import FileReport, Finding
from scanner.target import Target

if TYPE_CHECKING:
    from scanner.image.model import Image, Problem

_UNKNOWN = "unknown"
_ARM = 40
_MAX_FILE = 256 << 20


def scan_file(
    path: str | PathLike[str],
    policy: Policy | str | PathLike[str] | None = None,
    strict: bool = False,
    arch: str | None = None,
    chip_name: str | None = None,
    base: int | None = None,
    entries: Sequence[int] = (),
    guess: bool = True,
    source_root: str | None = None,
    privileged: Sequence[str] = (),
    why: bool = False,
) -> FileReport:
    """Scan a finished program for what an unprivileged guest must not hold.

    `policy` is a domain's policy or the path of its `.domain.json`; without one the defaults of
    `Policy` hold. With `strict`, here or in the policy, a possible silent instruction rejects like
    a certain one. `arch` overrides what the file says it was built for; `chip_name` is the part or
    board it is meant for, in place of the policy's.
    `base` is the address of a raw binary's first byte; files of other formats say that themselves.
    `entries` are addresses where code starts, besides those that the file tells. Without `guess` a
    program for which nothing names a core is rejected. Source lines are those in
    `source_root`, where the files that the compiler saw are there. `privileged` are sections,
    functions or ranges BEGIN-END of code that runs with privilege and isn't judged; without them
    and without a domain's policy the layouts of known systems tell, unless it is ("none",). With
    `why` each finding has a path from where the program starts, if one is known.
    Raises MissingError if a file can't be opened or no such chip is known, and FvmError for a
    policy that can't be read; a program that can't be trusted is no error but a report that
    rejects.
    """
    rules = _rules(policy)
    data = _read(fspath(path))
    report = scan_bytes(
        data,
        fspath(path),
        rules,
        arch,
        chip_name,
        base,
        entries,
        guess,
        source_root,
        privileged,
        why,
    )
    return replace(report, strict=strict or report.strict)


def scan_bytes(
    data: bytes | bytearray | memoryview,
    name: str = "<bytes>",
    policy: Policy | str | PathLike[str] | None = None,
    arch: str | None = None,
    chip_name: str | None = None,
    base: int | None = None,
    entries: Sequence[int] = (),
    guess: bool = True,
    source_root: str | None = None,
    privileged: Sequence[str] = (),
    why: bool = False,
) -> FileReport:
    """The same for a program in memory; `name` stands for the file in the report.

    `data` is the whole content of a file of any format, and the report is strict if the policy is.
    """
    from scanner.engine import find
    from scanner.image.load import load_image
    from scanner.image.model import Problem
    from scanner.image.segments import entry_problems, wx_problems
    from scanner.source_tree import SourceTree

    data, policy = bytes(data), _rules(policy)
    part = _part_of(policy) if chip_name is None else chip(chip_name)
    if len(data) > _MAX_FILE:
        text = f"larger than {_MAX_FILE >> 20} MiB, which no microcontroller's program is"
        return _report(data, name, _UNKNOWN, [_file_finding(Problem("too-large", text))])
    base, remark, misplaced = _placed(data, base)
    image = load_image(data, base=base)
    core = arch or (policy.arch if chip_name is None else None)
    core = core or (part.arch if part else image.arch)
    guessed = core is None and bool(image.segments)
    if core is None:
        from scanner.arch.guess import guessed_architecture

        core = guessed_architecture(image)
    problems = [
        *image.problems,
        *misplaced,
        *entry_problems(image.segments, entries),
        *wx_problems(image.segments, policy.grants),
        *_host_problems(image, core, part, trusted=arch is not None),
    ]
    if remark is not None and not guess:
        problems.append(Problem("unknown-core", f"nothing says where it lies: {remark}"))
    if guessed and not guess:
        text = f"nothing says which core it is for; it would be taken for {core}"
        problems.append(Problem("unknown-core", text))
    findings: list[Finding] = []
    cores: tuple[str, ...] = (core,)
    evidence = None
    if image.segments and core in ARCHITECTURES and image.machine in (None, MACHINES[core]):
        tree = None if source_root is None else SourceTree(source_root)
        target = Target(core, policy, part.profile if part else None)
        names = (*policy.privileged, *privileged)
        pointers = [_pointer(entry, core) for entry in entries]
        found = find(image, target, pointers, guessed, tree, names, why)
        findings, cores, evidence = found.findings, found.cores, found.evidence
        problems += [] if found.problem is None else [found.problem]
    findings = [*(_file_finding(problem) for problem in problems), *findings]
    findings.sort(key=lambda f: (not f.rejects(strict=False), not f.rejects(True), f.address or 0))
    report = _report(data, name, cores[0] if image.segments else _UNKNOWN, findings)
    if evidence is not None and remark is not None:
        evidence = replace(evidence, remarks=(remark, *evidence.remarks))
    return replace(
        report,
        strict=policy.strict,
        guessed=guessed,
        besides=cores[1:],
        evidence=evidence,
        toolchain=image.toolchain,
    )


def _placed(data: bytes, base: int | None) -> tuple[int | None, str | None, list[Problem]]:
    """Where a raw binary lies, what to say if that was guessed, and what speaks against it."""
    from scanner.image.load import is_raw
    from scanner.image.model import Problem

    if not is_raw(data):
        return base, None, []
    from scanner.raw_base import fitting_base, why_elsewhere

    if base is None:
        found = fitting_base(data)
        return (None, None, []) if found is None else (found.address, f"guessed {found.text}", [])
    why = why_elsewhere(data, base)
    return base, None, [] if why is None else [Problem("raw-range", why)]


def _rules(policy: Policy | str | PathLike[str] | None) -> Policy:
    if policy is None or isinstance(policy, Policy):
        return policy or Policy()
    return load_policy(policy)


def _part_of(policy: Policy) -> Chip | None:
    """The part that the policy names, if its family is known."""
    try:
        return None if policy.chip is None else chip(policy.chip)
    except MissingError:
        return None


def _report(data: bytes, name: str, core: str, findings: Sequence[Finding]) -> FileReport:
    digest = hashlib.sha256(data).hexdigest()
    return FileReport(name, core, tuple(findings), digest)


def _read(path: str) -> bytes:
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise MissingError("can't scan: not a regular file", file=path)
        with open(path, "rb") as stream:
            return stream.read(_MAX_FILE + 1)
    except OSError as error:
        raise MissingError(f"can't open: {error.strerror}", file=path) from None


def _pointer(entry: int, core: str) -> int:
    """People name the place of an instruction; a Thumb code pointer has bit 0 set besides."""
    return entry | 1 if MACHINES[core] == _ARM else entry


def _host_problems(image: Image, core: str, part: Chip | None, trusted: bool) -> list[Problem]:
    """A core that the rules don't know, that the file wasn't built for, or that can't be a host.

    A `trusted` core is what the user says, whatever the file's attributes claim.
    """
    from scanner.arch.registry import architecture
    from scanner.image.model import Problem

    problems = []
    if part is not None and part.refused is not None:
        problems.append(Problem("no-host", f"{part.name}: {part.refused}"))
    if core not in ARCHITECTURES:
        known = ", ".join(ARCHITECTURES)
        problems.append(Problem("wrong-machine", f"built for {core}; the rules know {known}"))
    elif image.machine not in (None, MACHINES[core]):
        text = f"ELF machine {image.machine}; the chip is {core}"
        problems.append(Problem("wrong-machine", text))
    elif not trusted and image.arch is not None and image.arch not in architecture(core).runs:
        text = f"built for {image.arch}; the chip is {core}"
        problems.append(Problem("wrong-machine", text))
    return problems


def _file_finding(problem: Problem) -> Finding:
    from scanner.rules.file_rules import FILE_RULES

    rule = FILE_RULES[problem.rule]
    return Finding(
        rule=rule.id,
        address=problem.address,
        offset=None,
        function=None,
        source=None,
        severity="silent" if problem.rejects else "policy",
        certainty="certain",
        text=problem.text,
        why=rule.why,
        fix=rule.fix,
    )
