"""python -m tests.trees FOLDER...: port source trees and look for what the porter passed over."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.trees.balance import unaccounted
from tests.trees.facts import SEES_NOT
from tests.trees.measured import Measured, port
from tests.trees.oracle import Tree, read_tree

_SHOWN = 10
_COLUMNS = ("tree", "KLOC", "seconds", "MB", "found", "rewritten", "left", "escalated", "places",
            "misses", "open", "trouble")  # fmt: skip


def main(words: Sequence[str] | None = None) -> int:
    """Exit status: 0 if every place of every tree is accounted for, 1 if not."""
    options = _options(words)
    rows: list[dict[str, Any]] = []
    for number, folder in enumerate(options.folders, 1):
        print(f"[{number}/{len(options.folders)}] {folder}", file=sys.stderr, flush=True)
        more = [f"--elf={elf}" for name, elf in options.elf if name == folder.name]
        row = look(folder, [*options.port, *more], options.seconds)
        rows.append(row)
        if not options.json:
            _show(row, options.all)
            sys.stdout.flush()
    if options.json:
        print(json.dumps({"trees": rows, "sees_not": SEES_NOT}, indent=1))
    else:
        _table(rows)
        print(f"The oracle sees neither {SEES_NOT}.")
    return 1 if any(row["misses"] or row["open"] or row["trouble"] for row in rows) else 0


def look(folder: Path, more: list[str], seconds: float) -> dict[str, Any]:
    """One tree's row."""
    if not folder.is_dir():
        raise SystemExit(f"tests.trees: {folder}: no such folder")
    tree, run = read_tree(folder), port(folder, more, seconds)
    return _row(folder, tree, run)


def _row(folder: Path, tree: Tree, run: Measured) -> dict[str, Any]:
    report = run.report or {}
    trusted = not run.trouble and run.report is not None
    misses = [str(place) for place in unaccounted(tree, report)] if trusted else []
    ledger = report.get("ledger") or {}
    return {
        "tree": folder.name,
        "KLOC": round(tree.lines / 1000, 1),
        "seconds": round(run.seconds, 1),
        "MB": round(run.megabytes),
        **{name: report.get(name) for name in ("found", "rewritten", "left", "escalated")},
        "places": len(tree.places),
        "misses": misses,
        "open": [f"{it['where']}: {it['what']}" for it in ledger.get("open", [])],
        "trouble": run.trouble,
    }


def _show(row: dict[str, Any], everything: bool) -> None:
    for kind in ("misses", "open"):
        for line in row[kind] if everything else row[kind][:_SHOWN]:
            print(f"  {row['tree']}: {kind}: {line}")
        if not everything and len(row[kind]) > _SHOWN:
            print(f"  {row['tree']}: {kind}: {len(row[kind]) - _SHOWN} more; --all shows them")


def _table(rows: Sequence[dict[str, Any]]) -> None:
    cells = [list(_COLUMNS), *([_cell(row[name]) for name in _COLUMNS] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)))


def _cell(value: object) -> str:
    if isinstance(value, list):
        return str(len(value))
    return "-" if value is None or value == "" else str(value)


def _options(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.trees", description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--json", action="store_true", help="one document instead of a table")
    parser.add_argument("--all", action="store_true", help=f"every miss, not the first {_SHOWN}")
    parser.add_argument("--seconds", type=float, default=900, help="for one tree [%(default)s]")
    parser.add_argument(
        "--elf", action="append", default=[], metavar="FOLDER=FILE", type=_pair,
        help="what the tree of this name builds: its ledger is balanced too",
    )  # fmt: skip
    parser.add_argument("--port", action="append", default=[], metavar="OPTION",
                        help="more options for port, as --port=--cpu=-mcpu=cortex-m3")  # fmt: skip
    return parser.parse_args(words)


def _pair(text: str) -> tuple[str, str]:
    name, _, file = text.partition("=")
    return name, file


if __name__ == "__main__":
    raise SystemExit(main())
