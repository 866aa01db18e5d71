"""From a user's source file to an object, with the project's own compiler and options.

A C file is compiled to assembler text first: the compiler says there which functions are naked,
which source line each asm statement came from, and the object's line table then leads from an
instruction's address back to the text its author wrote.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from porter.context_switch.armcc import readable
from porter.context_switch.dialect import PROLOGUE, gnu_text
from porter.context_switch.machine import Machine
from porter.context_switch.machines import MACHINES, USUAL
from porter.context_switch.object_file import Function, ObjectFile
from porter.context_switch.place import Place
from porter.context_switch.result import NotTranscribable
from porter.project.compile_options import CompileOptions
from porter.project.compiler_facts import predefined
from porter.project.compiler_run import ran
from porter.source.asm_text import blank_comments, dialect_of
from porter.source.source_file import ASM_SUFFIXES

# Statics must stay although nobody calls them, and stay functions of their own.
_C_FLAGS = (
    "-O1",
    "-g0",
    "-w",
    "-fno-inline",
    "-fkeep-static-functions",
    "-fno-lto",
    "-fno-section-anchors",
)
_LABELS = re.compile(r"^\s*(?:[\w.$]+:\s*)+|^\d+\w*\s+")
_SECTION = re.compile(r"^\s*\.section\s+[^\s,]+(,?)", re.ASCII)
_INSTRUCTION = re.compile(r"\s*(?:[\w.$]+:\s*)*[A-Za-z]")
_FILE = re.compile(r'^\s*\.file\s+".*$', re.MULTILINE)  # would be what the line table calls it
_DEFINED = re.compile(r"^/\* .*:[NO]F \*/.*?(\w+) \(", re.MULTILINE)  # of GCC's -aux-info
_MARKER = re.compile(r'# (\d+) "(.*)"[ \d]*$')


_OWN_FOLDER = re.compile(r"\S*/fvmkit-[^/\s]+/")  # where copies are: gone when somebody reads it
_OF_ASSEMBLER = frozenset({"__ASSEMBLY__", "__ASSEMBLER__"})  # builds say so of assembler files


class CompileError(Exception):
    """The project's compiler refused a file; str() is its first error, `all` has each."""

    def __init__(self, first: str, *others: str) -> None:
        super().__init__(first)
        self.all = (first, *others)


@dataclass(frozen=True)
class Assembly:
    """An object and the text behind it. `naked` maps a naked function's symbol to the source
    lines at which its asm statements start; `compilers` are lines of the text that a compiler wrote
    on its own."""

    object: ObjectFile
    text: tuple[str, ...]
    naked: dict[str, tuple[int, ...]]
    compilers: frozenset[int] = frozenset()

    def text_of(self, function: Function) -> str:
        """The lines that a function was made of; "" where nobody knows."""
        places = range(function.start, function.end, 2)
        lines = {self.object.line(function.section, place) for place in places}
        return "\n".join(self.text[it - 1] for it in sorted(it for it in lines if it))


Assembled = Callable[[Path], Assembly | None]
"""Looks up what a file is assembled to; None for one that can't be understood alone."""


def flags(source: Path, options: CompileOptions) -> list[str]:
    """What the preprocessor and the code generator need to know."""
    folders = [f"-I{folder}" for folder in options.include_dirs]
    in_assembler = source.suffix.lower() in ASM_SUFFIXES
    defines = [
        f"-D{define}"
        for define in options.defines
        if in_assembler or define.partition("=")[0] not in _OF_ASSEMBLER
    ]
    return [*options.arguments, f"-iquote{source.parent}", *folders, *defines]


def _code_flags(source: Path, options: CompileOptions) -> list[str]:
    """The same for code that is compared, which is made on one level whatever the build's is: the
    macros by which C asks for the level say the build's."""
    own = predefined(options.compiler, options.arguments)
    ours = predefined(options.compiler, (*options.arguments, *_C_FLAGS))
    differing = [it for it in {**ours, **own} if own.get(it, "") != ours.get(it, "")]
    macros = [f"-U{it}" for it in differing if it in ours]
    macros += [f"-D{it}={own[it]}" for it in differing if own.get(it) is not None]
    return [*flags(source, options), *_C_FLAGS, *macros]


def run(command: list[str]) -> str:
    """Standard output of a compiler; CompileError carries what it complained about."""
    try:
        done = ran(command)
    except OSError as error:
        raise CompileError(f"{command[0]}: {error.strerror or error}") from error
    if done.returncode != 0:
        lines = done.stderr.decode(errors="replace").splitlines()
        told = [line for line in lines if "error: " in line.lower()]
        errors = told or [line for line in lines if "error" in line.lower()] or lines or ["failed"]
        raise CompileError(*(_OWN_FOLDER.sub("", error.strip()) for error in errors))
    return done.stdout.decode(errors="replace")


