"""What one domain is allowed: the part of `<domain>.domain.json` that the scanner needs."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import Any

from scanner.report.documents import ShapeError, field, read_document
from scanner.report.errors import FvmError

HYPERCALL_SVC = 245
"""The SVC immediate of every FVM call."""

_HINT = "take the DOMAIN.domain.json that `fvmkit compose` wrote"


@dataclass(frozen=True)
class Grant:
    """Addresses the domain may touch: [base, base + size), `kind` as compose writes it."""

    name: str
    kind: str
    base: int
    size: int
    writable: bool = True

    @property
    def end(self) -> int:
        """First address behind the grant."""
        return self.base + self.size


@dataclass(frozen=True)
class Policy:
    """Allowances of one domain; the defaults hold where no domain is named.

    `grants` is None where nothing is known about them: then no access is judged by them.
    """

    domain: str | None = None
    arch: str | None = None
    svc: frozenset[int] = frozenset({HYPERCALL_SVC})
    fpu: bool = True
    wfi: bool = False
    semihosting: bool = False
    grants: tuple[Grant, ...] | None = None

    def code_grants(self) -> tuple[Grant, ...]:
        """The memory that the domain can execute."""
        return tuple(grant for grant in self.grants or () if grant.kind == "code")


def load_policy(path: str | PathLike[str]) -> Policy:
    """Read a domain file. Raises MissingError if it can't be opened, FvmError if it is no such."""
    document = read_document(path, "domain file", _HINT)
    try:
        return _policy(document)
    except ShapeError as error:
        raise FvmError(f"not a domain file: {error}", file=path, hint=_HINT) from None


def _policy(document: Any) -> Policy:
    grants = tuple(
        Grant(
            name=field(item, "name", str),
            kind=field(item, "kind", str),
            base=field(item, "base", int),
            size=field(item, "size", int),
            writable="access" not in item or "w" in field(item, "access", str),
        )
        for item in field(document, "grants", list)
    )
    numbers = field(document, "svc", list)
    if not all(type(number) is int for number in numbers):
        raise ShapeError("'svc' is not a list of numbers")
    return Policy(
        domain=field(document, "name", str),
        arch=field(document, "arch", str),
        svc=frozenset(numbers),
        fpu=field(document, "fpu", bool),
        wfi=field(document, "wfi", bool),
        semihosting="semihosting" in document and field(document, "semihosting", bool),
        grants=grants,
    )
