"""The tracer counts right: on code whose every instruction is known, and it says what it can't."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from composer.image.composed import Composed
from composer.simulate.shared import Kind
from composer.simulate.tracer import Entered, Read, Span, Trace, Tracer
from scanner.report.errors import FvmError, MissingError
from tests.composer import counted_kernel, tiny_system

COUNTED = ("-icount", "shift=4,sleep=off")


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Composed:
    return counted_kernel.make(tmp_path_factory.mktemp("counted, kernel") / "out")


def run(
    system: Composed, options: Sequence[str], spans: Sequence[Span] = (), events: int = 1000
) -> Trace:
    """To the program's own end."""
    with Tracer(system, spans, events) as tracer:
        done = subprocess.run(
            ["qemu-system-arm", "-M", "netduinoplus2", "-display", "none", "-monitor", "none",
             "-semihosting", "-kernel", str(system.elf("kernel")),
             "-device", f"loader,file={str(system.elf('alpha')).replace(',', ',,')}",
             *options, *tracer.arguments],
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return tracer.read()


@pytest.mark.parametrize("options", [COUNTED, ()])
def test_every_instruction_is_counted_once(system: Composed, options: Sequence[str]) -> None:
    trace = run(system, options)
    shares = dict(zip(trace.lanes, trace.executed, strict=True))
    assert shares == {
        "kernel": counted_kernel.KERNEL, "alpha": counted_kernel.ALPHA, "beta": 0,
        "nobody's code": 0,
    }  # fmt: skip
    assert trace.instructions == counted_kernel.KERNEL + counted_kernel.ALPHA


@pytest.mark.parametrize("options", [COUNTED, ()])
def test_kernel_paths_end_at_a_thread_or_at_the_next_entry(
    system: Composed, options: Sequence[str]
) -> None:
    trace = run(system, options)
    lines = counted_kernel.LINES
    found = {kind: (p.count, p.total, p.longest) for kind, p in trace.paths.items()}
    assert found == {
        Kind.RESET: (1, counted_kernel.RESET, counted_kernel.RESET),
        Kind.CALL: (1, counted_kernel.CALL, counted_kernel.CALL),
        Kind.LINE: (3, sum(lines.values()), max(lines.values())),
        Kind.FAULT: (1, counted_kernel.FAULT, counted_kernel.FAULT),
    }
    assert trace.longest_path is not None
    kind, path = trace.longest_path
    assert (kind, path.longest, path.longest_argument) == (Kind.CALL, counted_kernel.CALL, 7)
    assert trace.paths[Kind.LINE].longest_argument == 6


def test_events_name_lines_calls_threads_and_domains(system: Composed) -> None:
    trace = run(system, COUNTED)
    told = [(event.kind, event.argument) for event in trace.events if event.kind is not Kind.LANE]
    assert told == [
        (Kind.RESET, 1),
        (Kind.CALL, 7),
        (Kind.SWITCH, 3),
        (Kind.LINE, 5),
        (Kind.LINE, 6),
        (Kind.LINE, 7),
        (Kind.FAULT, None),
        (Kind.CRIME, 2),
        (Kind.RESTART, 1),
    ]
    interrupted = [trace.lanes[event.lane] for event in trace.events if event.kind is Kind.LINE]
    assert interrupted == ["alpha", "alpha", "kernel"]  # line 7 followed line 6 at once


def test_spans_from_an_entry_and_from_an_address(system: Composed) -> None:
    own_stub, enter, table = (
        tiny_system.symbol(system.elf("kernel"), name)
        for name in ("own_stub", "enter", "thread_table")
    )
    main = tiny_system.symbol(system.elf("alpha"), "main")
    after = tiny_system.symbol(system.elf("alpha"), "after_call")
    spans = [
        Span(Entered(Kind.LINE, 6), own_stub),
        Span(Entered(Kind.CALL, 7), after),
        Span(main, after),
        Span(after, main),
        Span(Entered(Kind.CALL, 7), Read(table + 3 * 28, range(enter, enter + 8))),
    ]
    first, second, third, never, read = run(system, COUNTED, spans).spans
    assert (first.count, first.longest) == (1, counted_kernel.LINES[6])
    assert (second.count, second.shortest, second.longest) == (1, *[counted_kernel.CALL] * 2)
    assert third.longest == counted_kernel.CALL + 4
    assert third.longest_at == counted_kernel.RESET
    assert (never.count, never.mean) == (0, 0.0)
    assert (read.count, read.longest) == (1, counted_kernel.CALL - len(("ldrd", "bx")))


def test_a_short_ring_keeps_the_last_events_and_all_numbers(system: Composed) -> None:
    whole, part = run(system, COUNTED), run(system, COUNTED, events=4)
    assert part.events == whole.events[-4:]
    assert part.lost == len(whole.events) - 4
    assert (part.paths, part.executed, part.happened) == (
        whole.paths, whole.executed, whole.happened,
    )  # fmt: skip
    assert [event.argument for event in part.stops] == [2]


def test_no_compiler_is_said_in_one_line(
    system: Composed, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingError, match="needs a C compiler") as caught:
        Tracer(system)
    assert "apt-get install gcc" in str(caught.value)


def test_a_kernel_without_the_symbols_is_refused(folder: Path) -> None:
    from composer.image.composed import read_composed

    with pytest.raises(FvmError, match=r"kernel\.elf: has no symbol 'fvm_thread'"):
        Tracer(read_composed(folder))