def preprocess(source: Path, options: CompileOptions) -> str:
    """The translation unit after the preprocessor, without line markers."""
    with readable(source) as text:
        return run([options.compiler, "-E", "-P", *flags(source, options), str(text)])


def preprocessed_by_file(source: Path, options: CompileOptions) -> list[tuple[Path, str]]:
    """Runs of lines of the same, with the file that each is from."""
    with readable(source) as text:
        lines = run([options.compiler, "-E", *flags(source, options), str(text)]).split("\n")
    found: list[tuple[Path, list[str]]] = []
    for line in lines:
        if marker := _MARKER.match(line):
            found.append((Path(marker.group(2)), []))
        elif found:
            found[-1][1].append(line)
    return [(file, "\n".join(run_of)) for file, run_of in found]


def macros(source: Path, options: CompileOptions) -> dict[str, str]:
    """What each macro stands for at the end of a file, with its parameters in front."""
    text = run([options.compiler, "-dM", "-E", *flags(source, options), str(source)])
    return dict(re.findall(r"^#define (\w+)(.*)$", text, re.MULTILINE))


@cache
def knows(compiler: str, switch: str) -> bool:
    """Whether a compiler has a switch."""
    try:
        run([compiler, switch, "-E", "-x", "c", "/dev/null"])
    except CompileError:
        return False
    return True


def machine_of(options: CompileOptions) -> Machine:
    """What the compiler is for, by its name where it can't be asked."""
    known = predefined(options.compiler, options.cpu_flags)
    said = (it for it in MACHINES if (it.macro in known if known else it.is_named(options)))
    return next(said, USUAL)


def assembler_text(source: Path, options: CompileOptions, extra: tuple[str, ...] = ()) -> str:
    """What the compiler makes of a C file."""
    command = [options.compiler, *_code_flags(source, options), *extra, "-S", "-o", "-"]
    with readable(source) as text:
        return run([*command, str(text)])


def stack_use(source: Path, options: CompileOptions) -> dict[str, int | None]:
    """Bytes of stack that each function of a C file takes; None where they aren't a number."""
    with tempfile.TemporaryDirectory(prefix="fvmkit-") as folder, readable(source) as text:
        target = Path(folder, "unit.s")
        command = [options.compiler, *_code_flags(source, options), "-fstack-usage"]
        run([*command, "-S", "-o", str(target), str(text)])
        lines = [line.split("\t") for line in target.with_suffix(".su").read_text().splitlines()]
    return {
        place.rpartition(":")[2]: int(used) if kind == "static" else None
        for place, used, kind in lines
    }


def functions_in(source: Path, options: CompileOptions) -> frozenset[str]:
    """Functions that a C file and its headers define, as the compiler reads them; none of a file
    that it refuses."""
    with tempfile.TemporaryDirectory(prefix="fvmkit-") as folder, readable(source) as text:
        listed = Path(folder, "unit.txt")
        command = [options.compiler, *flags(source, options), "-w", "-fsyntax-only"]
        try:
            run([*command, "-aux-info", str(listed), str(text)])
        except CompileError:
            return frozenset()
        return frozenset(_DEFINED.findall(listed.read_text(errors="replace")))


def constant(source: Path, options: CompileOptions, expression: str) -> int | None:
    """The value of a constant expression at the end of a C file; None if it isn't one there."""
    with tempfile.TemporaryDirectory(prefix="fvmkit-") as folder:
        unit = Path(folder, source.name)
        probe = f"\nconst unsigned long fvm_probe = ({expression}) + 1ul;\n".encode()
        unit.write_bytes(source.read_bytes() + probe)
        try:
            text = assembler_text(unit, options)
        except CompileError:
            return None
    match = re.search(r"^fvm_probe:\s*\.(?:word|long|4byte)\s+(\d+)", text, re.MULTILINE)
    return int(match.group(1)) - 1 if match else None


def compile_object(source: Path, options: CompileOptions, *extra: str) -> bytes:
    """A relocatable object of a C file, each function and variable in a section of its own."""
    with tempfile.TemporaryDirectory(prefix="fvmkit-") as folder, readable(source) as text:
        target = Path(folder, "unit.o")
        # The name of a folder, in __FILE__, is nothing that two objects should differ in.
        sections = ("-ffunction-sections", "-fdata-sections", "-fno-common",
                    f"-fmacro-prefix-map={text.parent}/=")  # fmt: skip
        command = [options.compiler, *_code_flags(source, options), *sections, *extra]
        run([*command, "-c", "-o", str(target), str(text)])
        return target.read_bytes()


def compiled(source: Path, options: CompileOptions) -> ObjectFile:
    """The same, made as far as the project optimises: what a compiler calls depends on that."""
    with tempfile.TemporaryDirectory(prefix="fvmkit-") as folder:
        target = Path(folder, "unit.o")
        target.write_bytes(compile_object(source, options, options.optimize or "-O2"))
        return ObjectFile(target)


