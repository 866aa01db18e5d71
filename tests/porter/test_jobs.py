"""Files looked at in several processes: the same comes out, and no process is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from composer.cli import fvmkit, run_command
from porter.output.json_report import as_json
from porter.output.whole_diff import whole_diff
from porter.port import port_project
from porter.processes import each, usable_cores
from porter.result import PortResult
from porter.rules.mask_intrinsic import MaskIntrinsic

CORE = ("-mcpu=cortex-m3", "-mthumb")
FILES = {
    "board.h": b"""\
#include <stdint.h>
typedef struct { volatile uint32_t CRL, CRH, IDR, ODR, BSRR, BRR, LCKR; } GPIO_TypeDef;
typedef struct { volatile uint32_t CTRL, LOAD, VAL, CALIB; } SysTick_Type;
#define GPIOA ((GPIO_TypeDef *)0x40010800)
#define SysTick ((SysTick_Type *)0xE000E010)
#define SET(port, bit) ((port)->BSRR = 1u << (bit))
#define QUIET() do { __disable_irq(); count = 0; __enable_irq(); } while (0)
extern volatile uint32_t count;
""",
    "main.c": b"""\
#include "board.h"
volatile uint32_t count;
static uint32_t revision(void) { return *(volatile uint32_t *)0xE000ED00 & 0xF; }
int main(void)
{
    if (revision() >= 2u) {
        SysTick->LOAD = 72000 - 1;
    }
    SysTick->CTRL = 7;
    for (;;) {
        QUIET();
        SET(GPIOA, 3);
    }
}
""",
    "tick.c": b"""\
#include "board.h"
void SysTick_Handler(void) { count++; while (count == 7u) { } }
void TIM2_IRQHandler(void) { count = 8u; }
""",
    "sleep.c": b"""\
