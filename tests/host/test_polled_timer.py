"""SysTick as ported code polls it, against a timer that counts one by one."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.host.compile import HERE

SYSTICK = HERE.parents[1] / "fvm-runtime" / "guest" / "systick.c"
ENABLE, CLKSOURCE, COUNTFLAG = 1, 4, 1 << 16
Access = tuple[str, int, int]
"""What is accessed, with what, and how many cycles of the core later."""


@dataclass
class Counter:
    """ARMv7-M ARM, B3.3.1: at each count VAL goes down by one, from 0 to LOAD."""

    old_hz: int
    hz: int
    load: int = 0
    val: int = 0
    ctrl: int = 0
    flag: int = 0
    rest: Fraction = Fraction(0)

    def pass_by(self, cycles: int) -> None:
        """That many of the core's cycles."""
        if not self.ctrl & ENABLE:
            return
        divider = 1 if self.ctrl & CLKSOURCE else 8
        self.rest += Fraction(cycles * self.old_hz, self.hz * divider)
        for _ in range(int(self.rest)):
            before = self.val
            self.val = before - 1 if before else self.load
            self.flag = COUNTFLAG if before == 1 and self.val == 0 else self.flag
        self.rest -= int(self.rest)
        if self.val == self.load == 0:  # counting begins where LOAD is written
            self.rest = Fraction(0)

    def access(self, what: str, value: int) -> int:
        """What a read gives."""
        if what == "set_load":
            self.load = value
        elif what == "set_val":
            self.val = self.flag = 0
            self.rest = Fraction(0)  # the count in which VAL is 0 begins
        elif what == "set_ctrl":
            if (self.ctrl ^ value) & (ENABLE | CLKSOURCE):
                self.rest = Fraction(0)
            self.ctrl = value
        elif what == "ctrl":
            read, self.flag = self.ctrl | self.flag, 0
            return read
        return {"load": self.load, "val": self.val}.get(what, 0)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], ctypes.CDLL]:
    """Makes a timer as it is after reset."""
    room = tmp_path_factory.mktemp("systick")
    library = room / "systick.so"
    command = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    command += ["-fsanitize=undefined", "-fno-sanitize-recover", f"-I{HERE / 'polled'}"]
    sources = [str(SYSTICK), str(HERE / "polled" / "clock.c")]
    subprocess.run([*command, *sources, "-o", str(library)], check=True)
    made: list[Path] = []

    def fresh() -> ctypes.CDLL:
        copy = room / f"{len(made)}.so"
        copy.write_bytes(library.read_bytes())
        made.append(copy)
        return ctypes.CDLL(str(copy))

    return fresh


def _put(timer: ctypes.CDLL, model: Counter, accesses: Sequence[Access]) -> None:
    clock = ctypes.c_uint32.in_dll(timer, "cycles")
    for what, value, cycles in accesses:
        clock.value = (clock.value + cycles) & 0xFFFFFFFF
        model.pass_by(cycles)
        given_to = (value, model.old_hz, model.hz) if what == "set_load" else (value,)
        read = getattr(timer, f"virt_systick_{what}")(*given_to)
        expected = model.access(what, value)
        if not what.startswith("set_"):
            assert read == expected, (what, accesses)


LOADS = st.integers(0, 40)
CONTROLS = st.sampled_from([0, ENABLE, CLKSOURCE, ENABLE | CLKSOURCE])
ACCESSES = st.lists(
    st.one_of(
        st.tuples(st.just("set_load"), LOADS, st.integers(0, 90)),
        st.tuples(st.just("set_ctrl"), CONTROLS, st.integers(0, 90)),
        st.tuples(st.sampled_from(["val", "ctrl", "load", "set_val"]), st.just(0),
                  st.integers(0, 900)),
    ),
    max_size=30,
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(accesses=ACCESSES, clocks=st.sampled_from([(8, 8), (72, 168), (100, 84), (16, 180)]))
def test_registers_are_those_of_a_timer_that_counts(
    compiled: Callable[[], ctypes.CDLL], accesses: list[Access], clocks: tuple[int, int]
) -> None:
    old_hz, hz = clocks
    _put(compiled(), Counter(old_hz, hz), [("set_load", 7, 0), ("set_val", 0, 0), *accesses])


def test_the_counters_wrap_costs_no_time(compiled: Callable[[], ctypes.CDLL]) -> None:
    started: list[Access] = [("set_load", 9, 0xFFFF_FFF0), ("set_val", 0, 0), ("set_ctrl", 5, 0)]
    looks: list[Access] = [("val", 0, 7), ("ctrl", 0, 14), ("val", 0, 3)]
    _put(compiled(), Counter(100, 100), [*started, *looks])


def test_a_period_of_a_real_clock_has_no_drift(compiled: Callable[[], ctypes.CDLL]) -> None:
    """A millisecond at 72 MHz on a core of 168 MHz, for two minutes."""
    timer = compiled()
    clock = ctypes.c_uint32.in_dll(timer, "cycles")
    timer.virt_systick_set_load(71_999, 72_000_000, 168_000_000)
    timer.virt_systick_set_val(0)
    timer.virt_systick_set_ctrl(5)
    flags = 0
    for _ in range(120_000):
        clock.value = (clock.value + 168_000) & 0xFFFFFFFF
        flags += timer.virt_systick_ctrl() >> 16
    assert flags == 120_000


def test_ctrl_of_a_ticking_timer_has_its_flag_once_a_period(
    compiled: Callable[[], ctypes.CDLL],
) -> None:
    timer = compiled()
    clock = ctypes.c_uint32.in_dll(timer, "cycles")
    read = [timer.virt_tick_ctrl(1000, 168_000_000)]
    for _ in range(10):
        clock.value += 84_000
        read.append(timer.virt_tick_ctrl(1000, 168_000_000))
    assert read == [7, *[7, 7 | COUNTFLAG] * 5]
