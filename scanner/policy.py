"""What one domain is allowed: the part of `<domain>.domain.json` that the scanner needs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from scanner.report.errors import FvmError, MissingError

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
    grants: tuple[Grant, ...] | None = None

    def code_grants(self) -> tuple[Grant, ...]:
        """The memory that the domain can execute."""
        return tuple(grant for grant in self.grants or () if grant.kind == "code")


def load_policy(path: str | PathLike[str]) -> Policy:
    """Read a domain file. Raises MissingError if it can't be opened, FvmError if it is no such."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise MissingError(f"can't open the policy: {error.strerror}", file=path) from None
    except UnicodeDecodeError:
        raise FvmError("not a text file", file=path, hint=_HINT) from None
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise FvmError(
            f"not JSON: {error.msg}", file=path, line=error.lineno, column=error.colno, hint=_HINT
        ) from None
    except RecursionError:
        raise FvmError("not a domain file: nested too deeply", file=path, hint=_HINT) from None
    try:
        return _policy(document)
    except _ShapeError as error:
        raise FvmError(f"not a domain file: {error}", file=path, hint=_HINT) from None


class _ShapeError(Exception):
    """The JSON is not what compose writes."""


def _policy(document: Any) -> Policy:
    if _field(document, "schema", int) != 1:
        raise _ShapeError("'schema' is not 1")
    grants = tuple(
        Grant(
            name=_field(item, "name", str),
            kind=_field(item, "kind", str),
            base=_field(item, "base", int),
            size=_field(item, "size", int),
        )
        for item in _field(document, "grants", list)
    )
    numbers = _field(document, "svc", list)
    if not all(type(number) is int for number in numbers):
        raise _ShapeError("'svc' is not a list of numbers")
    return Policy(
        domain=_field(document, "name", str),
        arch=_field(document, "arch", str),
        svc=frozenset(numbers),
        fpu=_field(document, "fpu", bool),
        wfi=_field(document, "wfi", bool),
        grants=grants,
    )


def _field(document: Any, name: str, kind: type) -> Any:
    if not isinstance(document, dict) or name not in document:
        raise _ShapeError(f"'{name}' is missing")
    if type(document[name]) is not kind:
        raise _ShapeError(f"'{name}' is not of type {kind.__name__}")
    return document[name]
