"""The steps of `fvmkit analyze`: judge the project as `port` does, then say what was learnt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from composer.analyze.assembler import assembler_of
from composer.analyze.chip import chip_of
from composer.analyze.clock import clock_of
from composer.analyze.code import running
from composer.analyze.devices import devices_of, without_idle_lines
from composer.analyze.drafted import Drafted, drafted
from composer.analyze.masks import masks_of
from composer.analyze.memory import scripts_of
from composer.analyze.model import Analysis, ChipFacts
from composer.analyze.next_steps import next_steps
from composer.analyze.outlook import outlook
from composer.analyze.parts import family_of
from composer.analyze.rtos import rtos_of
from composer.analyze.sections import sections_of
from composer.analyze.switches import switches_of
from composer.analyze.tick import tick_of
from composer.analyze.toolchain import build_facts, unread_build
from composer.analyze.unread import unread
from composer.analyze.unsupported import unsupported
from composer.analyze.vectors import vectors_of
from composer.chips.chip import Chip, load_chip
from composer.description.model import Place
from composer.init.facts import ClockTree
from composer.init.first import FAMILY, known_name
from composer.init.stm32f4 import clock_tree, silicon
from porter.context_switch.recipe import core_of
from porter.execution.survey import survey
from porter.port import Judged, judged_project
from porter.project.build import Build, read_build
from porter.project.ide.project_file import core_flags
from porter.project.request import NOTHING_MORE, Request
from porter.project.source_tree import find_sources
from porter.source.source_file import CPLUSPLUS_SUFFIXES
from scanner.report.errors import FvmError, MissingError

HOST = "STM32F405RG"
"""The chip that init drafts systems for, unless another one is named."""


_MANY = 400  # files; what a firmware is built from, or a whole library


@dataclass(frozen=True)
class Question:
    """The command line: `part` of the old chip, `host`: the new one."""

    project: Path
    part: str | None = None
    host: str = HOST
    cpu: tuple[str, ...] = ()
    core_clock: int | None = None
    more: Request = NOTHING_MORE


def analyze(
    question: Question,
    progress: Callable[[str], None] = lambda _message: None,
    warn: Callable[[str], None] = lambda _message: None,
) -> Analysis:
    """All that can be told of a project without a description. Raises FvmError. `warn` is told at
    once what makes it long."""
    host, root = _host(question.host), question.project.resolve()
    sources = find_sources(root)
    if not sources:
        raise MissingError("no C, C++ or assembler source was found in it", file=question.project,
                           hint="name the folder that the firmware's sources are in")  # fmt: skip
    progress(f"{len(sources)} source files; asking the build system")
    build = read_build(root, sources, question.cpu)
    if not build.units and len(sources) > _MANY:
        warn(
            f"nothing tells which of {len(sources)} source files are compiled, so each is looked "
            "at, which may take long: have the build say it, or name the folder of one firmware"
        )
    chip, _ = chip_of(root, build, [], [], question.part)
    with _draft(root, build, chip, host, progress) as draft:
        domain = draft.domain if draft is not None else None
        judged = judged_project(
            root, domain, (), progress, question.cpu or _of_part(build, sources, chip),
            question.more, question.core_clock,
        )  # fmt: skip
        found = _told(question, root, host, judged, draft, progress)
        return replace(found, chip=replace(found.chip, core=chip.core, fpu=chip.fpu))


def _of_part(build: Build, sources: Sequence[Path], chip: ChipFacts) -> tuple[str, ...]:
    """Compiler options for the part's core, with an FPU where it may have one, if nothing else
    tells them: otherwise, a switch that saves its registers can't be read."""
    if build.units or core_of(sources) or chip.core.value is None:
        return ()
    return core_flags(chip.core.value, chip.fpu.value != "no")


def _draft(
    root: Path, build: Build, chip: ChipFacts, host: Chip, progress: Callable[[str], None]
) -> AbstractContextManager[Drafted | None]:
    """What init would write, where it knows every file and reads what this chip's code sets up."""
    has_cplusplus = any(it.suffix.lower() in CPLUSPLUS_SUFFIXES for it in build.units)
    if not build.is_known or has_cplusplus or not _readable(chip, host):
        return nullcontext()
    return drafted(root, host, progress)


def _told(
    question: Question,
    root: Path,
    host: Chip,
    judged: Judged,
    draft: Drafted | None,
    progress: Callable[[str], None],
) -> Analysis:
    """Everything that the model of the program tells."""
    project = judged.docket.project
    tables = [path for path, tables in project.tables.items()
              if tables and project.knowledge.is_built(path)]  # fmt: skip
    read = [it.path for it in project.sources]
    chip, lost = chip_of(root, project.build, tables, read, question.part)
    tree = draft.facts.clock_tree if draft is not None else None
    if draft is None and _readable(chip, host):
        tree = _clock_tree(root, host, progress)
    progress("looking for devices, vectors and masks")
    stretches = list(running(judged))
    vectors, switches = vectors_of(judged), switches_of(judged)
    found, streams = devices_of(judged, stretches)
    devices = without_idle_lines(found, vectors)
    told, rtos = rtos_of(judged, switches)
    build = build_facts(root, judged)
    masks, mask_sites = masks_of(judged)
    lost = [*unread_build(root, judged), *lost, *unread(judged)]
    return Analysis(
        project=str(root),
        chip=chip,
        build=build,
        rtos=told,
        tick=tick_of(judged, stretches, rtos, vectors, question.core_clock),
        clock=clock_of(root, judged, tree, host, question.core_clock),
        vectors=vectors,
        devices=tuple(devices),
        streams=tuple(streams),
        sections=sections_of(judged, scripts_of(root, chip.part.value or "", project.build)[0]),
        masks=masks,
        mask_sites=mask_sites,
        switches=switches,
        assembler=assembler_of(judged, stretches),
        port=outlook(judged, draft is not None),
        unsupported=tuple(unsupported(chip, build, devices, streams, host)),
        unread=tuple(lost),
        questions=draft.questions if draft is not None else (),
        next=tuple(next_steps(question.project, chip, build, host)),
    )


def _host(name: str) -> Chip:
    try:
        return load_chip(known_name(name), Place("the command line"))
    except FvmError as error:
        raise MissingError(error.message, hint=error.hint) from None


def _readable(chip: ChipFacts, host: Chip) -> bool:
    """Whether the readers of set-up code know the old chip's registers, by the new one's data."""
    try:
        return chip.part.value is not None and family_of(chip.part.value) == host.family == FAMILY
    except MissingError:
        return False


def _clock_tree(root: Path, host: Chip, progress: Callable[[str], None]) -> ClockTree | None:
    """What set-up code leaves in registers, of a project that init drafts nothing for."""
    try:
        found = survey(root, silicon(host), progress=progress)
    except FvmError:
        return None
    return clock_tree(found, host) if found.has_main else None
