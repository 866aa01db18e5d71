"""What a port leaves in its copy of a project, for whoever judges a program built from it.

Sites that were rewritten are only counted. Of what stays, each line is kept as it is in the
original and where it stands in the copy. Who reads it needs nothing of what judged.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from porter.ledger.acknowledged import OpenPlace
from porter.project.source_tree import PORT_RECORD
from scanner.report.errors import FvmError, MissingError

SCHEMA = 2


@dataclass(frozen=True)
class Kept:
    """A site that stays. `first` and `last`: its lines in the copy; `where`: the function;
    `absent`: it was left because the program would not have it."""

    status: str
    rule: str
    file: str
    line: int
    text: str
    what: str
    where: str
    first: int
    last: int
    absent: bool
    reason: str

    @property
    def place(self) -> OpenPlace:
        """As an acknowledgement names it."""
        return OpenPlace(self.rule, self.file, self.line, self.text, self.what)


@dataclass(frozen=True)
class Record:
    """A port: how many sites ended how, the files of the copy with their sums, and what stays."""

    rewritten: int
    left: int
    escalated: int
    sums: dict[str, str]
    kept: tuple[Kept, ...]
    overlooked: tuple[OpenPlace, ...]

    @property
    def found(self) -> int:
        """All sites."""
        return self.rewritten + self.left + self.escalated


def write_record(record: Record, edited: set[str], path: Path) -> None:
    """Write it beside the copy's files; `edited`: those that differ from the original."""
    document = {
        "schema": SCHEMA,
        "edited": {name: record.sums[name] for name in sorted(edited)},
        **asdict(record),
    }
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def read_record(copy: Path) -> Record:
    """What the port wrote. Raises MissingError if there is no record, FvmError if it is none."""
    path = copy / PORT_RECORD
    hint = "run fvmkit port again, with --out"
    try:
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if data["schema"] != SCHEMA:
            raise FvmError(f"schema {data['schema']} is not known", file=path, hint=hint)
        return Record(
            int(data["rewritten"]),
            int(data["left"]),
            int(data["escalated"]),
            {str(name): str(digest) for name, digest in data["sums"].items()},
            tuple(Kept(**_typed(Kept, item)) for item in data["kept"]),
            tuple(OpenPlace(**_typed(OpenPlace, item)) for item in data["overlooked"]),
        )
    except OSError as error:
        raise MissingError(
            f"is no record of a port: {error.strerror}", file=path, hint=hint
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FvmError(f"is no record of a port: {error!r}", file=path, hint=hint) from None


def _typed(kind: type[Kept] | type[OpenPlace], item: dict[str, Any]) -> dict[str, Any]:
    """The fields of one entry, each of the type that it has in the class."""
    types = {"str": str, "int": int, "bool": bool}
    return {it.name: types[str(it.type)](item[it.name]) for it in fields(kind)}


def sha256(data: bytes) -> str:
    """Hexadecimal digest."""
    return hashlib.sha256(data).hexdigest()
