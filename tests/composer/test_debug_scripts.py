"""What compose writes for debuggers, and the port at which QEMU waits for one."""

from __future__ import annotations

import json
import socket
import subprocess
from pathlib import Path

import click
import pytest

from composer.commands.run import run as run_command
from composer.debug.port import HERE, listen
from composer.debug.scripts import gdb_path
from composer.description.parse import parse
from composer.emit.generate import generate
from composer.resolve import resolve
from scanner.report.errors import FvmError, MissingError
from tests.composer import systems


@pytest.fixture
def texts(tmp_path: Path) -> dict[str, str]:
    """Generated for a folder whose name has a blank and a quotation mark."""
    out = tmp_path / 'my "out'
    return generate(resolve(parse(systems.write(tmp_path / "in")), out), out)


def test_scripts_load_symbols_of_every_part_and_nothing_into_the_chip(
    texts: dict[str, str], tmp_path: Path
) -> None:
    out = f'{tmp_path}/my \\"out'
    loaded = [
        line.split(" ", 1) for line in texts["debug/system.gdb"].splitlines() if '.elf"' in line
    ]
    parts = ("hypervisor", "beater", "one", "two")
    assert loaded == [
        ["file", f'"{out}/kernel/kernel.elf"'],
        *(["add-symbol-file", f'"{out}/{name}/{name}.elf"'] for name in parts),
    ]
    for name in parts:
        script = texts[f"debug/{name}.gdb"].splitlines()
        assert f'file "{out}/{name}/{name}.elf"' in script
        assert f'add-symbol-file "{out}/kernel/kernel.elf"' in script
    commands = {line.split()[0] for text in texts.values() for line in text.splitlines() if line}
    assert "load" not in commands


def test_gdb_takes_a_path_as_one_argument(tmp_path: Path) -> None:
    folder = tmp_path / "a \"b\" \\ 'c' #d"
    folder.mkdir()
    program = folder / "x.elf"
    (folder / "x.c").write_text("int answer = 42; int main(void) { return 0; }")
    subprocess.run(
        ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-nostdlib", "-g", "-Wl,-e,main", "x.c", "-o",
         "x.elf"],
        cwd=folder, check=True, capture_output=True,
    )  # fmt: skip
    script = tmp_path / "script.gdb"
    script.write_text(f"file {gdb_path(program)}\nadd-symbol-file {gdb_path(program)}\n")
    done = subprocess.run(
        ["gdb-multiarch", "-nx", "-batch", "-x", script, "-ex", "print answer"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "$1 = 42" in done.stdout, done.stderr


def test_the_editor_gets_two_configurations_a_domain(texts: dict[str, str]) -> None:
    document = json.loads(texts["debug/launch.json"])
    configurations = {c["name"]: c for c in document["configurations"]}
    domains = ("hypervisor", "beater", "one", "two")
    assert list(configurations) == [f"{d} ({w})" for w in ("QEMU", "OpenOCD") for d in domains]
    for name, configuration in configurations.items():
        domain = name.split(" ")[0]
        assert configuration["type"] == "cortex-debug"
        assert configuration["request"] == "attach"  # a launch would write over the image
        files = [Path(file).name for file in configuration["symbolFiles"]]
        assert files == [f"{domain}.elf", "kernel.elf"]
    assert configurations["one (QEMU)"]["gdbTarget"] == "localhost:1234"
    assert configurations["one (OpenOCD)"]["configFiles"][1] == "target/stm32f4x.cfg"


@pytest.mark.parametrize("name", ["debug", "system", "commands"])
def test_names_of_its_files_are_no_domains(name: str, tmp_path: Path) -> None:
    description = systems.write(tmp_path, ('<process name="beater"', f'<process name="{name}"'))
    description.write_text(description.read_text().replace('to="beater"', f'to="{name}"'))
    with pytest.raises(FvmError, match=f"'{name}' is a name of the toolkit's own"):
        resolve(parse(description), tmp_path / "out")


def test_the_port_is_of_this_computer_alone_and_never_shared() -> None:
    with listen(None) as first, listen(None) as second:
        assert first.getsockname()[0] == second.getsockname()[0] == HERE
        taken = first.getsockname()[1]
        assert taken != second.getsockname()[1]
        with pytest.raises(MissingError, match=f"--gdb: can't listen on port {taken}: "):
            listen(taken)
    with socket.socket() as free:
        free.bind((HERE, 0))
        port = free.getsockname()[1]
    with listen(port) as wanted:
        assert wanted.getsockname() == (HERE, port)


@pytest.mark.parametrize("word", ["build", "70000", "1.5"])
def test_what_is_no_port_is_explained(word: str) -> None:
    with pytest.raises(click.BadParameter, match="is no port; write DIR before --gdb"):
        run_command.main(["somewhere", f"--gdb={word}"], standalone_mode=False)