def assemble(source: Path, options: CompileOptions) -> Assembly:
    """Compile or assemble one file. Raises CompileError."""
    if source.suffix.lower() in ASM_SUFFIXES:
        return _assemble_text(source, options)
    text = assembler_text(source, options)
    told = machine_of(options).compiled(text, source.name)
    unit = _object(told.text, "", source, options)
    return Assembly(unit, _written(text.encode()), told.naked, told.compilers)


def assembled(source: Path, options: CompileOptions) -> Assembly | None:
    """The same; None for a file that can't be understood alone."""
    with suppress(CompileError, NotTranscribable):
        return assemble(source, options)
    return None


def alike(found: Iterable[Assembly | None]) -> Assembly | None:
    """Of a file that is assembled several times, the first where all are the same."""
    first, *others = found
    return first if first and all(it and it.text == first.text for it in others) else None


def expanded_lines(source: Path, options: CompileOptions) -> dict[int, bytes]:
    """What the preprocessor makes of the lines, from 1, of a file for GNU's assembler: a label may
    stand there in a macro. Empty for the other dialects."""
    if dialect_of(source.read_bytes()) != "gnu":
        return {}
    found: dict[int, bytes] = {}
    own, number = False, 0
    name = str(source).replace("\\", "\\\\").replace('"', '\\"')
    for line in _preprocessed_text(source, source, options).split("\n"):
        if marker := _MARKER.match(line):
            own, number = marker.group(2) == name, int(marker.group(1))
            continue
        if own:
            found[number] = line.encode("latin-1", "replace")
        number += 1
    return found


def _preprocessed_text(text: Path, source: Path, options: CompileOptions) -> str:
    """The text of an assembler file that is in `source`. Where its build doesn't preprocess it, a
    line that looks like a directive is a comment."""
    if text == source and options.plain_asm and source.suffix == ".s":
        name = str(source).replace("\\", "\\\\").replace('"', '\\"')
        return f'# 1 "{name}"\n{source.read_bytes().decode("utf-8", "replace")}'
    preprocessor = [options.compiler, "-E", "-x", "assembler-with-cpp", *flags(source, options)]
    return run([*preprocessor, str(text)])


def _assemble_text(source: Path, options: CompileOptions) -> Assembly:
    """An assembler file; the text beside its instructions is the author's."""
    data = source.read_bytes()
    if dialect_of(data) == "gnu":
        text = _FILE.sub("", _preprocessed_text(source, source, options))
    elif why := machine_of(options).gnu_only:
        raise CompileError(why)
    else:
        with tempfile.TemporaryDirectory(prefix="fvmkit-") as folder:
            copy = Path(folder, source.name)
            copy.write_bytes(gnu_text(data, Place(source.name)))
            text = PROLOGUE + _preprocessed_text(copy, source, options)
    try:
        unit = _object(_with_code_flags(text), source.name, source, options)
    except CompileError as error:
        if dialect_of(data) == "gnu":
            raise
        raise CompileError(f"rewritten for GNU's assembler: {error}") from error
    return Assembly(unit, _written(data), {})


def _object(text: str, listing: str, source: Path, options: CompileOptions) -> ObjectFile:
    folders = (source.parent, *options.include_dirs)  # of what .include and .incbin name
    with tempfile.TemporaryDirectory(prefix="fvmkit-") as folder:
        unit, target = Path(folder, "unit.s"), Path(folder, "unit.o")
        unit.write_text(text)
        switches = machine_of(options).assembler
        assembler = [options.compiler, *options.cpu_flags, "-c", switches]
        assembler += [f"-I{folder}" for folder in folders]
        run([*assembler, "-x", "assembler", "-o", str(target), str(unit)])
        return ObjectFile(target, listing)


def _with_code_flags(text: str) -> str:
    """An author may leave the flags of a section with instructions to the linker script."""
    lines = text.split("\n")
    bare, in_macro = None, False
    for number, code in enumerate(_clean(text.encode("latin-1", "replace"))):
        in_macro = code.lstrip().startswith(".macro") or (in_macro and ".endm" not in code)
        if match := _SECTION.match(code):
            bare = None if match.group(1) else number
        elif bare is not None and not in_macro and _INSTRUCTION.match(code):
            lines[bare] += ',"ax",%progbits'
            bare = None
    return "\n".join(lines)


def _clean(data: bytes) -> list[str]:
    """Lines of assembler text without comments."""
    return blank_comments(data, dialect_of(data)).decode("latin-1").split("\n")


def _written(data: bytes) -> tuple[str, ...]:
    """Lines of assembler text as their author wrote them, without labels and comments."""
    return tuple(" ".join(_LABELS.sub("", line).split()) for line in _clean(data))
