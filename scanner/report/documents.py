"""JSON files that a user hands to a command: read once, every surprise an error with its place."""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path
from typing import Any

from scanner.report.errors import FvmError, MissingError
from scanner.report.one_line import one_line

_SCHEMA = 1
_MAX_BYTES = 32 << 20


class ShapeError(Exception):
    """The JSON is sound, but not what was asked for."""


def read_document(path: str | PathLike[str], what: str, hint: str) -> Any:
    """A parsed file of schema 1; `what` is its kind as messages name it.

    Raises MissingError if it can't be opened, FvmError if it is no such document.
    """
    try:
        with Path(path).open("rb") as stream:
            content = stream.read(_MAX_BYTES + 1)
    except OSError as error:
        raise MissingError(f"can't open the {what}: {error.strerror}", file=path) from None
    if len(content) > _MAX_BYTES:
        raise FvmError(f"not a {what}: larger than {_MAX_BYTES >> 20} MiB", file=path, hint=hint)
    try:
        document = json.loads(content.decode())
        if field(document, "schema", int) != _SCHEMA:
            raise ShapeError(f"'schema' is not {_SCHEMA}")
    except UnicodeDecodeError:
        raise FvmError("not a text file", file=path, hint=hint) from None
    except json.JSONDecodeError as error:
        raise FvmError(
            f"not JSON: {error.msg}", file=path, line=error.lineno, column=error.colno, hint=hint
        ) from None
    except RecursionError:
        raise FvmError(f"not a {what}: nested too deeply", file=path, hint=hint) from None
    except ValueError:
        raise FvmError(f"not a {what}: a number without end", file=path, hint=hint) from None
    except ShapeError as error:
        raise FvmError(f"not a {what}: {error}", file=path, hint=hint) from None
    return document


def field(document: Any, name: str, kind: type) -> Any:
    """A field of exactly that type, text as reports can show it; raises ShapeError."""
    if not isinstance(document, dict) or name not in document:
        raise ShapeError(f"'{one_line(name)}' is missing")
    if type(document[name]) is not kind:
        raise ShapeError(f"'{one_line(name)}' is not of type {kind.__name__}")
    return one_line(document[name]) if kind is str else document[name]
