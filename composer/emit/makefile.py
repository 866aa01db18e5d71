"""Makefiles. Paths are relative to their folder, so the composed folder and the sources can move
together, and spaces in a path above them don't matter; those below are quoted.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from composer.emit.render import render
from composer.plan import HYPERVISOR, LOG_THREAD, MANAGER_THREAD, DomainPlan, Plan
from composer.sources import CPLUSPLUS, runtime_folder
from porter.context_switch.result import companion_of
from porter.output.generated import short_hash

_SOURCE_SUFFIXES = (".c", ".S")
# What only this thread of the hypervisor is built from.
_THREAD_FILES = {MANAGER_THREAD: ("manager.c",), LOG_THREAD: ("log.c", "text.c")}
_RUNTIME_LIBRARIES = "--specs=nano.specs"
_CPLUSPLUS_LIBRARIES = frozenset({"-lstdc++", "-lsupc++", "-lstdc++_nano", "-lsupc++_nano"})


@dataclass(frozen=True)
class _Object:
    """One rule: names as make and the shell want them."""

    object: str
    dependency: str
    argument: str
    flags: str
    label: str
    compiler: str = "CC"


def kernel_makefile(plan: Plan, folder: Path) -> str:
    """Makefile of the kernel in `folder`."""
    runtime = runtime_folder()
    sources = _sources(runtime / "kernel")
    for part in plan.chip.core.runtime:
        sources += _sources(runtime / "arch" / part)
    return _makefile(
        plan,
        folder,
        "kernel",
        [*sources, folder / "fvm_tables.c", folder / "fvm_stubs.c"],
        fpu=False,
        whole=True,
    )


def domain_makefile(plan: Plan, domain: DomainPlan, folder: Path) -> str:
    """Makefile of one domain in `folder`."""
    runtime = runtime_folder()
    library = "native" if domain.vcpu is None else "guest"
    sources = _sources(runtime / "shared") + _sources(runtime / library)
    for part in plan.chip.core.runtime:
        sources += _sources(runtime / "arch" / part / library)
    if _needs_support(domain):
        sources += _sources(runtime / "cplusplus")
    sources.append(folder / "fvm_startup.c")
    if domain.name == HYPERVISOR:
        sources += [*_hypervisor_sources(plan, domain), folder / "hyp_config.c"]
    return _makefile(plan, folder, domain.name, sources, fpu=domain.fpu, domain=domain)


def _hypervisor_sources(plan: Plan, hypervisor: DomainPlan) -> list[Path]:
    """The files of the threads that it has, and its console's driver."""
    runtime, console = runtime_folder(), plan.system.kernel.console
    threads = [thread.function for thread in hypervisor.threads]
    unused = {file for name, own in _THREAD_FILES.items() if name not in threads for file in own}
    sources = [file for file in _sources(runtime / "hypervisor") if file.name not in unused]
    if console is not None:
        sources.append(runtime / "soc" / plan.chip.console_drivers[plan.chip.devices[console].kind])
    return sources


def _needs_support(domain: DomainPlan) -> bool:
    """Whether a domain has C++ and no library that C++ calls."""
    built = domain.sources.built if domain.sources is not None else ()
    flags = domain.source.project.ldflags.split() if domain.source is not None else []
    return any(map(_is_cplusplus, built)) and _CPLUSPLUS_LIBRARIES.isdisjoint(flags)


def all_makefile(plan: Plan) -> str:
    """Makefile that builds everything."""
    return render("all.mk.j2", parts=["kernel", *(d.name for d in plan.domains)])


