"""What rtos-patches/ knows of an RTOS beyond its machine instructions.

A recipe is data, one `recipe.json` a folder. It has `rtos`, and `symbols`: names by which a file
shows that it belongs to this RTOS. The rest may be left out:

* ``task_name``  ``expression``: C that yields the running task's name, ``needs``: the function
  that must be declared where the handler stands, or the name isn't published, ``in_task``: true
  if the name lies at the same place of every task's control block;
* ``functions``  by name: ``lines`` of a function's body in the port and the ``reason``; where ports
  of this RTOS have several functions of this name a list of them, each with what must stand
  ``beside`` it in the file, and ``initializers``, what variables of the file begin with instead;
* ``conditions`` by what an #if in a file of ``ports`` asks: why its block is switched off;
* ``version``    ``file``, below the RTOS's root, ``pattern``, whose group is the version, and
  ``tried``: versions whose ports were made, applied, compiled and proved;
* ``ports``      ``files``: a pattern below the root, ``cpu``: for which core they are compiled,
  ``checks``: false where ``conditions`` aren't about that core.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path, PurePath
from typing import Any


@dataclass(frozen=True)
class NewBody:
    """Statements of a function in the port, and why; `beside` stands in the same file or is "".
    `initializers`: by a variable's name, the expression of C that it begins with."""

    lines: tuple[str, ...]
    reason: str
    beside: str
    initializers: Mapping[str, str]


@dataclass(frozen=True)
class RtosPort:
    """Files of an RTOS for one core; `checks`: the recipe's conditions are about it."""

    files: str
    cpu: tuple[str, ...]
    checks: bool


@dataclass(frozen=True)
class Recipe:
    """One recipe; `task_name` is a C expression or "", `needs` a function."""

    rtos: str
    symbols: frozenset[str]
    task_name: str
    needs: str
    in_task: bool
    functions: Mapping[str, tuple[NewBody, ...]]
    conditions: Mapping[str, str]
    version_file: str
    version_pattern: str
    tried: frozenset[str]
    ports: tuple[RtosPort, ...]


@lru_cache(maxsize=1)
def recipes() -> tuple[Recipe, ...]:
    """All recipes that came with the tool."""
    found = []
    for folder in sorted(files("rtos-patches").iterdir(), key=lambda entry: entry.name):
        file = folder / "recipe.json"
        if folder.is_dir() and file.is_file():
            found.append(_recipe(json.loads(file.read_text(encoding="utf-8"))))
    return tuple(found)


def _recipe(data: dict[str, Any]) -> Recipe:
    name = data.get("task_name", {"expression": "", "needs": "", "in_task": False})
    version = data.get("version", {"file": "", "pattern": "()", "tried": []})
    functions = data.get("functions", {})
    return Recipe(
        data["rtos"],
        frozenset(data["symbols"]),
        name["expression"],
        name["needs"],
        name["in_task"],
        {
            key: tuple(map(_new_body, new if isinstance(new, list) else [new]))
            for key, new in functions.items()
        },
        data.get("conditions", {}),
        version["file"],
        version["pattern"],
        frozenset(version["tried"]),
        tuple(
            RtosPort(port["files"], tuple(port["cpu"]), port.get("checks", True))
            for port in data.get("ports", ())
        ),
    )


def _new_body(data: dict[str, Any]) -> NewBody:
    beside, initializers = data.get("beside", ""), data.get("initializers", {})
    return NewBody(tuple(data["lines"]), data["reason"], beside, initializers)


def recipe_for(symbols: set[str]) -> Recipe | None:
    """The recipe of the RTOS whose names a handler mentions."""
    for recipe in recipes():
        if recipe.symbols & symbols:
            return recipe
    return None


def new_body(function: str, text: bytes) -> NewBody | None:
    """What the recipe of the RTOS whose names a file mentions makes of a function in it."""
    for recipe in recipes():
        if any(symbol.encode() in text for symbol in recipe.symbols):
            for body in recipe.functions.get(function, ()):
                if body.beside.encode("ascii") in text:
                    return body
    return None


def begins_otherwise(variable: str, text: bytes) -> bool:
    """Whether a recipe gives a variable of a file another value to begin with."""
    bodies = (new_body(name, text) for recipe in recipes() for name in recipe.functions)
    return any(body is not None and variable in body.initializers for body in bodies)


def conditions_of_port(name: str) -> Mapping[str, str]:
    """What is switched off in a file, and why, by the port it belongs to: that is by its path."""
    for recipe in recipes():
        for port in recipe.ports:
            if port.checks and PurePath(name).match(port.files):
                return recipe.conditions
    return {}


def core_of(paths: Iterable[Path]) -> tuple[str, ...]:
    """For which core the port of an RTOS among these files is compiled; () unless there is one."""
    found = {
        port.cpu
        for path in paths
        for recipe in recipes()
        for port in recipe.ports
        if PurePath(path).match(port.files)
    }
    return found.pop() if len(found) == 1 else ()
