"""The command `fvmkit scan`."""

from __future__ import annotations

import os
from dataclasses import replace

import click

from scanner.arch.registry import ARCHITECTURES
from scanner.contradictions import ScanCommand
from scanner.filters import Filters
from scanner.inputs import Skipped, gather, skipped_lines
from scanner.outputs import Outputs
from scanner.policy import load_policy
from scanner.privileged_names import NOTHING, check
from scanner.report.errors import FvmError
from scanner.report.formats import DOCUMENTS
from scanner.report.totals import totals
from scanner.scan import scan_file
from scanner.settings import use_settings
from scanner.settle import Accepted

_ADDRESS_END = 1 << 32


def _number(text: str) -> int:
    """A 32-bit address, in any notation of C; a usage error for anything else."""
    try:
        number = int(text, 0)
    except ValueError:
        raise click.BadParameter(f"'{text}' is no number such as 0x08000000") from None
    if not 0 <= number < _ADDRESS_END:
        raise click.BadParameter(f"'{text}' is no address of 32 bits")
    return number


def _address(context: click.Context, option: click.Parameter, text: str | None) -> int | None:
    return None if text is None else _number(text)


def _addresses(
    context: click.Context, option: click.Parameter, texts: tuple[str, ...]
) -> tuple[int, ...]:
    return tuple(map(_number, texts))