def _makefile(
    plan: Plan,
    folder: Path,
    target: str,
    runtime_sources: Sequence[Path],
    fpu: bool,
    domain: DomainPlan | None = None,
    whole: bool = False,
) -> str:
    """`whole`: optimised across files, by the linker."""
    runtime, core = runtime_folder(), plan.chip.core
    includes = [Path("."), runtime / "include"]
    includes += [runtime / "arch" / part / "include" for part in core.runtime]
    includes = [i for i in includes if not i.is_absolute() or i.is_dir()]
    if domain is None or domain.name == HYPERVISOR:
        includes.append(runtime)
    sources = domain.sources if domain else None
    project = domain.source.project if domain and domain.source else None
    objects = [
        _object(folder, s, "TABLES" if whole and s.name == "fvm_tables.c" else "RUNTIME")
        for s in runtime_sources
    ]
    project_flags = cplusplus_flags = None
    if sources is not None and project is not None:
        builtin = project.builtin is not None
        flags = "RUNTIME" if builtin else "PROJECT"
        objects += [_object(folder, s, flags, project.preprocess) for s in sources.built]
        if not builtin:
            defines = " ".join(_in_line(_word(f"-D{d}")) for d in project.defines)
            project_flags = _flags(project.standard, defines, project.cflags)
            if any(map(_is_cplusplus, sources.built)):
                cplusplus_flags = _flags(project.cxx_standard, defines, project.cxxflags)
    return render(
        "Makefile.j2",
        core=core,
        level=plan.system.optimize,
        target=target,
        whole=whole,
        script=f"{target}.ld",
        machine=core.machine_flags(fpu),
        includes=_folders(folder, includes),
        project_flags=project_flags,
        cplusplus_flags=cplusplus_flags,
        project_includes=_folders(folder, sources.includes if sources else ()),
        objects=objects,
        companions=_companions(folder, sources.built if sources else ()),
        ldflags=_in_recipe(project.ldflags) if project_flags and project else _RUNTIME_LIBRARIES,
    )


def _flags(standard: str, defines: str, more: str) -> str:
    parts = (f"-std={standard}", defines, _in_line(more))
    return " ".join(part for part in parts if part)


def _is_cplusplus(source: Path) -> bool:
    return source.suffix in CPLUSPLUS


def _sources(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted(f for f in folder.iterdir() if f.suffix in _SOURCE_SUFFIXES)


def _object(folder: Path, source: Path, flags: str, preprocess: bool = False) -> _Object:
    name = os.path.relpath(source, folder)
    # The hash keeps two files of one name apart, and an old object from a new source.
    target = f"obj/{_plain(source.stem)}-{short_hash(name.encode())[:8]}.o"
    prerequisite = _in_line(name).replace(" ", "\\ ")
    argument, label = _in_recipe(_word(name)), _label(source.name)
    if _is_cplusplus(source):
        return _Object(target, prerequisite, argument, f"{flags}_CXX", label, "CXX")
    if preprocess and source.suffix == ".s":
        argument = f"-x assembler-with-cpp {argument}"
    return _Object(target, prerequisite, argument, flags, label)


def _companions(folder: Path, sources: Iterable[Path]) -> list[_Object]:
    """The C files that porting assembler files may leave beside them; see companion_of."""
    found = [companion_of(source) for source in sources if source.suffix in (".s", ".S")]
    return [_object(folder, companion, "PROJECT") for companion in found]


def _folders(folder: Path, paths: Iterable[Path]) -> list[str]:
    return [_in_line(_word(os.path.relpath(folder / path, folder))) for path in paths]


def _plain(text: str) -> str:
    return "".join(c if c.isalnum() or c in "_-" else "_" for c in text)


def _label(name: str) -> str:
    return _in_recipe(_word(f"  {name}"))


def _in_line(text: str) -> str:
    """Text in an assignment or as a prerequisite."""
    return text.replace("$", "$$").replace("#", "\\#")


def _in_recipe(text: str) -> str:
    """Text in a recipe: there # is the shell's."""
    return text.replace("$", "$$")


def _word(text: str) -> str:
    """One word for the shell."""
    return text if all(c.isalnum() or c in "_-+=./,:@%" for c in text) else shlex.quote(text)
