"""How RTOSes show themselves, as data: rtoses.json.

* ``name``; ``core``: files of which one is compiled wherever it is part of the program;
  ``headers``: what programs include that use it, whether its sources are there or not;
* ``recipe``    true: rtos-patches/ has where its version is written, and which were tried;
* ``version``   ``file``: names of headers, ``patterns``: one a part of the version, ``parts``: what
  one number is divided by, ``digits``: how many those behind the first have at least;
* ``needs_version``  true: others have headers of these names, so that only the version tells;
* ``tick``      macros for the tick's rate in hertz.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from porter.context_switch.recipe import Recipe, recipes


@dataclass(frozen=True)
class Rtos:
    """One of them; `recipe`: None where rtos-patches/ has none."""

    name: str
    core: frozenset[str]
    headers: tuple[str, ...]
    version_files: tuple[str, ...]
    patterns: tuple[str, ...]
    parts: tuple[int, ...]
    digits: int
    needs_version: bool
    tick: tuple[str, ...]
    recipe: Recipe | None

    def is_header(self, path: str) -> bool:
        """Whether an included name or a header's path is one of its own."""
        return any(path == it or path.endswith(f"/{it}") for it in self.headers)

    def version_in(self, paths: Iterable[Path]) -> tuple[str, Path] | None:
        """The version, and the header that has it."""
        for path in paths:
            if path.name in self.version_files:
                text = path.read_text(encoding="utf-8", errors="replace")
                found = [re.search(pattern, text) for pattern in self.patterns]
                numbers = [it.group(1) for it in found if it is not None]
                if all(numbers) and len(numbers) == len(found):
                    return self._shown(numbers), path
        return None

    def _shown(self, numbers: list[str]) -> str:
        if not self.parts:
            return ".".join(numbers)
        left = int(numbers[0])
        shown: list[str] = []
        for part in self.parts:
            shown.append(str(left // part).zfill(self.digits if shown else 1))
            left %= part
        return ".".join(shown)


@lru_cache(maxsize=1)
def rtoses() -> tuple[Rtos, ...]:
    """All that are known by name."""
    text = (files("composer.analyze") / "rtoses.json").read_text(encoding="utf-8")
    known = {it.rtos: it for it in recipes()}
    return tuple(_rtos(data, known.get(data["name"])) for data in json.loads(text))


def _rtos(data: dict[str, Any], recipe: Recipe | None) -> Rtos:
    version = data.get("version", {"file": "", "patterns": []})
    names, patterns = version["file"].split("|"), version["patterns"]
    if recipe is not None:
        names, patterns = [Path(recipe.version_file).name], [recipe.version_pattern]
    return Rtos(
        data["name"],
        frozenset(data["core"]),
        tuple(data["headers"]),
        tuple(names),
        tuple(patterns),
        tuple(version.get("parts", ())),
        version.get("digits", 1),
        data.get("needs_version", False),
        tuple(data["tick"]),
        recipe,
    )
