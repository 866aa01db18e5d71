"""What the names in a file mean where no compiler could be asked: by the headers that it includes.

Most names mean the same in all of a project. Of the others, a file sees the definitions in what it
includes; where that has none, it may mean any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from porter.program.include_graph import IncludeGraph
from porter.source.c_lexer import LexedSource
from porter.source.c_tree import SyntaxTree
from porter.source.c_types import TypeTable
from porter.source.declared import Declared, differing
from porter.source.evaluate import Evaluator
from porter.source.macros import Macro, MacroTable, usable_macro
from porter.source.preprocessor import held
from porter.source.source_file import SourceFile

Parse = Callable[[SourceFile, Evaluator], SyntaxTree]
"""The tree of a file, made with what is known of macros."""
AddWellKnown = Callable[[MacroTable, TypeTable], None]


@dataclass(frozen=True)
class _Telling:
    """The definitions of a file of names that mean something else elsewhere."""

    macros: dict[bytes, list[Macro]]
    declared: Declared


class VisibleNames:
    """Answers for the C files of a project. `defines`: options -D of all of them."""

    def __init__(
        self,
        files: Iterable[SourceFile],
        lexed: Callable[[SourceFile], LexedSource],
        parse: Parse,
        defines: Sequence[str],
        add_well_known: AddWellKnown,
    ) -> None:
        self._files = {file.path.resolve(): file for file in files}
        self._parse = parse
        self._defines = defines
        self._add_well_known = add_well_known
        self._held = {
            path: list(held(lexed(file).directives)) for path, file in self._files.items()
        }
        self._includes = IncludeGraph(self._files, lambda path: self._held[path])
        self._declared: dict[Path, Declared] = {}  # filled by `everything`
        self._evaluators: dict[frozenset[Path], Evaluator] = {}
        self._trees: list[SyntaxTree] = []  # who reads a file later mostly comes to the same

    def evaluator(self, path: Path) -> Evaluator:
        """What names mean in a file."""
        if path not in self._files:
            return self.everything
        telling = frozenset(self._includes.reached(path) & self._differing.keys())
        if path in self._own:
            telling |= {path}
        if not telling:
            return self.everything
        if telling not in self._evaluators:
            self._evaluators[telling] = self._seen_by(telling, path)
        return self._evaluators[telling]

    @cached_property
    def everything(self) -> Evaluator:
        """Every definition in the project."""
        macros = MacroTable()
        types = TypeTable()
        evaluator = Evaluator(macros, types)
        for name in self._defines:
            macros.define_text(name)
        for found in self._macros.values():
            for macro in found:
                macros.define(macro)
        for path, file in self._files.items():
            tree = self._parse(file, evaluator)
            self._trees.append(tree)
            self._declared[path] = Declared.of(tree)
            shared = self._declared[path] if file.is_header else Declared.of(tree, is_header=False)
            types.add(shared, [tree.text])
        self._add_well_known(macros, types)
        return evaluator

    @cached_property
    def _macros(self) -> dict[Path, list[Macro]]:
        """The macros of each file, but none that hides a keyword."""
        return {
            path: [macro for it in directives if (macro := usable_macro(it)) is not None]
            for path, directives in self._held.items()
        }

    @cached_property
    def _differing(self) -> dict[Path, _Telling]:
        """What files define that is defined otherwise elsewhere, and statics of C files."""
        every = self.everything
        names = differing([*self._declared.values()])
        found = {}
        for path, macros in self._macros.items():
            several: dict[bytes, list[Macro]] = {}
            for macro in macros:
                if len(every.macros.all_of(macro.name)) > 1:
                    several.setdefault(macro.name, []).append(macro)
            declared = self._declared[path].only(names)
            if several or not declared.is_empty():
                found[path] = _Telling(several, declared)
        return found

    @cached_property
    def _own(self) -> dict[Path, Declared]:
        """Static variables that only their C file sees."""
        found = {}
        for path, file in self._files.items():
            kept = {} if file.is_header else self._declared[path].initialised
            if statics := {name: it for name, it in kept.items() if it.is_static}:
                found[path] = Declared(initialised=statics)
        return found

    def _seen_by(self, telling: frozenset[Path], path: Path) -> Evaluator:
        every = self.everything
        macros: dict[bytes, list[Macro]] = {}
        declared = Declared()
        if path in self._own:
            declared.add(self._own[path])
        for it in sorted(telling, key=lambda it: (it != path, it)):
            seen = self._differing.get(it, _Telling({}, Declared()))
            for name, found in seen.macros.items():
                known = macros.setdefault(name, [])
                known += [one for one in found if not any(one.is_same(other) for other in known)]
            declared.add(seen.declared)
        table = every.macros.with_definitions(macros) if macros else every.macros
        return Evaluator(table, every.types.seen_with(declared))
