"""An error of fvmkit itself, put into one step of a port: what the user sees, what is written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from composer.cli import fvmkit, run_command
from porter.interrupt_split.handler import HandlerWork
from porter.rules.mask_intrinsic import MaskIntrinsic
from porter.source.edit import Edit
from tests.porter.context_switch.test_assembler_file import HANDLER, HEADER
from tests.porter.interrupt_split.shapes import SPLIT
from tests.porter.interrupt_split.splitting import domain_for, write_project

GOOD = b"void g(void)\n{\n    __disable_irq();\n    __enable_irq();\n}\n"
BAD = b"#define HERE 1\nint bad;\n\nvoid f(void)\n{\n    __disable_irq();\n    __enable_irq();\n}\n"
CORE = "--cpu=-mcpu=cortex-m3 -mthumb"
SWITCH = b"""\
unsigned *volatile current;
void choose(void);
__attribute__((naked)) void PendSV_Handler(void)
{
    __asm volatile("mrs r0, psp\\n stmdb r0!, {r4-r11}\\n bx lr\\n");
}
"""


@dataclass(frozen=True)
class Run:
    """How a command ended."""

    status: int
    out: bytes
    told: str


Port = Callable[..., Run]


@pytest.fixture
def port(capfdbinary: pytest.CaptureFixture[bytes]) -> Port:
    """`fvmkit ARGUMENTS` within this process, where a test can put errors into it."""

    def run(*arguments: object) -> Run:
        words = [str(word) for word in arguments]
        status = run_command(lambda: fvmkit.main(words, standalone_mode=False))
        out, err = capfdbinary.readouterr()
        return Run(status, out, err.decode())

    return run


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "bad.c").write_bytes(BAD)
    (folder / "src" / "good.c").write_bytes(GOOD)
    return folder


@pytest.fixture
def _wrong_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rule on masks stumbles over a file."""
    examine = MaskIntrinsic.examine

    def stumbles(self: MaskIntrinsic, unit: Any) -> Iterator[Any]:
        for verdict in examine(self, unit):
            if unit.file.name.endswith("bad.c"):
                raise KeyError("mask of nobody")
            yield verdict

    monkeypatch.setattr(MaskIntrinsic, "examine", stumbles)


@pytest.mark.usefixtures("_wrong_rule")
def test_the_other_files_are_ported_and_the_failed_one_is_named(project: Path, port: Port) -> None:
    run = port("port", project)
    assert run.status == 3
    assert b"+++ b/src/good.c" in run.out
    assert b"virt_int_mask" in run.out
    assert b"bad.c" not in run.out
    named = "src/bad.c:6: not ported: internal error while asking the rule mask-intrinsic: "
    assert f"{named}KeyError('mask of nobody') (tests/porter/test_internal_errors.py:" in run.told
    assert "src/bad.c:1:1: escalated the whole file [internal-error]: " in run.told
    assert "1 of 2 files failed by an error of fvmkit itself" in run.told
    assert 'Please send its authors the lines above that say so, "fvmkit ' in run.told
    assert "3 found, 2 rewritten, 0 left, 1 escalated, 1 files failed" in run.told
    assert "Traceback" not in run.told


@pytest.mark.usefixtures("_wrong_rule")
def test_the_trace_is_shown_to_who_asks(project: Path, port: Port) -> None:
    assert "Traceback (most recent call last)" in port("port", project, "-v").told


@pytest.mark.usefixtures("_wrong_rule")
def test_json_lists_the_file_with_what_to_send(project: Path, port: Port) -> None:
    run = port("port", project, "--json")
    report = json.loads(run.out)
    assert run.status == 3
    (failed,) = report["failed"]
    assert (failed["file"], failed["line"]) == ("src/bad.c", 6)
    assert failed["step"] == "asking the rule mask-intrinsic"
    assert "KeyError: 'mask of nobody'" in "".join(failed["trace"])
    assert "send its authors" in report["send"]
    assert list(report["edited"]) == ["src/good.c"]
    (whole,) = [site for site in report["sites"] if site["file"] == "src/bad.c"]
    assert (whole["status"], whole["line"], whole["end_line"]) == ("escalated", 1, 8)


@pytest.mark.usefixtures("_wrong_rule")
def test_in_place_writes_nothing_at_all_and_says_so(project: Path, port: Port) -> None:
    run = port("port", project, "--in-place")
    assert run.status == 3
    assert "--in-place edits all files or none: nothing was changed" in run.told
    assert (project / "src" / "good.c").read_bytes() == GOOD
    assert sorted(path.name for path in project.rglob("*")) == ["bad.c", "good.c", "src"]


