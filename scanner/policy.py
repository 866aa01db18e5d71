"""What one domain is allowed: the part of `<domain>.domain.json` that the scanner needs."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import Any

from scanner.privileged_names import check
from scanner.report.documents import ShapeError, field, read_document
from scanner.report.errors import FvmError

_SPACE = 1 << 32
_SVC_NUMBERS = range(256)
_KINDS = ("code", "ram", "device", "shared")

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

    `strict` rejects what only may be a silent instruction, too: of a stripped program a tenth of
    those that are can't be told from constants. `chip` is the part that it runs on: what its
    vendor built in. `grants` is None where nothing is known about them: then no access is judged
    by them. `privileged` names code that runs with privilege beside the domain.
    """

    domain: str | None = None
    arch: str | None = None
    chip: str | None = None
    svc: frozenset[int] = frozenset({HYPERCALL_SVC})
    fpu: bool = True
    wfi: bool = False
    semihosting: bool = False
    strict: bool = False
    grants: tuple[Grant, ...] | None = None
    privileged: tuple[str, ...] = ()

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
    numbers = field(document, "svc", list)
    if not all(type(number) is int and number in _SVC_NUMBERS for number in numbers):
        raise ShapeError("'svc' is not a list of numbers from 0 to 255")
    return Policy(
        domain=field(document, "name", str),
        arch=field(document, "arch", str),
        chip=field(document, "chip", str) if "chip" in document else None,
        svc=frozenset(numbers),
        fpu=field(document, "fpu", bool),
        wfi=field(document, "wfi", bool),
        semihosting="semihosting" in document and field(document, "semihosting", bool),
        strict="strict" in document and field(document, "strict", bool),
        grants=tuple(map(_grant, field(document, "grants", list))),
        privileged=_privileged(document),
    )


def _privileged(document: Any) -> tuple[str, ...]:
    names = field(document, "privileged", list) if "privileged" in document else []
    for name in names:
        if not isinstance(name, str):
            raise ShapeError("'privileged' holds what is no text")
        try:
            check(name)
        except ValueError as error:
            raise ShapeError(f"'privileged': {error}") from None
    return tuple(names)


def _grant(item: Any) -> Grant:
    """What can't be meant is refused: a misspelled kind would leave code unseen."""
    grant = Grant(
        name=field(item, "name", str),
        kind=field(item, "kind", str),
        base=field(item, "base", int),
        size=field(item, "size", int),
        writable="access" not in item or "w" in field(item, "access", str),
    )
    if grant.kind not in _KINDS:
        raise ShapeError(f"the 'kind' of grant '{grant.name}' is none of {', '.join(_KINDS)}")
    if grant.base < 0 or grant.size <= 0 or grant.end > _SPACE:
        raise ShapeError(f"grant '{grant.name}' is not a range of 32-bit addresses")
    return grant
