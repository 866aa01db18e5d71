"""Does any domain hold an instruction that it must not run? The scanner judges the image."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from composer.verify.checks.files import part_elf, stored_in
from composer.verify.checks.protection import wants
from composer.verify.described import HYPERVISOR
from composer.verify.mpu import decode
from composer.verify.subject import Subject
from scanner.policy import HYPERCALL_SVC, Grant, Policy
from scanner.report.finding import Finding
from scanner.scan import scan_bytes
from scanner.settle import settle

_FILE = struct.Struct("<4sBBBBB7xHHIIIIIHHHHHH")
_SEGMENT = struct.Struct("<IIIIIIII")


def policy(subject: Subject, index: int) -> Policy:
    """What a domain is allowed, from the description and its decoded memory."""
    domain = subject.expected.domains[index]
    row = subject.tables.domains[index]
    kinds = ("code", "ram")
    found = [
        Grant(
            want.what, kinds[n] if n < len(kinds) else "device", want.start, want.end - want.start
        )
        for n, want in enumerate(wants(subject, index))
    ]
    own = [(grant.base, grant.end) for grant in found]
    for area in decode(row.regions).areas:
        if not any(start <= area.start and area.end <= end for start, end in own):
            found.append(Grant("shared", "shared", area.start, area.end - area.start))
    return Policy(
        domain=domain.name,
        arch=subject.chip.core.arch,
        svc=frozenset({HYPERCALL_SVC}),
        fpu=domain.fpu,
        wfi=domain.name == HYPERVISOR,
        strict=domain.strict,
        grants=tuple(found),
    )


def check_guests(subject: Subject) -> Iterator[str]:
    """Every domain passes the scanner.

    With the part's ELF at hand, and the image holding its bytes, the scanner knows where code
    is; without, code is what branches, returns and pointers in the domain's flash lead to. Bytes
    that nothing leads to, data or the middle of an instruction, may look like any instruction.
    A waiver names a part by the sum of its ELF, so without that none covers anything.
    """
    for index, name in enumerate(subject.expected.names):
        elf = part_elf(subject, name)
        known = elf is not None and stored_in(subject, elf)
        content = elf if known and elf is not None else _wrapped(subject, index)
        report = settle(scan_bytes(content, name, policy(subject, index)), subject.waivers)
        for finding in report.findings:
            if finding.rejects(report.strict):
                yield f"'{name}': {finding.rule}{_where(finding)}: {finding.text}"


def _where(finding: Finding) -> str:
    if finding.address is None:
        return ""
    function = "" if finding.function is None else f" in {finding.function}"
    return f" at 0x{finding.address:08x}{function}"


def _wrapped(subject: Subject, index: int) -> bytes:
    """A domain's flash as an ELF of its own that starts at its first thread."""
    row = subject.tables.domains[index]
    flash = range(row.flash_base, row.flash_end)
    pieces = []
    for chunk in subject.memory.chunks:
        start, end = max(chunk.base, flash.start), min(chunk.end, flash.stop)
        if start < end:
            pieces.append((start, chunk.data[start - chunk.base : end - chunk.base]))
    entry = subject.memory.word(row.flash_base + 8) or 0
    offset = _FILE.size + _SEGMENT.size * len(pieces)
    headers, body = b"", b""
    for start, data in pieces:
        place, size = offset + len(body), len(data)
        headers += _SEGMENT.pack(1, place, start, start, size, size, 5, 4)
        body += data
    file = _FILE.pack(
        b"\x7fELF", 1, 1, 1, 0, 0, 2, 40, 1, entry, _FILE.size, 0, 0x05000000,
        _FILE.size, _SEGMENT.size, len(pieces), 0, 0, 0,
    )  # fmt: skip
    return file + headers + body
