"""Headers of compilers that aren't here, in our own words, for projects that include them.

They are read behind every other folder, so a header of the project's own, or of its compiler's,
comes first.
"""

from __future__ import annotations

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


def stand_ins_of(source: Path, options: CompileOptions) -> list[str]:
    """Which of our headers a file was read with; none where it can't be told."""
    language = "assembler-with-cpp" if source.suffix.lower() in ASM_SUFFIXES else "c"
    try:
        with readable(source) as text:
            command = [options.compiler, *flags(source, options), "-x", language, "-M", str(text)]
            read = run(command).replace("\\\n", " ").split()
    except CompileError:
        return []
    return sorted(path.name for path in _folder().glob("*.h") if str(path) in read)


def _folder() -> Path:
    return Path(str(files("porter.context_switch"))) / "stand_ins"
