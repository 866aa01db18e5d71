"""The diff of a port: the project's own files, then those of others under a head for each folder.

`git apply` and `patch` pass over the heads: they are text between the diffs of two files.
"""

from __future__ import annotations

from collections.abc import Iterator

from porter.judging.verdict import Status
from porter.output.unified_diff import unified_diff
from porter.output.vendor_report import VendorPort, own_files, vendor_ports
from porter.result import FilePort, PortResult
from porter.rules.registry import RULES


def whole_diff(result: PortResult) -> bytes:
    """Every file that changes."""
    return b"".join(_parts(result))


def _parts(result: PortResult) -> Iterator[bytes]:
    yield from map(_file, own_files(result))
    for vendor in vendor_ports(result):
        parts = [part for part in map(_file, vendor.files) if part]
        if parts:
            yield _head(vendor).encode()
            yield from parts


def _file(port: FilePort) -> bytes:
    return unified_diff(port.file, port.edits, port.is_new)


def _head(vendor: VendorPort) -> str:
    """What becomes of a folder, by rules, and why."""
    why = {rule.id: rule.why for rule in RULES}
    lines = [
        f"{vendor.folder}: files of somebody else ({vendor.why}); {vendor.edited} of them change:",
        *(
            f"  {count} by the rule {rule}{f': {why[rule]}' if rule in why else ''}"
            for rule, count in vendor.rules(Status.REWRITTEN).most_common()
        ),
    ]
    return "".join(f"# {line}\n" for line in lines)
