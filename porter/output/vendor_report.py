"""What a port does in folders of others, folder by folder: nobody reads their places one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from porter.judging.verdict import Status, Verdict
from porter.result import FilePort, PortResult


@dataclass(frozen=True)
class VendorPort:
    """The files of one folder, and why it is somebody else's."""

    folder: str
    why: str
    files: tuple[FilePort, ...]

    @property
    def verdicts(self) -> list[Verdict]:
        """Of all its files."""
        return [verdict for port in self.files for verdict in port.verdicts]

    @property
    def edited(self) -> int:
        """How many of its files change."""
        return sum(bool(port.edits) for port in self.files)

    def rules(self, status: Status) -> Counter[str]:
        """How many places each rule ended so."""
        return Counter(it.rule for it in self.verdicts if it.status is status)


def own_files(result: PortResult) -> list[FilePort]:
    """Files of the project's own, in order."""
    return [port for port in result.files if result.vendors.of(port.file.name) is None]


def vendor_ports(result: PortResult) -> Iterator[VendorPort]:
    """The folders of others in which something was found or changes."""
    for folder, why in sorted(result.vendors.why.items()):
        files = [port for port in result.files if result.vendors.of(port.file.name) == folder]
        if files:
            yield VendorPort(folder, why, tuple(files))


def own_first(result: PortResult) -> list[FilePort]:
    """All files, those of others behind the project's own."""
    return own_files(result) + [port for vendor in vendor_ports(result) for port in vendor.files]


def vendor_lines(result: PortResult) -> Iterator[str]:
    """One line a folder: how its places ended, by which rules."""
    for vendor in vendor_ports(result):
        places = vendor.verdicts
        ends = [
            f"{sum(rules.values())} {status.value}{_told(status, rules)}"
            for status in Status
            if (rules := vendor.rules(status))
        ]
        yield (
            f"{vendor.folder} ({vendor.why}): {_count(len(places), 'place')} in "
            f"{_count(len(vendor.files), 'file')}: {', '.join(ends) or 'nothing found'}"
        )


def vendor_counts(result: PortResult) -> str:
    """Which part of what was counted is in folders of others; "" for none."""
    vendors = list(vendor_ports(result))
    found = Counter(it.status for vendor in vendors for it in vendor.verdicts)
    if not found:
        return ""
    ends = ", ".join(f"{found[status]} {status.value}" for status in Status)
    return f" (in {_count(len(vendors), 'folder')} of others {found.total()} found, {ends})"


def vendor_json(result: PortResult) -> list[dict[str, object]]:
    """The same for programs."""
    return [
        {
            "folder": vendor.folder,
            "why": vendor.why,
            "files": len(vendor.files),
            "edited": vendor.edited,
            "found": len(vendor.verdicts),
            **{status.value: dict(vendor.rules(status).most_common()) for status in Status},
        }
        for vendor in vendor_ports(result)
    ]


def _told(status: Status, rules: Counter[str]) -> str:
    if status is Status.ESCALATED:
        return ", each told by itself"
    return f" ({', '.join(f'{count} {rule}' for rule, count in rules.most_common())})"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
