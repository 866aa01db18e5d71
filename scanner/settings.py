"""Options from a file: `[tool.fvmkit.scan]` in pyproject.toml, or `[scan]` in .fvmkit.toml.

The nearest folder upwards that has one counts, no further than the repository's root. A key is
the name of an option without its dashes, `files` stands for the arguments; the command line wins.
What is misspelled is an error: a gate that silently isn't there would be none.
"""

from __future__ import annotations

import importlib
import os
import sys
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click

_OWN, _SHARED = ".fvmkit.toml", "pyproject.toml"
_NOT_HERE = ("config", "no-config", "help")


def use_settings(context: click.Context, option: click.Parameter, path: str | None) -> str | None:
    """Callback of the eager option --config: the file's keys become defaults of the command."""
    if path is None and context.params.get("no_config"):
        return None
    found = _nearest(Path.cwd()) if path is None else _named(Path(path))
    if found is None:
        return None
    file, table = found
    context.default_map = _defaults(context.command, file, table)
    return str(file)


def _nearest(folder: Path) -> tuple[Path, dict[str, Any]] | None:
    for place in (folder, *folder.parents):
        found = [
            (place / name, table)
            for name in (_OWN, _SHARED)
            if (place / name).is_file() and (table := _table(place / name)) is not None
        ]
        if len(found) > 1:
            raise click.UsageError(f"{found[0][0]} and {found[1][0]} both have settings: keep one")
        if found:
            return found[0]
        if (place / ".git").exists():
            break
    return None


def _named(path: Path) -> tuple[Path, dict[str, Any]]:
    table = _table(path)
    if table is None:
        raise click.UsageError(f"{path}: no settings of fvmkit in it ([tool.fvmkit.scan])")
    return path, table


def _table(path: Path) -> dict[str, Any] | None:
    """The table of the command; None where the file has none of fvmkit's."""
    toml = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        document: Any = toml.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise click.UsageError(f"{path}: can't open: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        if path.name == _SHARED and "fvmkit" not in path.read_text("utf-8", "replace"):
            return None  # somebody else's trouble
        raise click.UsageError(f"{path}: not TOML: {error}") from None
    if path.name == _SHARED:
        document = document.get("tool", {}).get("fvmkit")
        if document is None:
            return None
    if not isinstance(document, dict) or not isinstance(document.get("scan", {}), dict):
        raise click.UsageError(f"{path}: fvmkit's settings are no table")
    for key in document:
        if key != "scan":
            raise click.UsageError(f"{path}: unknown key '{key}'; options of scan stand in 'scan'")
    table: dict[str, Any] = document.get("scan", {})
    return table


def _defaults(command: click.Command, file: Path, table: dict[str, Any]) -> dict[str, Any]:
    options = {_key(one): one for one in command.params if _key(one) not in _NOT_HERE}
    defaults = {}
    for key, value in table.items():
        if key not in options:
            near = get_close_matches(key, options, n=1)
            hint = f"; do you mean '{near[0]}'?" if near else ""
            raise click.UsageError(f"{file}: unknown key '{key}'{hint}")
        option = options[key]
        defaults[option.name or key] = _value(file, key, option, value)
    return defaults


def _key(option: click.Parameter) -> str:
    return max(option.opts, key=len).removeprefix("--")


def _value(file: Path, key: str, option: click.Parameter, value: Any) -> Any:
    if isinstance(option, click.Option) and option.is_flag:
        if type(value) is not bool:
            raise click.UsageError(f"{file}: '{key}' is true or false")
        return value
    if option.multiple or option.nargs == -1:
        if not isinstance(value, list):
            raise click.UsageError(f"{file}: '{key}' is a list")
        return [_text(file, key, option, one) for one in value]
    return _text(file, key, option, value)


def _text(file: Path, key: str, option: click.Parameter, value: Any) -> str:
    """Text, or an address as TOML writes numbers; files are named from the settings' folder."""
    if type(value) is int:
        return hex(value)
    if not isinstance(value, str):
        raise click.UsageError(f"{file}: '{key}' holds what is no text")
    if isinstance(option.type, click.Path):
        return os.path.relpath(file.parent / value)
    return value
