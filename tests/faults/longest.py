"""The longest kernel path of many runs, and in which functions its instructions are."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from composer.simulate.shared import Kind
from composer.simulate.tracer import Lengths, Trace
from tests.support.built import Built

GOAL = 150


@dataclass(frozen=True)
class Longer:
    """The longest one of an entry kind."""

    lengths: Lengths
    during: str  # which crime


class Longest:
    """By entry kind; the start of the system apart."""

    def __init__(self, system: Built) -> None:
        self._system = system
        self._found: dict[Kind, Longer] = {}

    def add(self, trace: Trace, during: str) -> None:
        for kind, lengths in trace.paths.items():
            known = self._found.get(kind)
            if kind is not Kind.RESET and (
                known is None or lengths.longest > known.lengths.longest
            ):
                self._found[kind] = Longer(lengths, during)

    def merge(self, other: Mapping[Kind, Longer]) -> None:
        for kind, path in other.items():
            known = self._found.get(kind)
            if known is None or path.lengths.longest > known.lengths.longest:
                self._found[kind] = path

    @property
    def found(self) -> Mapping[Kind, Longer]:
        return self._found

    def profile(self, lengths: Lengths) -> dict[str, int]:
        """Instructions by function, the most first."""
        counted: Counter[str] = Counter()
        for pc, count in lengths.longest_blocks:
            counted[self._system.label("kernel", pc)] += count
        return dict(counted.most_common())

    def as_json(self) -> dict[str, Any]:
        """Of each kind, and of the longest of all."""
        kinds = {
            kind.name.lower(): {
                "instructions": path.lengths.longest,
                "argument": path.lengths.longest_argument,
                "during": path.during,
                "profile": self.profile(path.lengths),
            }
            for kind, path in sorted(self._found.items())
        }
        longest = max(kinds, key=lambda name: kinds[name]["instructions"], default=None)
        return {"goal": GOAL, "longest": longest, "kinds": kinds}

    def write(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(self.as_json(), indent=2) + "\n", "utf-8")
