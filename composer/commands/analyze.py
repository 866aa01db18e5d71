"""`fvmkit analyze`: what a legacy project is, and what its port will look like."""

from __future__ import annotations

import gc
from pathlib import Path

import click

from porter.output.progress import progress

_GARBAGE_AFTER = 200_000  # objects; nearly all of a program's live to the end


def _warn(message: str) -> None:
    click.echo(f"fvmkit analyze: {message}", err=True)


@click.command()
@click.argument("project", type=click.Path(path_type=Path))
@click.option(
    "--part",
    metavar="PART",
    help="The chip that it is written for, where no file names it or several do: STM32F103RC.",
)
@click.option(
    "--chip",
    "host",
    default="STM32F405RG",
    show_default=True,
    help="The chip that it shall move to; devices are judged by what that one has.",
)
@click.option(
    "--cpu",
    "cpu_text",
    default="",
    metavar="FLAGS",
    help="For which core it is compiled, where no build says it: '-mcpu=cortex-m4 -mthumb'.",
)
@click.option(
    "--core-clock",
    type=click.IntRange(min=1),
    metavar="HZ",
    help="How fast the old chip's core ran, where nothing tells it.",
)
@click.option(
    "-I",
    "--include",
    "include_dirs",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="Where headers are that the project doesn't contain.",
)
@click.option("--json", "as_data", is_flag=True, help="Print the same as JSON (docs/analyze.md).")
@click.option("-v", "--verbose", is_flag=True, help="Every kind of place, with all its places.")
def analyze(
    project: Path,
    part: str | None,
    host: str,
    cpu_text: str,
    core_clock: int | None,
    include_dirs: tuple[Path, ...],
    as_data: bool,
    verbose: bool,
) -> int:
    """Say what the legacy firmware in the folder PROJECT is, and what its port will look like.

    This comes first, before there is any description: nothing is written. It reads
    compile_commands.json, the makefile (by `make --dry-run` in a copy), project files of Keil, IAR
    and STM32CubeIDE, linker scripts, a built ELF or map, and the sources, and judges every place
    as `fvmkit port` does. The page has three parts:

    \b
    - what it is: chip, memory, core, toolchain, RTOS, clock, tick, interrupts,
      devices, DMA, masks, context switch, assembler; each with how it is known;
    - the port: how many places are rewritten, by which rule, and which need a
      person, why, and what to do (->); what no virtual machine offers;
    - what couldn't be read or told, and the command to type next.

    What isn't known is said and never guessed: build the project once, or say it by --part, --cpu
    or -I, and ask again.

    Exit status: 0 all was read and nobody is needed; 1 a person is needed, or something couldn't be
    read; 2 wrong usage or a missing project.
    """
    from composer.analyze.analysis import Question
    from composer.analyze.analysis import analyze as analysis_of
    from composer.analyze.as_json import as_json
    from composer.analyze.page import page
    from porter.project.domain import cpu_flags
    from porter.project.request import Request

    try:
        cpu = cpu_flags(cpu_text.split())
    except ValueError as error:
        raise click.UsageError(f"--cpu: {error}") from error
    gc.set_threshold(_GARBAGE_AFTER)
    question = Question(project, part, host, cpu, core_clock, Request(include_dirs))
    found = analysis_of(question, progress("analyze"), _warn)
    click.echo(as_json(found) if as_data else page(found, verbose), nl=False)
    return 1 if found.needs_person else 0
