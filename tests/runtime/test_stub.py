"""The kernel's part of a three-section interrupt, read from the built kernel: it ends, whatever
the guests did, does what sending its signal does, and stores nowhere but where it may."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from elftools.elf.elffile import ELFFile
from unicorn import (
    UC_ARCH_ARM,
    UC_HOOK_CODE,
    UC_HOOK_MEM_WRITE,
    UC_MODE_MCLASS,
    UC_MODE_THUMB,
    UC_PROT_READ,
    UC_PROT_WRITE,
    Uc,
)
from unicorn.arm_const import UC_ARM_REG_LR, UC_ARM_REG_SP

from tests.runtime.machine_code import Code
from tests.support.built import Built
from tests.support.injector import Injector
from tests.support.machine import Machine

LINE = 38
STUB = f"fvm_stub_{LINE}"
NVIC_ICER1 = 0xE000E184
SCS = range(0xE000E000, 0xE000F000)
RAM = range(0x20000000, 0x20020000)
FINISH = 0x080FFF00  # where the emulation stops
MOST_INSTRUCTIONS = 40
SIGNAL_BYTES = 12  # of struct signal: waiter, count, delivered


@pytest.fixture(scope="module")
def built(system: Callable[[str], Built]) -> Built:
    return system("sections")


@pytest.fixture(scope="module")
def code(built: Built) -> Code:
    return Code(built.folder / "kernel" / "kernel.elf")


def has_cycle(flow: Mapping[int, tuple[int, ...]]) -> bool:
    done: set[int] = set()
    path: list[tuple[int, list[int]]] = []
    for start in flow:
        path = [(start, list(flow[start]))]
        on_path = {start}
        while path:
            address, rest = path[-1]
            if not rest:
                done.add(address)
                on_path.discard(address)
                path.pop()
                continue
            following = rest.pop()
            if following in on_path:
                return True
            if following not in done:
                on_path.add(following)
                path.append((following, list(flow[following])))
    return False


def loops(code: Code, procedure: int) -> bool:
    return has_cycle({a: code.flow(a).following for a in code.values(procedure)})


def test_nothing_that_it_runs_loops(code: Code) -> None:
    """Nor calls or branches through a pointer: Code refuses to follow that."""
    procedures = code.procedures(code.functions[STUB])
    calls = {p: {c for a in code.values(p) for c in code.flow(a).calls} for p in procedures}
    assert not [code.place(p) for p in procedures if loops(code, p)]
    assert not has_cycle({p: tuple(c for c in called if c) for p, called in calls.items()})
    assert loops(code, code.functions["kernel_main"])  # it would be seen


@pytest.fixture(scope="module")
def memory(built: Built) -> bytes:
    """RAM of the running system, its process waiting for the line."""
    injector = Injector(Path(tempfile.mkdtemp(prefix="fvm-")))
    with Machine(built.elf, {"commands": 1}, options=injector.options) as running, injector:
        running.console["commands"].wait_ready()
        return injector.memory(RAM.start, len(RAM))


class Ran(NamedTuple):
    """What a function of the kernel did."""

    instructions: int
    stored: list[tuple[int, int]]  # address, value
    memory: bytes


def emulated(built: Built, function: str, memory: bytes) -> Ran:
    stored: list[tuple[int, int]] = []
    ran: list[int] = []
    machine = Uc(UC_ARCH_ARM, UC_MODE_THUMB | UC_MODE_MCLASS)
    machine.mem_map(0x08000000, 1 << 20)
    with (built.folder / "kernel" / "kernel.elf").open("rb") as file:
        for segment in ELFFile(file).iter_segments("PT_LOAD"):
            if segment["p_vaddr"] in range(0x08000000, 0x08100000):
                machine.mem_write(segment["p_vaddr"], segment.data())
    machine.mem_map(RAM.start, len(RAM), UC_PROT_READ | UC_PROT_WRITE)
    machine.mem_write(RAM.start, memory)
    machine.mem_map(SCS.start, len(SCS), UC_PROT_READ | UC_PROT_WRITE)
    machine.hook_add(
        UC_HOOK_MEM_WRITE, lambda _u, _a, address, _s, value, _d: stored.append((address, value))
    )
    machine.hook_add(UC_HOOK_CODE, lambda _u, address, *_r: ran.append(address))
    machine.reg_write(UC_ARM_REG_SP, built.symbol("kernel", "kernel_stack_top"))
    machine.reg_write(UC_ARM_REG_LR, FINISH | 1)
    machine.emu_start(built.symbol("kernel", function) | 1, FINISH, count=1000)
    return Ran(len(ran), stored, bytes(machine.mem_read(RAM.start, len(RAM))))


def with_guests(built: Built, memory: bytes, byte: int | None) -> bytes:
    """The same RAM, that of the guests made of nonsense."""
    kernel = built.memory("kernel", "ram")
    return (
        memory if byte is None else memory[: len(kernel)] + bytes([byte]) * (RAM.stop - kernel.stop)
    )


@pytest.mark.parametrize("guests", [None, 0x00, 0xFF])
def test_it_stores_to_its_line_to_the_kernel_and_to_the_waiting_thread(
    built: Built, memory: bytes, guests: int | None
) -> None:
    """Run in an emulator, with the guests' memory as it was and made of nonsense."""
    kernel, process = built.memory("kernel", "ram"), built.memory("middle", "ram")
    ran = emulated(built, STUB, with_guests(built, memory, guests))
    assert [s for s in ran.stored if s[0] in SCS] == [(NVIC_ICER1, 1 << LINE % 32)]
    assert all(a in kernel or a in process or a == NVIC_ICER1 for a, _ in ran.stored)
    assert ran.memory != memory
    assert 0 < ran.instructions <= MOST_INSTRUCTIONS


def route_target(built: Built) -> int:
    """The signal that the table routes the line to."""
    return built.word(built.symbol("kernel", "fvm_irq_route") + 4 * LINE) >> 8 & 0xFF


def changed(before: bytes, after: bytes) -> set[int]:
    """Addresses of the words that differ."""
    return {
        RAM.start + n for n in range(0, len(before), 4) if before[n : n + 4] != after[n : n + 4]
    }


def word(memory: bytes, address: int) -> int:
    return int.from_bytes(memory[address - RAM.start :][:4], "little")


def test_it_sends_the_signal_of_its_route_and_nothing_else(built: Built, memory: bytes) -> None:
    """While the process waits it gets ready; else the signal is counted, and no other word of
    memory changes."""
    stack = range(RAM.start, built.symbol("kernel", "kernel_stack_top"))
    waiter = built.symbol("kernel", "signal_table") + SIGNAL_BYTES * route_target(built)
    count, cpu, thread = waiter + 4, built.extent("kernel", "cpu"), word(memory, waiter)
    assert thread in built.extent("kernel", "thread_table")
    sent = emulated(built, STUB, memory).memory
    touched = changed(memory, sent) - {waiter, *stack, *cpu}
    assert word(sent, waiter) == 0
    assert word(sent, cpu.start + 4) == thread  # the next one to run
    assert len(touched) == 1 and thread <= min(touched) < thread + 64  # its state
    again = emulated(built, STUB, sent).memory
    assert changed(sent, again) - {*stack} == {count}
    assert word(again, count) == word(sent, count) + 1
