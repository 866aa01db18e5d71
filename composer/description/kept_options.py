"""Options of the legacy build that a domain is compiled without, or with others in their place.

Code may depend on them: a delay loop on how far the compiler optimises, a protocol's structure on
how large an enumeration is. Only what somebody wrote down is compared: a project without a build
says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from composer.description.model import Domain, System
from porter.project.build import Build, read_build

_OPTIMIZE = "-O"


def option_advice(system: System) -> list[str]:
    """One line each: `file:line:col: what, and what to do`."""
    return [
        line
        for domain in system.domains
        if domain.project.is_ported and domain.project.builtin is None and domain.project.path
        for line in _of(system, domain)
    ]


def _of(system: System, domain: Domain) -> Iterator[str]:
    project = domain.project
    build = read_build(system.folder / project.path, ())
    if not build.units:
        return
    given = project.cflags.split()
    known = {*given, *project.cxxflags.split()}
    yield from _level(system, domain, build, given)
    lost = [flag for flag in build.options.language if flag not in known]
    if lost:
        yield str(
            project.place.error(
                f"'{domain.name}' is compiled without {' '.join(lost)}, which its project's"
                f" {build.source} has",
                f'add it: cflags="{" ".join([*given, *lost])}", unless it is left out on purpose',
            )
        )


def _level(system: System, domain: Domain, build: Build, given: list[str]) -> Iterator[str]:
    legacy = build.options.optimize
    levels = [flag for flag in given if flag.startswith(_OPTIMIZE)]
    level = levels[-1] if levels else f"{_OPTIMIZE}{system.optimize}"
    if legacy and level != legacy and not levels:
        kept = " ".join([legacy, *given])
        yield str(
            domain.project.place.error(
                f"'{domain.name}' is compiled with {level}, its project's {build.source} says"
                f" {legacy}",
                f'a delay loop may get shorter or vanish: write cflags="{kept}" to keep it,'
                f" or {level} there to confirm the change",
            )
        )
