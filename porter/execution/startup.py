"""The start-up code of a program: vector tables, what it begins, and labels that assembler files
define."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from porter.execution.program import FunctionText, Program
from porter.program.start_calls import calls_in_assembler, calls_in_c, entry_of
from porter.project.build import Build
from porter.project.vectors import VectorTable, table_in, tables_in_asm
from porter.source.asm_text import dialect_of, instructions, weak_names
from porter.source.c_lexer import lex
from porter.source.c_tree import text_of, walk
from porter.source.source_file import ASM_SUFFIXES, SourceFile

_SET_UP = frozenset({"SystemInit"})  # what the generated start-up calls as well
_TEMPLATES = "templates"  # where vendors keep the start-up files of all chips and compilers


def source(root: Path, path: Path) -> SourceFile:
    """A file, named from the project's folder where it lies in it."""
    return SourceFile.read(root if path.is_relative_to(root) else path.parent, path)


def assembler_files(
    root: Path, build: Build, units: Sequence[Path], sources: Sequence[Path]
) -> list[Path]:
    """Those that are built; when nobody can tell, those that GNU as can read, and of several with
    a vector table the one nearest to the project's folder."""
    if build.units:
        return [path for path in units if path.suffix.lower() in ASM_SUFFIXES]
    tables: list[Path] = []
    others: list[Path] = []
    for path in sources:
        below = [part.lower() for part in path.relative_to(root).parts[:-1]]
        if path.suffix.lower() not in ASM_SUFFIXES or _TEMPLATES in below:
            continue
        file = source(root, path)
        if dialect_of(file.data) == "gnu":
            (tables if any(tables_in_asm(file)) else others).append(path)
    return [*sorted(tables, key=lambda path: (len(path.parts), path))[:1], *others]


def vector_tables(root: Path, assembler: Sequence[Path], program: Program) -> list[VectorTable]:
    """Tables in assembler and in C."""
    tables = [table for path in assembler for table in tables_in_asm(source(root, path))]
    for unit in program.units:
        for variable in unit.variables.values():
            if variable.value is not None and variable.value.type == "initializer_list":
                tables += table_in(source(root, unit.path), variable.value, unit.evaluator.number)
    return tables


def entry(tables: Iterable[VectorTable], program: Program) -> str:
    """What a program begins with: main, unless start-up code calls something else that doesn't."""
    for table in tables:
        served = {name: number for number, name in table.handlers.items()}
        calls = (
            calls_in_assembler(table.file, served)
            if table.file.is_asm
            else calls_in_c(lex(table.file.data), served)
        )
        found = entry_of((it.name for it in calls), set(program.functions) - _SET_UP)
        if found in program.functions and not _calls_main(program, found):
            return found
    return "main"


def _calls_main(program: Program, name: str) -> bool:
    """Whether calls by name lead from a function to main."""
    waiting = [program.functions[name]]
    seen: list[FunctionText] = []
    while waiting:
        function = waiting.pop()
        seen.append(function)
        for node in walk(function.body) if function.body is not None else ():
            callee = node.child_by_field_name("function")
            if node.type == "call_expression" and callee is not None:
                found = program.function(function.unit, text_of(callee).decode("latin-1"))
                waiting += [found] if found is not None and found not in (*seen, *waiting) else []
    return any(it.name == "main" for it in seen)


def strong_labels(file: SourceFile) -> set[str]:
    """Labels of an assembler file that aren't weak."""
    found = list(instructions(file.data, dialect_of(file.data)))
    return {part.label for part in found if part.label is not None} - weak_names(found)
