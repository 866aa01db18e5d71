"""Headers of compilers that aren't here, in our own words, for projects that include them.

They are read behind every other folder, so a header of the project's own, or of its compiler's,
comes first.
"""

from __future__ import annotations

import re
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from porter.context_switch.armcc import readable
from porter.context_switch.assemble import CompileError, flags, run
from porter.project.compile_options import CompileOptions
from porter.source.source_file import ASM_SUFFIXES


def with_stand_ins(options: CompileOptions) -> CompileOptions:
    """The options, with our headers behind all folders."""
    return replace(options, cpu_flags=(*options.cpu_flags, "-idirafter", str(_folder())))


def notes_on(source: Path, options: CompileOptions, guessed: bool) -> str:
    """What a person should know of the headers that a file was read with: which are ours, and where
    nobody said in which folder to look (`guessed`), which was taken of several."""
    read = _headers_of(source, options)
    ours = ", ".join(sorted(path.name for path in read if path.parent == _folder()))
    notes = [f"; read with fvmkit's own {ours}, because no folder of the project has it"] * bool(
        ours
    )
    for path in read if guessed else ():
        others = sum((folder / path.name).is_file() for folder in set(options.include_dirs)) > 1
        if others and path.parent != source.parent:
            place = f"{path.parent.name}/{path.name}"
            notes.append(f"; of several {path.name} {place} was read: let the build say which")
    return "".join(notes)


def _headers_of(source: Path, options: CompileOptions) -> list[Path]:
    """None where they can't be told."""
    language = "assembler-with-cpp" if source.suffix.lower() in ASM_SUFFIXES else "c"
    try:
        with readable(source) as text:
            command = [options.compiler, *flags(source, options), "-x", language, "-M", str(text)]
            written = run(command).replace("\\\n", " ")
    except CompileError:
        return []
    names = [name.replace("\\ ", " ") for name in re.split(r"(?<!\\)\s+", written)]
    return [Path(name) for name in names if name.endswith((".h", ".inc"))]


def _folder() -> Path:
    return Path(str(files("porter.context_switch"))) / "stand_ins"
