"""The command `fvmkit scan`."""

from __future__ import annotations

import os

import click

from scanner.arch.registry import ARCHITECTURES
from scanner.inputs import Skipped, gather, skipped_lines
from scanner.policy import load_policy
from scanner.report import text
from scanner.report.errors import FvmError
from scanner.report.formats import DOCUMENTS, document
from scanner.scan import scan_file
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


@click.command(short_help="Reject programs that hold what a guest must not run.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option(
    "--policy",
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
    "--waivers", metavar="FILE", help="Findings that a person answers for (docs/scanner.md)."
)
@click.option(
    "--baseline", metavar="FILE", help="Findings of before, which count no longer; new ones do."
)
@click.option(
    "--write-baseline", metavar="FILE", help="Write all findings of now, as the new baseline."
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
    waivers: str | None,
    baseline: str | None,
    write_baseline: str | None,
    form: str,
    as_json: bool,
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
    allow, is a warning. Exit status: 0 clean or warnings only, 1 rejected, 2 a file can't be
    opened, 3 internal error.

    \b
    Examples:
      fvmkit scan build/out/motor-controller/motor-controller.elf
      fvmkit scan --policy build/out/motor.domain.json --json build/out/motor/motor.elf
      fvmkit scan --chip stm32f405 --base 0x08000000 firmware.bin
    """
    if baseline is not None and write_baseline is not None:
        raise click.UsageError("--baseline and --write-baseline exclude each other")
    accepted = Accepted(waivers, baseline, write_baseline)
    rules = None if policy is None else load_policy(policy)
    status, skipped, found = 0, [], []
    for file in gather(files, raw=base is not None):
        try:
            if isinstance(file, FvmError):
                raise file
            if isinstance(file, Skipped):
                skipped.append(file)
            else:
                found.append(
                    scan_file(file, rules, strict, arch, chip, base, entries, guess=not no_guess)
                )
        except FvmError as error:
            click.echo(f"fvmkit: {error}", err=True)
            status = max(status, error.exit_code)
    run = accepted.settle(found, skipped)
    form = "json" if as_json else form
    if form == "text":
        for verdict, line in (line for report in run.reports for line in text.render(report)):
            click.echo(click.style(line, fg=text.COLOURS[verdict]), color=_colour())
    else:
        click.echo(document(form, run), nl=False)
    for line in (*skipped_lines(skipped), *run.notes):
        click.echo(f"fvmkit: {line}", err=True)
    rejected = any(report.verdict == "reject" for report in run.reports)
    context.exit(max(status, int(rejected)))


def _colour() -> bool | None:
    """None lets click decide by whether stdout is a terminal."""
    return False if os.environ.get("NO_COLOR") else None
