"""What functions do to masks, lines, tick, sleep and reset, from one file of data a library."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from fnmatch import fnmatchcase, translate
from functools import cache, cached_property
from importlib.resources import files
from pathlib import PurePosixPath
from typing import Any

from scanner.report.errors import InternalError

_SIGNATURE = re.compile(r"(\w+)(?:\(([^()]*)\))?")
_PARAMETER = re.compile(r"[a-z][a-z_]*")
_ANY = "*"  # for what needs no header
_COMMON = re.compile(r"[a-z]+\.h")  # task.h, irq.h
_CONSTANTS = frozenset({"true", "false"})
_TELLING = 2  # names: one may be a coincidence


@dataclass(frozen=True)
class Body:
    """What calls do that fit a signature. `parameters`: None for a macro without parentheses; what
    is no parameter must stand in the call. `text` is a statement, or an expression with the
    function's value; `gives` is the value of a statement that has one. `is_macro`: it touches what
    it is given and nothing else."""

    parameters: tuple[str, ...] | None
    text: str
    gives: str | None = None
    is_macro: bool = False

    @property
    def is_statement(self) -> bool:
        """Whether the text has no value."""
        return self.text.endswith(";")


@dataclass(frozen=True)
class Library:
    """A library's data; `does` by function."""

    name: str
    headers: tuple[str, ...]
    does: Mapping[str, tuple[Body, ...]]
    asks: Mapping[str, str]
    harmless: tuple[str, ...]

    @cached_property
    def own_names(self) -> frozenset[str]:
        """Names that tell of it. Others have macros of such names too."""
        functions = {it for it, bodies in self.does.items() if not bodies[0].is_macro}
        return frozenset(functions | self.asks.keys())

    def asked(self, name: str) -> str:
        """Why a person has to say what a function becomes; "" if nobody has to."""
        if not self.asks or self._asked.match(name) is None:
            return ""
        return next((why for it, why in self.asks.items() if fnmatchcase(name, it)), "")

    @cached_property
    def _asked(self) -> re.Pattern[str]:
        return re.compile("|".join(map(translate, self.asks)))

    def is_used_by(self, included: Iterable[str]) -> bool:
        """Whether one of these names in #include lines is that of a header of the library's."""
        return _ANY in self.headers or any(map(self._has, included))

    def _has(self, header: str) -> bool:
        """Whether a header is the library's by its name. A word that anybody may call a header by
        isn't enough in a folder that nothing says to be the library's."""
        path = PurePosixPath(header)
        folders = [it.lower() for it in path.parent.parts if it not in (".", "..")]
        is_own = not folders or any(word in it for it in folders for word in self._words)
        return any(
            fnmatchcase(header, pattern)
            or (fnmatchcase(path.name, pattern) and (is_own or not _COMMON.fullmatch(pattern)))
            for pattern in self.headers
        )

    @cached_property
    def _words(self) -> frozenset[str]:
        """What nobody else calls a header, or a folder of headers."""
        paths = [PurePosixPath(it) for it in self.headers]
        stems = {it.stem for it in paths if "*" not in it.name and not _COMMON.fullmatch(it.name)}
        return frozenset(it.lower() for it in stems.union(*(it.parent.parts for it in paths)))


@dataclass(frozen=True)
class Known:
    """What the libraries that a project uses say of a function."""

    library: str
    bodies: tuple[Body, ...] = ()
    ask: str = ""


@dataclass(frozen=True)
class Libraries:
    """The libraries that a project uses."""

    used: Sequence[Library]
    _known: dict[str, Known | None] = field(default_factory=dict, compare=False)

    def names(self, name: str) -> bool:
        """Whether a function is spelt out, so that any use of its name may be one of it."""
        return any(name in it.does or name in it.asks for it in self.used)

    def known(self, name: str) -> Known | None:
        """What a function does; None if nothing is said of it, or that it does no harm."""
        if name not in self._known:
            self._known[name] = next(self._lookups(name), None)
        return self._known[name]

    def _lookups(self, name: str) -> Iterator[Known]:
        for library in self.used:
            bodies = library.does.get(name, ())
            ask = library.asked(name)
            if bodies or ask:
                yield Known(library.name, bodies, ask)

    def is_harmless(self, name: str) -> bool:
        """Whether a function does nothing that a machine may not do."""
        return any(fnmatchcase(name, it) for library in self.used for it in library.harmless)


def used_libraries(included: Iterable[str], words: Callable[[], Set[str]] = frozenset) -> Libraries:
    """The libraries whose headers a project names in its #include lines. `words`: all that it
    mentions, where a header that isn't there may include a library's: two names that only one
    library has are that library's."""
    names = set(included)
    known = all_libraries()
    used = [it for it in known if it.is_used_by(names)]
    if len(used) < len(known) and (mentioned := words()):
        users = Counter(name for it in known for name in it.own_names)
        told = {name for name, libraries in users.items() if libraries == 1} & mentioned
        used = [it for it in known if it in used or len(told & it.own_names) >= _TELLING]
    return Libraries(used)


@cache
def all_libraries() -> tuple[Library, ...]:
    """Every library that there is data on."""
    folder = files("porter") / "libraries"
    found = sorted((it for it in folder.iterdir() if it.name.endswith(".json")),
                   key=lambda it: it.name)  # fmt: skip
    return tuple(read_library(it.read_text(encoding="utf-8"), it.name) for it in found)


def read_library(text: str, name: str) -> Library:
    """A library's data. Raises InternalError where a signature or a body isn't one."""
    data: dict[str, Any] = json.loads(text)
    does: dict[str, list[Body]] = {}
    macros: dict[str, Any] = data.get("macros", {})
    for signature, value in (data["does"] | macros).items():
        match = _SIGNATURE.fullmatch(signature)
        body = value if isinstance(value, dict) else {"does": value}
        if match is None or not isinstance(body.get("does"), str):
            raise InternalError(f"{name}: {signature!r} is no signature with a body")
        parameters = match[2]
        for prefix in ("", *data.get("prefixes", ())):
            does.setdefault(prefix + match[1], []).append(
                Body(
                    None
                    if parameters is None
                    else tuple(it.strip() for it in parameters.split(",") if it.strip()),
                    body["does"],
                    body.get("gives"),
                    signature in macros,
                )
            )
    return Library(
        data["library"],
        tuple(data["headers"]),
        {function: tuple(bodies) for function, bodies in does.items()},
        {p + it: why for it, why in data["asks"].items() for p in ("", *data.get("prefixes", ()))},
        tuple(data["harmless"]),
    )


def is_parameter(word: str) -> bool:
    """Whether a word of a signature stands for whatever the call has there."""
    return word not in _CONSTANTS and _PARAMETER.fullmatch(word) is not None
