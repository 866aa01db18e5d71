"""What a compiler of today has to be told beside what a build says.

Makefiles are older than compilers. From binutils 2.38 on, `rv32imac` has neither control registers
nor FENCE.I, which had been part of `i`; and GNU's <stdint.h> is the C library's, which who links
with -nostdlib needn't have, unless the code is freestanding.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import chain

from porter.project.compile_options import CompileOptions
from porter.project.compiler_command import is_for_riscv
from porter.project.compiler_run import ran
from porter.project.given_options import WITH_VALUE

_SPLIT_OFF = {"_zicsr": "csrr a0, mscratch\n", "_zifencei": "fence.i\n"}
_ATTRIBUTE = re.compile(rb'\.attribute\s+arch\s*,\s*"(\w+)"')
_FREESTANDING = "-ffreestanding"
_OF_FILES = ("-include", "-imacros", "-x")
_HEADER = "#include <stdint.h>\n"


def with_needs(options: CompileOptions) -> CompileOptions:
    """The same, and what the compiler refuses code for that the build's own one took."""
    cpu = options.cpu_flags
    if is_for_riscv(options):
        cpu = _with_architecture(options.compiler, cpu)
        cpu = tuple(_with_extensions(options.compiler, it, cpu) for it in cpu)
    if _FREESTANDING not in cpu:
        folders = tuple(f"-I{folder}" for folder in options.include_dirs)
        free = (*cpu, _FREESTANDING)
        if not _takes(options.compiler, (*cpu, *folders), "c", _HEADER) and _takes(
            options.compiler, (*free, *folders), "c", _HEADER
        ):
            cpu = free
    return options if cpu == options.cpu_flags else replace(options, cpu_flags=cpu)


def without_unknown(options: CompileOptions) -> CompileOptions:
    """Those that the compiler knows, if it can be asked at all. Files that they name may have
    anything in them."""
    compiler, flags = options.compiler, options.cpu_flags
    words = [word for word in _words(flags) if word[0] not in _OF_FILES]
    if _takes(compiler, tuple(chain(*words)), "c", "") or not _takes(compiler, (), "c", ""):
        return options
    core = tuple(it for it in flags if it.startswith(("-mcpu=", "-march=", "-mabi=")))
    asked = (word for word in words if word[0] not in core)
    unknown = {word for word in asked if not _takes(compiler, (*core, *word), "c", "")}
    known = chain(*(word for word in _words(flags) if word not in unknown))
    return replace(options, cpu_flags=tuple(known))


def _words(flags: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """Each option with what belongs to it."""
    rest = iter(flags)
    for flag in rest:
        yield (flag, next(rest, "")) if flag in WITH_VALUE else (flag,)


def _with_architecture(compiler: str, cpu: tuple[str, ...]) -> tuple[str, ...]:
    """A core's options with the architecture that -mcpu stands for, where it lacks something."""
    named = any(flag.startswith("-mcpu=") for flag in cpu)
    if not named or any(flag.startswith("-march=") for flag in cpu):
        return cpu
    if all(_takes(compiler, cpu, "assembler", code) for code in _SPLIT_OFF.values()):
        return cpu
    architecture = _architecture(compiler, cpu)
    return (*cpu, f"-march={architecture}") if architecture else cpu


@lru_cache(maxsize=256)
def _architecture(compiler: str, flags: tuple[str, ...]) -> str:
    """What a compiler makes code for, as -march= takes it: `rv32i2p1_m2p0_c2p0` is rv32imc."""
    try:
        done = ran([compiler, *flags, "-w", "-S", "-x", "c", "-o", "-", "-"], "int object;\n")
    except OSError:
        return ""
    if (written := _ATTRIBUTE.search(done.stdout)) is None:
        return ""
    base, *extensions = re.sub(r"\d+p\d+", "", written[1].decode()).split("_")
    letters = [it for it in extensions if len(it) == 1]
    return "_".join([base + "".join(letters), *(it for it in extensions if len(it) > 1)])


def _with_extensions(compiler: str, flag: str, cpu: tuple[str, ...]) -> str:
    """One of a core's options, with the extensions that the assembler asks for. Who names any of
    them knows of the others."""
    if not flag.startswith("-march=") or "_z" in flag:
        return flag
    for extension, code in _SPLIT_OFF.items():
        others = tuple(it for it in cpu if not it.startswith("-march="))
        standard, vendors, more = flag.partition("_x")
        wider = f"{standard}{extension}{vendors}{more}"
        if not _takes(compiler, (flag, *others), "assembler", code) and _takes(
            compiler, (wider, *others), "assembler", code
        ):
            flag = wider
    return flag


@lru_cache(maxsize=256)
def _takes(compiler: str, flags: tuple[str, ...], language: str, text: str) -> bool:
    """Whether a compiler makes an object of a text."""
    try:
        done = ran([compiler, *flags, "-w", "-c", "-x", language, "-o", "/dev/null", "-"], text)
    except OSError:
        return False
    return done.returncode == 0
