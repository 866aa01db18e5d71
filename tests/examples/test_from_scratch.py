"""The example that is written for the runtime's API: its README's lines, and what it says then."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from tests.support.built import Built, once
from tests.support.example import EXAMPLE
from tests.support.machine import Machine
from tests.system.live import KERNEL_CONSOLE, KernelLog
from tests.system.road import COUNTED, fvmkit

NAME = "from-scratch"
COUNTER = 1
FOLDER = EXAMPLE.parent / NAME


def _lines(out: Path) -> list[list[str]]:
    """The commands of the README up to the one that runs the system."""
    found = re.findall(r"^    fvmkit (.*)$", (FOLDER / "README.md").read_text(), re.MULTILINE)
    assert found[-1] == "run out"
    return [
        [
            re.sub(r"^out\b", str(out), word).replace("$EX", str(FOLDER))
            for word in shlex.split(line)
        ]
        for line in found[:-1]
    ]


def _build(out: Path) -> Built:
    shutil.rmtree(out, ignore_errors=True)
    for words in _lines(out):
        said = fvmkit(*words, cwd=out.parent)
        assert said.status == 0, f"{words}\n{said.all}"
    return Built(out, FOLDER / "system.xml")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return once(tmp_path_factory, NAME, _build)


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("letter", "cause"), [(b"x", "cause=memory .* address=0x20004400 "), (b"h", "cause=watchdog ")]
)
def test_the_vm_restarts_alone_and_samples_go_on(built: Built, letter: bytes, cause: str) -> None:
    consoles = {"counter": COUNTER, "kernel": KERNEL_CONSOLE}
    with Machine(built.elf, consoles, options=COUNTED) as machine:
        log, counter = KernelLog(machine.console["kernel"]), machine.console["counter"]
        assert counter.read_line(60.0) == "start at sample 0"
        for number in (1, 2, 3):
            found = re.fullmatch(r"sample (\d+) at tick (\d+)", counter.read_line(60.0))
            assert found
            assert int(found[1]) == number
            assert abs(int(found[2]) - 10 * number) <= 2
        counter.send(letter + b"\r")
        last = 3
        while not (line := counter.read_line(60.0)).startswith("start"):
            last = int(line.split()[1])
        started = int(line.removeprefix("start at sample "))
        assert started >= last
        # The event of a sample that `start` told may still be pending.
        assert int(counter.read_line(60.0).split()[1]) in (started, started + 1)
        fault = re.compile(f"fvm: fault domain=counter {cause}")
        log.wait("the fault", lambda record: fault.match(record.text) is not None)
        assert not any("domain=sampler" in record.text for record in log.records)


def test_the_readme_shows_the_line_that_faults() -> None:
    source = (FOLDER / "counter" / "main.c").read_text().splitlines()
    number = int(re.findall(r"main\.c:(\d+)$", (FOLDER / "README.md").read_text(), re.M)[0])
    assert "FVM_SHM_SAMPLE = 0" in source[number - 1]
