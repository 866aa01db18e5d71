"""Macros that the compiler of a build defines by itself, and those that only others define."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from porter.project.build import Build
from porter.project.compiler_command import DEFAULT_COMPILER, compiler_for
from porter.project.compiler_run import ran

_GNU = re.compile(r"(?:.*-)?(?:gcc|g\+\+|cc|c\+\+)(?:-[\d.]+)?(?:\.exe)?")
_DEFINE = re.compile(r"#define (\w+)(\([^)]*\))?[ ]?(.*)")
_ANY_CORE = (
    ("-mcpu=cortex-m0",), ("-mcpu=cortex-m1",), ("-mcpu=cortex-m3",), ("-mcpu=cortex-m4",),
    ("-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"), ("-mcpu=cortex-m7",),
    ("-mcpu=cortex-m7", "-mfpu=fpv5-d16", "-mfloat-abi=hard"), ("-mcpu=cortex-m23",),
    ("-mcpu=cortex-m33",), ("-mcpu=cortex-m33", "-mfpu=fpv5-sp-d16", "-mfloat-abi=hard"),
    ("-mcpu=cortex-m55",),
)  # fmt: skip
_OTHERS = re.compile(
    r"""
    __ICC\w*__ | __IAR_SYSTEMS_\w+ | __IASMARM__ | __CC_ARM | __ARMCC\w*_VERSION
    | __ARMCOMPILER_VERSION | __TARGET_\w+ | __MICROLIB | __TASKING__ | __CTC__ | __CSMC__
    | __TI_\w+ | __TMS470__ | __TI_ARM__ | __clang__ | __clang_\w+__ | __llvm__ | _MSC_VER
    | __GHS__ | __ghs__ | __DCC__ | __CWCC__ | __MWERKS__ | __CCRX__ | __CCRL__ | __CCRH__
    | __RENESAS\w*__ | __XC\d+\w* | __C30__ | __C32__ | __IMAGECRAFT__ | __COSMIC__ | __CX51__
    | __C51__ | __C166__ | __SDCC | SDCC | __BORLANDC__ | __TURBOC__ | __WATCOMC__
    | __INTEL_COMPILER | __TINYC__ | __HIGHC__ | __DIAB_TOOL | __CODEVISIONAVR__ | __PGI
    | __DOXYGEN__ | __INTELLISENSE__ | __CDT_PARSER__ | __KLOCWORK__ | __COVERITY__ | __cppcheck__
    | __arm__ | __thumb__ | __thumb2__ | __ARM_\w+ | __ARMVFP\w*__ | __ARM\d\w*__ | __VFP_FP__
    | __SOFTFP__ | __riscv | __riscv_\w+ | __AVR | __AVR_\w+__ | __AVR\d*__ | AVR | __MSP430\w*__
    | __XTENSA__ | __xtensa__ | __x86_64__ | __x86_64 | __amd64__ | __i386__ | __i386 | _M_IX86
    | _M_X64 | _M_ARM\w* | __aarch64__ | __mips\w* | __PIC32\w* | __PPC\w*__ | __powerpc\w*__
    | __sparc\w* | __RX\w*__ | __RL78__ | __H8\w* | __m68k__ | __ia64__ | __s390\w* | __arc__
    | __ARC\w+__ | __nios2\w* | __NIOS2\w* | __MICROBLAZE__ | __loongarch\w* | __csky__
    | __wasm\w*__ | __EMSCRIPTEN__ | _WIN32 | __WIN32__ | _WIN64 | WIN32 | __CYGWIN__
    | __MINGW32__ | __MINGW64__ | __APPLE__ | __MACH__ | __linux__ | __linux | linux | __unix__
    | __FreeBSD__ | __ANDROID__
    """,
    re.VERBOSE,
)
"""Names that belong to compilers, processors and systems: nobody else defines them unless a project
does so itself, which its text shows."""

_DEFINING = ("-m", "-std=", "-ansi", "-f", "-O", "-U", "-undef", "-traditional", "-pthread", "-p")
"""How options begin by which a compiler defines others."""

Predefined = dict[str, str | None]
"""Macros with their text; None for one that takes arguments or isn't the same everywhere."""


def belongs_to_compilers(name: str) -> bool:
    """Whether only a compiler, or a tool in its place, defines a name."""
    return _OTHERS.fullmatch(name) is not None


def worlds(build: Build) -> list[Predefined]:
    """What the compiler of a build may define: for the core that was named, or for every Cortex-M
    where nobody named one. A condition is certain that all of them agree on; [] where the compiler
    is none of GNU's and can't be asked."""
    flags, compiler = build.options.cpu_flags, build.options.compiler
    is_named = not build.is_guess and any(it.startswith(("-mcpu", "-march")) for it in flags)
    if not is_named and compiler_for(flags) == DEFAULT_COMPILER and _is_gnu(compiler):
        return [it for core in _ANY_CORE if (it := predefined(DEFAULT_COMPILER, core))]
    ways = dict.fromkeys(it.arguments for it in (build.options, *build.units.values()))
    found = [it for way in ways if (it := _world(compiler, way))]
    return [it for number, it in enumerate(found) if it not in found[:number]]


def _world(compiler: str, flags: tuple[str, ...]) -> Predefined:
    """What a compiler defines by these options."""
    found = predefined(compiler, flags)
    if not found and _is_gnu(compiler):
        found = predefined(compiler_for(flags), flags)
    core = _core(flags)
    return {**found, "__CORTEX_M": str(core)} if found and core is not None else found


def predefined(compiler: str, flags: tuple[str, ...]) -> Predefined:
    """Macros of a compiler without any header; {} if it can't be asked."""
    return _predefined(compiler, tuple(it for it in flags if it.startswith(_DEFINING)))


@lru_cache(maxsize=128)
def _predefined(compiler: str, kept: tuple[str, ...]) -> Predefined:
    try:
        process = ran([compiler, *kept, "-dM", "-E", "-x", "c", "-"])
    except OSError:
        return {}
    if process.returncode:
        return {}
    found: Predefined = {}
    for line in process.stdout.decode("utf-8", "replace").splitlines():
        if (match := _DEFINE.fullmatch(line)) is not None:
            found[match[1]] = None if match[2] else match[3]
    return found


def _is_gnu(compiler: str) -> bool:
    return _GNU.fullmatch(Path(compiler).name) is not None


def _core(flags: tuple[str, ...]) -> int | None:
    """What CMSIS calls __CORTEX_M, for a core that was named."""
    for flag in flags:
        match = re.fullmatch(r"-mcpu=cortex-m(\d+)(?:plus|p)?(?:[.+]\S*)?", flag)
        if match is not None:
            return int(match[1])
    return None