def _names(
    context: click.Context, option: click.Parameter, texts: tuple[str, ...]
) -> tuple[str, ...]:
    if NOTHING in texts and len(set(texts)) > 1:
        raise click.BadParameter(f"'{NOTHING}' goes with nothing else")
    try:
        for text in texts:
            check(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None
    return texts


_FILE = click.Path()


@click.command(cls=ScanCommand, short_help="Reject programs that hold what a guest must not run.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=_FILE)
@click.option(
    "--policy",
    type=_FILE,
    metavar="DOMAIN.domain.json",
    help="What the domain is allowed (SVC numbers, FPU, WFI, devices); compose writes this file.",
)
@click.option("--strict", is_flag=True, help="Reject what may be an instruction, too.")
@click.option(
    "--arch", type=click.Choice(ARCHITECTURES), help="Core; by default what the file says."
)
@click.option(
    "--chip", metavar="PART", help="Part or QEMU board it is meant for (stm32f405, mps2-an385)."
)
@click.option("--no-guess", is_flag=True, help="Reject a program for which nothing names a core.")
@click.option(
    "--base",
    callback=_address,
    metavar="ADDRESS",
    help="Where the first byte of a raw binary lies, if its vector table doesn't tell.",
)
@click.option(
    "--entry",
    "entries",
    callback=_addresses,
    multiple=True,
    metavar="ADDRESS",
    help="Where code starts, besides where the file says; may be given several times.",
)
@click.option(
    "--privileged",
    callback=_names,
    multiple=True,
    metavar="SECTION|BEGIN-END|FUNCTION",
    help="Code beside the guests that runs with privilege: followed, not judged. Known of "
    "FreeRTOS-MPU, Zephyr, Tock and ThreadX Modules; 'none' judges all.",
)
@click.option(
    "--waivers",
    type=_FILE,
    metavar="FILE",
    help="Findings that a person answers for (docs/scanner.md).",
)
@click.option(
    "--baseline",
    type=_FILE,
    metavar="FILE",
    help="Findings of before, which count no longer; new ones do.",
)
@click.option(
    "--write-baseline",
    type=_FILE,
    metavar="FILE",
    help="Write all findings of now, as the new baseline.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(("text", *DOCUMENTS)),
    default="text",
    show_default=True,
    help="One line a finding, one document for all, or annotations of a GitHub workflow.",
)
@click.option("--json", "as_json", is_flag=True, help="Short for --format json.")
@click.option("-o", "--output", type=_FILE, metavar="FILE", help="Where --format goes, not stdout.")
@click.option("--sarif", type=_FILE, metavar="FILE", help="Write a SARIF log, besides.")
@click.option("--html", type=_FILE, metavar="FILE", help="Write a page, besides.")
@click.option(
    "--comment", type=_FILE, metavar="FILE", help="Write a pull request's comment, besides."
)
@click.option("--github", is_flag=True, help="Print annotations of a GitHub workflow, besides.")
@click.option("-q", "--quiet", is_flag=True, help="Print only what fails the call.")
@click.option("--all", "every", is_flag=True, help="List every finding, not the first of a kind.")
@click.option("--why", is_flag=True, help="Say of each finding on which path control comes there.")
@click.option(
    "--rule", "rules", multiple=True, metavar="RULE", help="Only findings of this rule count."
)
@click.option(
    "--ignore-rule", "ignored_rules", multiple=True, metavar="RULE", help="They don't count."
)
@click.option(
    "--path",
    "paths",
    multiple=True,
    metavar="PATTERN",
    help="Of findings at known source lines only those in such files or folders count.",
)
@click.option(
    "--ignore-path", "ignored_paths", multiple=True, metavar="PATTERN", help="They don't count."
)
@click.option(
    "--source-root",
    type=_FILE,
    metavar="FOLDER",
    help="Where the sources are; without it paths are shown as the compiler was given them.",
)
@click.option(
    "--fail-on",
    type=click.Choice(("reject", "warn", "never")),
    default="reject",
    show_default=True,
    help="Which verdict on a program makes the exit status 1.",
)
@click.option("--no-config", is_flag=True, is_eager=True, help="Read no file of settings.")
@click.option(
    "--config",
    type=_FILE,
    is_eager=True,
    callback=use_settings,
    metavar="FILE",
    help="Settings; by default the nearest .fvmkit.toml, or [tool.fvmkit] of pyproject.toml.",
)
@click.pass_context
def scan(
    context: click.Context,
    files: tuple[str, ...],
    policy: str | None,
    strict: bool,
    arch: str | None,
    chip: str | None,
    no_guess: bool,
    base: int | None,
    entries: tuple[int, ...],
    privileged: tuple[str, ...],
    waivers: str | None,
    baseline: str | None,
    write_baseline: str | None,
    form: str,
    as_json: bool,
    output: str | None,
    sarif: str | None,
    html: str | None,
    comment: str | None,
    github: bool,
    quiet: bool,
    every: bool,
    why: bool,
    rules: tuple[str, ...],
    ignored_rules: tuple[str, ...],
    paths: tuple[str, ...],
    ignored_paths: tuple[str, ...],
    source_root: str | None,
    fail_on: str,
    no_config: bool,
    config: str | None,
) -> None:
    """Scan linked programs before they reach flash: ELF, Intel HEX, S-record, UF2, raw binary.

    What a file is, is told by its content; a raw binary needs --base where no vector table tells
    it. Of a folder every program in it is scanned; what is not is told on stderr.

    Every even address of every executable segment is examined. A line says where, how grave, what,
    why, and how to put it right:

    \b
      FILE: ADDRESS FUNCTION SOURCE:LINE: reject RULE: INSTRUCTION — why; what to do

    An instruction that hardware neither runs nor traps without privilege (a mask that masks
    nothing) rejects the program if control is known to reach it; if not, it is a warning marked
    "possible", which --strict turns into a rejection. What traps, and what the policy doesn't
    allow, is a warning. Exit status: 0 clean or warnings only (--fail-on), 1 rejected, 2 a file
    can't be opened, 3 internal error.

    \b
    Examples:
      fvmkit scan build/out/motor-controller/motor-controller.elf
      fvmkit scan --policy build/out/motor.domain.json --json build/out/motor/motor.elf
      fvmkit scan --chip stm32f405 --base 0x08000000 firmware.bin
      fvmkit scan --sarif scan.sarif --html scan.html --github build
    """
    filters = Filters(rules, ignored_rules, paths, ignored_paths)
    for rule in filters.unknown_rules():
        raise click.UsageError(f"no rule '{rule}'; `fvmkit explain` lists them")
    if source_root is not None and not os.path.isdir(source_root):
        raise click.UsageError(f"'{source_root}' is no folder")
    accepted = Accepted(waivers, baseline, write_baseline, filters)
    allowed = None if policy is None else load_policy(policy)
    status, skipped, found = 0, [], []
    for file in gather(files, raw=base is not None):
        try:
            if isinstance(file, FvmError):
                raise file
            if isinstance(file, Skipped):
                skipped.append(file)
            else:
                found.append(
                    scan_file(
                        file,
                        allowed,
                        strict,
                        arch,
                        chip,
                        base,
                        entries,
                        not no_guess,
                        source_root,
                        privileged,
                        why,
                    )
                )
        except FvmError as error:
            click.echo(f"fvmkit: {error}", err=True)
            status = max(status, error.exit_code)
    run = accepted.settle(found, skipped)
    if config is not None:
        run = replace(run, notes=(f"settings from {config}", *run.notes))
    worst = totals(run.reports).worst
    fails = worst == "reject" or (worst == "warn" and fail_on == "warn")
    if fails and fail_on == "never":
        run = replace(run, notes=(*run.notes, "rejected, and no failure by --fail-on never"))
        fails = False
    more = (("sarif", sarif), ("html", html), ("markdown", comment))
    Outputs(
        form="json" if as_json else form,
        file=output,
        more=tuple((name, to) for name, to in more if to is not None),
        github=github,
        every=every,
        why=why,
        least="accept" if not quiet else "warn" if fail_on == "warn" else "reject",
    ).write(run)
    for line in () if quiet else (*skipped_lines(skipped), *run.notes):
        click.echo(f"fvmkit: {line}", err=True)
    context.exit(max(status, int(fails)))
