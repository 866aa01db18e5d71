"""What rtos-patches/ knows of an RTOS beyond its machine instructions.

A recipe is data, one `recipe.json` a folder:

* ``symbols``    names by which a handler shows that it belongs to this RTOS;
* ``task_name``  ``expression``: C that yields the running task's name, ``needs``: the function
  that must be declared where the handler stands, or the name isn't published, ``in_task``: true
  if the name lies at the same place of every task's control block.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files


@dataclass(frozen=True)
class Recipe:
    """One recipe; `task_name` is a C expression, `needs` a function."""

    rtos: str
    symbols: frozenset[str]
    task_name: str
    needs: str
    in_task: bool


@lru_cache(maxsize=1)
def recipes() -> tuple[Recipe, ...]:
    """All recipes that came with the tool."""
    found = []
    for folder in sorted(files("rtos-patches").iterdir(), key=lambda entry: entry.name):
        file = folder / "recipe.json"
        if folder.is_dir() and file.is_file():
            data = json.loads(file.read_text(encoding="utf-8"))
            name = data["task_name"]
            found.append(
                Recipe(
                    data["rtos"],
                    frozenset(data["symbols"]),
                    name["expression"],
                    name["needs"],
                    name["in_task"],
                )
            )
    return tuple(found)


def recipe_for(symbols: set[str]) -> Recipe | None:
    """The recipe of the RTOS whose names a handler mentions."""
    for recipe in recipes():
        if recipe.symbols & symbols:
            return recipe
    return None