#include "board.h"
void rest(void)
{
    __WFI();
    __asm volatile("cpsid i\\n mrs r0, basepri");
    *(volatile uint32_t *)0xE000ED0C = 0x05FA0004;
}
""",
    "wrong.c": b"int bad;\n\nvoid f(void)\n{\n    __disable_irq();\n}\n",
    "start.s": b".syntax unified\n.thumb\n.global lock\nlock:\n cpsid i\n bx lr\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, data in FILES.items():
        (tmp_path / name).write_bytes(data)
    return tmp_path


def _put_into_wrong_file(monkeypatch: pytest.MonkeyPatch, happens: Any) -> None:
    """Something happens to the rule on masks when it looks at wrong.c."""
    examine = MaskIntrinsic.examine

    def stumbles(self: MaskIntrinsic, unit: Any) -> Iterator[Any]:
        for verdict in examine(self, unit):
            if unit.file.name == "wrong.c":
                happens()
            yield verdict

    monkeypatch.setattr(MaskIntrinsic, "examine", stumbles)


def _die_in_wrong_file(monkeypatch: pytest.MonkeyPatch, flags: Path) -> None:
    """The process that isn't the first one is killed when it looks at wrong.c, which is the last
    file. Until then the first one has another, and only waits."""
    first, examine = os.getpid(), MaskIntrinsic.examine

    def examines(self: MaskIntrinsic, unit: Any) -> Any:
        if os.getpid() == first:
            (flags / "begun").touch()
            _wait_for(flags / "dies")
        else:
            _wait_for(flags / "begun")
            if unit.file.name == "wrong.c":
                (flags / "dies").touch()
                os.kill(os.getpid(), signal.SIGKILL)
        return examine(self, unit)

    monkeypatch.setattr(MaskIntrinsic, "examine", examines)


def _wait_for(flag: Path) -> None:
    end = time.monotonic() + 60
    while not flag.exists() and time.monotonic() < end:
        time.sleep(0.01)


def _ported(project: Path, jobs: int) -> PortResult:
    return port_project(project, cpu=CORE, jobs=jobs)


def _shown(result: PortResult) -> tuple[bytes, str]:
    return whole_diff(result), as_json(result)


def test_any_number_of_processes_makes_the_same_port(project: Path) -> None:
    alone = _ported(project, 1)
    assert alone.found > 8
    assert len({verdict.rule for port in alone.files for verdict in port.verdicts}) > 4
    assert _shown(_ported(project, 2)) == _shown(alone)
    assert _shown(_ported(project, 16)) == _shown(alone)


def test_an_internal_error_is_told_as_one_process_tells_it(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails() -> None:
        raise KeyError("mask of nobody")

    _put_into_wrong_file(monkeypatch, fails)
    alone, several = _ported(project, 1), _ported(project, 2)
    (failure,) = several.failures
    assert failure.place == "wrong.c:5"
    assert failure.error.startswith("KeyError('mask of nobody') (tests/porter/test_jobs.py:")
    assert (failure.step, failure.error) == (alone.failures[0].step, alone.failures[0].error)
    assert whole_diff(several) == whole_diff(alone)


def test_a_file_whose_process_dies_is_told_and_the_others_are_ported(
    project: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound = _ported(project, 2)
    _die_in_wrong_file(monkeypatch, tmp_path_factory.mktemp("flags"))
    died = _ported(project, 2)
    (failure,) = died.failures
    assert failure.place == "wrong.c"
    assert failure.error == "its process was ended by SIGKILL"
    ported = {port.file.name: port.edits for port in sound.files if port.file.name != "wrong.c"}
    assert {it.file.name: it.edits for it in died.files if it.file.name != "wrong.c"} == ported
    (wrong,) = [port for port in died.files if port.file.name == "wrong.c"]
    assert not wrong.edits
    assert [it.rule for it in wrong.verdicts] == ["internal-error"]


def test_the_command_ends_with_3_when_a_process_dies(
    project: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    _die_in_wrong_file(monkeypatch, tmp_path_factory.mktemp("flags"))
    words = ["port", str(project), "--cpu=-mcpu=cortex-m3", "-j2"]
    assert run_command(lambda: fvmkit.main(words, standalone_mode=False)) == 3
    out, told = capfdbinary.readouterr()
    assert (
        b"wrong.c: not ported: internal error while looking for places: "
        b"its process was ended by SIGKILL" in told
    )
    assert b"1 of 6 files failed by an error of fvmkit itself" in told
    assert b"+++ b/sleep.c" in out
    assert b"wrong.c" not in out


def test_results_come_in_the_order_of_the_items() -> None:
    def work(seconds: float) -> tuple[float, int]:
        time.sleep(seconds)
        return seconds, os.getpid()

    items = [0.2, 0.0, 0.1, 0.0]
    found = each(work, items, 2, _never)
    assert [it for it, _ in found] == items
    assert len({process for _, process in found}) == 2
    assert {process for _, process in each(work, items, 1, _never)} == {os.getpid()}
    _assert_no_children()


def test_what_a_user_can_mend_is_raised_as_one_process_raises_it() -> None:
    def work(number: int) -> int:
        if number > 1:
            raise ValueError(number)
        return number

    for jobs in (1, 2):
        with pytest.raises(ValueError, match="2"):
            each(work, [0, 1, 2, 3], jobs, _never)
    _assert_no_children()


def test_nobody_is_left_when_the_work_is_interrupted() -> None:
    def interrupt(_item: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        each(lambda _: time.sleep(0.01), list(range(8)), 2, _never, interrupt)
    _assert_no_children()


def test_ctrl_c_ends_all(tmp_path: Path) -> None:
    flag = tmp_path / "begun"
    program = f"""\
import signal, time
from pathlib import Path
from porter.processes import each
signal.signal(signal.SIGINT, signal.default_int_handler)
def work(item):
    if item > 1:
        Path({str(flag)!r}).touch()
    time.sleep(0.2)
each(work, list(range(1000)), 3, None)
"""
    run = subprocess.Popen(
        [sys.executable, "-c", program], stderr=subprocess.PIPE, start_new_session=True
    )
    _wait_for(flag)
    os.killpg(run.pid, signal.SIGINT)
    told = run.communicate(timeout=60)[1]
    assert b"KeyboardInterrupt" in told
    assert told.count(b"Traceback") == 1
    with pytest.raises(ProcessLookupError):
        os.killpg(run.pid, 0)


def test_as_many_processes_as_cores_that_may_be_used() -> None:
    assert usable_cores() == len(os.sched_getaffinity(0))


def _never(_item: object, how: str) -> Any:
    raise AssertionError(how)


def _assert_no_children() -> None:
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
