"""`fvmkit port`: rewrite a legacy project for its virtual machine."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("project", type=click.Path(path_type=Path))
@click.option(
    "--domain",
    "domain_file",
    type=click.Path(path_type=Path),
    metavar="FILE.domain.json",
    help="What the machine grants, written by compose.",
)
@click.option(
    "-o",
    "diff_file",
    type=click.Path(path_type=Path),
    metavar="DIFF",
    help="Write the diff there instead of to standard output.",
)
@click.option(
    "--out",
    "out_folder",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write a ported copy of the project there.",
)
@click.option("--in-place", is_flag=True, help="Edit the project's own files, all or none.")
@click.option(
    "-i",
    "--interactive",
    "interactive",
    is_flag=True,
    help="Ask piece by piece what shall be changed, with the reasons, and write what was accepted: "
    "in place, or where -o or --out says.",
)
@click.option(
    "--force",
    is_flag=True,
    help="Overwrite files with changes that git doesn't have or that were made by hand.",
)
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if anything would change.")
@click.option(
    "--cpu",
    "cpu_text",
    default="",
    metavar="FLAGS",
    help="For which core a project without makefile or compile_commands.json is compiled, as the "
    "compiler takes it: '-mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard'.",
)
@click.option(
    "--core-clock",
    type=click.IntRange(min=1),
    metavar="HZ",
    help="How fast the core of the old chip ran, where a number of cycles is all that tells the "
    "tick's rate: SysTick_Config(72000).",
)
@click.option(
    "--no-guess", is_flag=True, help="Refuse to transcribe context switches for a guessed core."
)
@click.option(
    "-I",
    "--include",
    "include_dirs",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="Where headers are that the project doesn't contain; they are read, not ported.",
)
@click.option(
    "--known",
    "known",
    multiple=True,
    metavar="NAME",
    help="A function that isn't in the project and that you know to leave masks, lines, tick, "
    "sleep, reset and other machines' registers alone; 'gpio_*' means all that begin so.",
)
@click.option(
    "--all-arms",
    is_flag=True,
    help="Port arms of #if that this build can't contain too, such as other compilers', and "
    "functions and macros that nothing uses.",
)
@click.option(
    "--vendor",
    "theirs",
    multiple=True,
    metavar="DIR",
    help="A folder in the project that is somebody else's, though it doesn't look so: the report "
    "has one line on it, and the diff has it behind the project's own files.",
)
@click.option(
    "--own", "own", multiple=True, metavar="DIR", help="One that isn't, though it looks so."
)
@click.option(
    "--elf",
    "elf",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="What the project's own build makes, with debug information: whatever the scanner finds "
    "in it must be a place that the port accounts for.",
)
@click.option(
    "--build",
    "build",
    is_flag=True,
    help="Build a copy of the project by its own makefile, and do as with --elf.",
)
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="In how many processes files are looked at; without it, as many as there are cores that "
    "the command may use. What comes out is the same.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option("-v", "--verbose", is_flag=True, help="List every site, not only the escalated.")
def port(
    project: Path,
    domain_file: Path | None,
    diff_file: Path | None,
    out_folder: Path | None,
    in_place: bool,
    interactive: bool,
    force: bool,
    check: bool,
    cpu_text: str,
    core_clock: int | None,
    no_guess: bool,
    include_dirs: tuple[Path, ...],
    known: tuple[str, ...],
    all_arms: bool,
    theirs: tuple[str, ...],
    own: tuple[str, ...],
    elf: Path | None,
    build: bool,
    jobs: int | None,
    as_json: bool,
    verbose: bool,
) -> int:
    """Rewrite a legacy project for its virtual machine.

    Prints a unified diff unless told otherwise; the report goes to standard error. Exit status:
    0 done; 1 a person must look at a site that was escalated, declined with -i or, with --elf or
    --build, overlooked, headers or functions are used that aren't there, or --check found a
    change to make; 2 wrong usage or a missing project; 3 internal error: the files that it struck
    stay as they are, and --in-place writes nothing.
    """
    from porter.choosing.dialogue import is_terminal
    from porter.command import Request, run
    from porter.processes import usable_cores
    from porter.project.domain import cpu_flags
    from porter.project.request import Request as ProjectRequest

    chosen = [name for name, given in (
        ("-o", diff_file is not None), ("--out", out_folder is not None),
        ("--in-place", in_place), ("--check", check),
    ) if given]  # fmt: skip
    if len(chosen) > 1:
        raise click.UsageError(f"{' and '.join(chosen)} exclude each other")
    if interactive and check:
        raise click.UsageError("-i and --check exclude each other")
    if interactive and not is_terminal():
        raise click.UsageError("-i asks: standard input and standard error must be a terminal")
    if build and elf is not None:
        raise click.UsageError("--build and --elf exclude each other")
    try:
        cpu = cpu_flags(cpu_text.split())
    except ValueError as error:
        raise click.UsageError(f"--cpu: {error}") from error
    request = Request(
        project, domain_file, diff_file, out_folder, in_place, force, check, as_json, verbose,
        cpu, no_guess, elf, build, ProjectRequest(include_dirs, known, all_arms, theirs, own),
        core_clock, interactive, jobs or usable_cores(),
    )  # fmt: skip
    return run(request)
