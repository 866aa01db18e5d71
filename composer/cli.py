"""The root command `fvmkit`.

Every subcommand is imported only when it is used, so `fvmkit --help` and `fvmkit doctor` work
even where a library that another command needs is broken or missing.
"""

from __future__ import annotations

import errno
import gc
import importlib
import os
import sys
from collections.abc import Callable

import click

from scanner.report.errors import FvmError

# numpy's linear algebra, which nothing here uses, would start its threads: a tenth of a short scan.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# command -> (module, attribute, one line of help). The help stands here so that `--help` needs
# no import.
COMMANDS: dict[str, tuple[str, str, str]] = {
    "doctor": ("composer.commands.doctor", "doctor", "Say what is installed and what is missing."),
    "analyze": ("composer.commands.analyze", "analyze", "Say what a project is, and its port."),
    "init": ("composer.commands.init", "init", "Write a first description from the projects."),
    "compose": ("composer.commands.compose", "compose", "Lay out a system and generate its files."),
    "port": ("porter.cli", "port", "Rewrite a legacy project for its virtual machine."),
    "split": ("porter.interrupt_split.cli", "split", "Split interrupt handlers in three sections."),
    "build": ("composer.commands.build", "build", "Compile every domain of a composed system."),
    "scan": ("scanner.cli", "scan", "Look for instructions that a guest must not contain."),
    "explain": ("scanner.explain", "explain", "Say why a rule of scan is one, and how to fix it."),
    "link": ("composer.commands.link", "link", "Join the built domains into one image."),
    "verify": ("composer.commands.verify", "verify", "Check a finished image before flashing."),
    "run": ("composer.commands.run", "run", "Run the system in QEMU."),
    "decode": ("composer.commands.decode", "decode", "Say in words what a fault record means."),
    "stacks": ("composer.commands.stacks", "stacks", "Say how deep every stack went."),
    "report": ("composer.commands.report", "report", "Write one page on a migrated system."),
}


class LazyGroup(click.Group):
    """A group that imports a subcommand's module when the subcommand is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order in which a migration uses them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return the command, or None when there is no such command."""
        if cmd_name not in COMMANDS:
            return None
        module, attribute, _ = COMMANDS[cmd_name]
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands from the table, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry[2]) for name, entry in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="fvmkit", prog_name="fvmkit")
def fvmkit() -> None:
    """Put several legacy firmwares onto one chip, each in its own protected virtual machine."""


def run_command(command: Callable[[], object]) -> int:
    """Run a click command and return its exit status; errors become one line on stderr."""
    try:
        result = command()
    except FvmError as error:
        click.echo(f"fvmkit: {error}", err=True)
        return error.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        click.echo("fvmkit: interrupted", err=True)
        return 130
    except OSError as error:
        # Files have names, so this is what the user redirected the output to: full, most likely.
        if error.filename is None and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            click.echo(f"fvmkit: can't write the output: {error.strerror}", err=True)
            return 2
        click.echo(f"fvmkit: internal error: {type(error).__name__}: {error}", err=True)
        return 3
    except Exception as error:  # noqa: BLE001 - a traceback tells a user nothing
        click.echo(f"fvmkit: internal error: {type(error).__name__}: {error}", err=True)
        return 3
    return result if isinstance(result, int) else 0


def main() -> None:
    """Entry point of the console script."""
    status = run_command(lambda: fvmkit.main(standalone_mode=False))
    gc.freeze()  # the process ends: what it knows of a large project need not be taken apart first
    sys.exit(status)


if __name__ == "__main__":
    main()
