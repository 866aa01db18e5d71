"""A debugger on the migrated system: breakpoints in every VM, the kernel's objects in words."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from composer.image.composed import read_json
from tests.support.example import MOTOR, SENSOR
from tests.system.live import PATIENCE
from tests.system.road import COUNTED, FVMKIT, Road


@contextmanager
def waiting(road: Road) -> Iterator[str]:
    """`fvmkit run --gdb`; yields the place where it says that it waits."""
    words = [FVMKIT, "run", road.out.name, "--icount", COUNTED[1], "--timeout", str(PATIENCE)]
    with subprocess.Popen(
        [*words, "--gdb"], cwd=road.room, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        try:
            assert process.stderr is not None
            said = process.stderr.readline()
            found = re.fullmatch(r"waiting for a debugger on (localhost:\d+):\n", said)
            assert found, said
            script = shlex.quote(str(road.out.resolve() / "debug" / "system.gdb"))
            command = f"gdb-multiarch -x {script} -ex 'target remote {found[1]}'"
            assert process.stderr.readline().strip() == command
            yield found[1]
        finally:
            process.terminate()


def debug(road: Road, script: str, commands: Sequence[str], cwd: Path) -> str:
    """GDB with one of the generated scripts, from any folder; returns what it printed."""
    with waiting(road) as place:
        words = [f"target remote {place}", *commands]
        done = subprocess.run(
            ["gdb-multiarch", "-nx", "-batch", "-x", road.out / "debug" / f"{script}.gdb",
             *(word for command in words for word in ("-ex", command))],
            cwd=cwd, capture_output=True, text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
    assert "Loading section" not in done.stdout
    return done.stdout + done.stderr


@pytest.mark.parametrize("name", [MOTOR, SENSOR])
def test_a_domains_script_stops_in_its_main(road: Road, name: str, tmp_path: Path) -> None:
    said = debug(road, name, ["break main", "continue", "fvm-current"], tmp_path)
    assert re.search(
        rf"^Breakpoint 1, main \(\) at \.\./ported/{name}/src/main\.c:\d+$", said, re.M
    )
    assert f"\n{name}, thread 1\n" in said


def natives(road: Road) -> list[tuple[str, str]]:
    """Processes of the description, and the function to stop in: a mid-section's, else main."""
    found = {}
    for domain in read_json(road.out / "system.json")["domains"]:
        policy = read_json(road.policy(domain["name"]))
        if domain["kind"] == "process" and domain["name"] != "hypervisor":
            found.setdefault(domain["name"], "main")
        for vector in policy["vectors"]:
            if split := vector.get("split"):
                found[split["process"]] = split["section"]
    return sorted(found.items())


def test_native_code_stops_where_it_is_told(road: Road, tmp_path: Path) -> None:
    for name, function in natives(road):
        said = debug(road, name, [f"break {function}", "continue", "fvm-current"], tmp_path)
        assert re.search(rf"^Breakpoint 1, {function} \(\)", said, re.M), said
        assert re.search(rf"^{name}, thread \d$", said, re.M), said


def test_the_systems_script_knows_every_thread(road: Road, tmp_path: Path) -> None:
    # A VM's memory protection is on at the breakpoint; the debugger sees the others all the same.
    commands = ["tbreak sensor_init", "continue", "fvm-current", "fvm-threads", "x/i main"]
    said = debug(road, "system", commands, tmp_path)
    assert f"\n{SENSOR}, thread 1\n" in said
    threads = re.findall(r"^(\S+) +thread (\d): (running|ready|waits|stopped)", said, re.M)
    assert (SENSOR, "1", "running") in threads
    assert {name for name, _, _ in threads} == {
        domain["name"] for domain in read_json(road.out / "system.json")["domains"]
    }
    assert re.search(
        rf"^{SENSOR} +thread 0: waits, goes on at\n +pc 0x[0-9a-f]+ fvm_vct_main", said, re.M
    )
    assert "Cannot access memory" not in said