@pytest.mark.usefixtures("_wrong_rule")
def test_a_copy_has_the_file_as_it_was_and_its_record_leaves_it_open(
    project: Path, tmp_path: Path, port: Port
) -> None:
    assert port("port", project, "--out", tmp_path / "out").status == 3
    assert (tmp_path / "out" / "src" / "bad.c").read_bytes() == BAD
    assert b"virt_int_mask" in (tmp_path / "out" / "src" / "good.c").read_bytes()
    assert "internal-error" in (tmp_path / "out" / ".fvm-port.json").read_text()


@pytest.mark.usefixtures("_wrong_rule")
def test_check_says_so_too(project: Path, port: Port) -> None:
    assert port("port", project, "--check").status == 3


def test_two_edits_of_the_same_bytes_fail_their_file_alone(
    project: Path, port: Port, monkeypatch: pytest.MonkeyPatch
) -> None:
    examine = MaskIntrinsic.examine

    def twice(self: MaskIntrinsic, unit: Any) -> Iterator[Any]:
        if unit.file.name.endswith("bad.c"):
            at = BAD.index(b"int bad")
            unit.extra_edits += [Edit(at, at + 3, b"long"), Edit(at, at + 3, b"short")]
        yield from examine(self, unit)

    monkeypatch.setattr(MaskIntrinsic, "examine", twice)
    run = port("port", project)
    assert run.status == 3
    assert "src/bad.c:2: not ported: internal error while putting edits into the file" in run.told
    assert b"good.c" in run.out


def test_a_transcription_that_fails_leaves_the_other_files(
    project: Path, port: Port, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "src" / "switch.c").write_bytes(SWITCH)

    def nowhere(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("porter.context_switch.c_file.code_of", nowhere)
    run = port("port", project, CORE)
    assert run.status == 3
    failed = "src/switch.c:5: not ported: internal error while transcribing PendSV_Handler: "
    assert f"{failed}ZeroDivisionError()" in run.told
    assert b"switch.c" not in run.out
    assert b"good.c" in run.out
    assert b"bad.c" in run.out


def test_what_stands_for_a_failed_assembler_file_is_not_written(
    project: Path, port: Port, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "src" / "switch.S").write_text(HANDLER)
    (project / "src" / "os.h").write_text(HEADER)
    assert b"+++ b/src/switch_fvm.c" in port("port", project, CORE).out

    def nowhere(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("porter.each_file.port_asm", nowhere)
    run = port("port", project, CORE)
    assert run.status == 3
    assert "src/switch.S: not ported: internal error while looking for places: Zero" in run.told
    assert b"good.c" in run.out
    assert b"switch" not in run.out


def test_a_split_that_fails_leaves_the_other_files(
    tmp_path: Path, port: Port, monkeypatch: pytest.MonkeyPatch
) -> None:
    shape = SPLIT[0]
    project = write_project(tmp_path / "split", shape)
    (project / "good.c").write_bytes(GOOD)
    domain = domain_for(shape.device)
    monkeypatch.setattr("porter.command.read_domain", lambda _path: domain)
    monkeypatch.setattr("porter.interrupt_split.command.read_domain", lambda _path: domain)
    find = HandlerWork._slice

    def nowhere(*_: object) -> None:
        raise IndexError(str(find.__name__))

    monkeypatch.setattr(HandlerWork, "_slice", nowhere)
    run = port("port", project, "--domain", "d.json")
    assert run.status == 3
    assert f"not ported: internal error while splitting {shape.device}_IRQHandler: " in run.told
    assert b"+++ b/good.c" in run.out
    assert b"main.c" not in run.out
    run = port("split", project, "--domain", "d.json")
    assert run.status == 3
    assert "1 of 1 handlers failed by an error of fvmkit itself" in run.told


def test_a_phase_on_the_whole_project_ends_the_run_and_says_what_it_was(
    project: Path, port: Port, monkeypatch: pytest.MonkeyPatch
) -> None:
    def judge_nothing(_docket: object) -> None:
        raise TypeError("no docket")

    monkeypatch.setattr("porter.port.JUDGES", (judge_nothing,))
    run = port("port", project)
    assert (run.status, run.out) == (3, b"")
    said = "internal error while comparing files with one another (judge_nothing): TypeError"
    assert f"fvmkit: {said}('no docket')" in run.told
    assert "please send its authors this line" in run.told


def test_what_a_user_can_mend_is_no_internal_error(tmp_path: Path, port: Port) -> None:
    run = port("port", tmp_path / "nowhere")
    assert run.status == 2
    assert "internal error" not in run.told
