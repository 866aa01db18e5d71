"""The kernel's part of a three-section interrupt, read from the built kernel: it ends, whatever
the guests did, and stores nowhere but where it may."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from capstone import (
    CS_ARCH_ARM,
    CS_GRP_CALL,
    CS_GRP_JUMP,
    CS_MODE_MCLASS,
    CS_MODE_THUMB,
    Cs,
    CsInsn,
)
from capstone.arm import ARM_OP_IMM
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

from tests.support.built import Built
from tests.support.injector import Injector
from tests.support.machine import Machine

LINE = 38
STUB = f"fvm_stub_{LINE}"
NVIC_ICER1 = 0xE000E184
RAM = range(0x20000000, 0x20020000)
FINISH = 0x080FFF00  # where the emulation stops
SEND = {"line_arch_close", "signal_send", "scheduler_choose"}
MOST_INSTRUCTIONS = 120


@pytest.fixture(scope="module")
def built(system: Callable[[str], Built]) -> Built:
    return system("sections")


@pytest.fixture(scope="module")
def code(built: Built) -> dict[int, bytes]:
    with (built.folder / "kernel" / "kernel.elf").open("rb") as file:
        return {s["p_vaddr"]: s.data() for s in ELFFile(file).iter_segments("PT_LOAD")}


def instructions(built: Built, code: dict[int, bytes], name: str) -> list[CsInsn]:
    extent = built.extent("kernel", name)
    base = next(b for b, data in code.items() if b <= extent.start < b + len(data))
    decoder = Cs(CS_ARCH_ARM, CS_MODE_THUMB | CS_MODE_MCLASS)
    decoder.detail = True
    text = code[base][extent.start - base : extent.stop - base]
    found = []
    for instruction in decoder.disasm(text, extent.start):
        found.append(instruction)
        if instruction.mnemonic in ("pop", "bx") and instruction.address + 4 >= extent.stop:
            break
    return found


def reached(built: Built, code: dict[int, bytes]) -> dict[str, list[CsInsn]]:
    """Every function that the stub may run, with its instructions."""
    functions: dict[str, list[CsInsn]] = {}
    waiting = [STUB]
    while waiting:
        name = waiting.pop()
        functions[name] = instructions(built, code, name)
        for target in targets(functions[name]):
            callee = built.function("kernel", target)
            assert callee is not None, hex(target)
            if callee not in functions and callee not in waiting:
                waiting.append(callee)
    return functions


def targets(body: list[CsInsn]) -> list[int]:
    """Where it branches and calls to."""
    return [
        i.operands[-1].imm
        for i in body
        if (i.group(CS_GRP_JUMP) or i.group(CS_GRP_CALL)) and i.operands[-1].type == ARM_OP_IMM
    ]


def test_the_stub_itself_is_the_send_and_nothing_else(built: Built, code: dict[int, bytes]) -> None:
    body = instructions(built, code, STUB)
    assert {built.function("kernel", t) for t in targets(body)} == SEND
    assert not [i for i in body if i.mnemonic.startswith("st")]


def successors(body: list[CsInsn]) -> dict[int, list[int]]:
    """Where control may go after each instruction, inside the function."""
    inside = {i.address for i in body}
    flow: dict[int, list[int]] = {}
    for i in body:
        jump = i.group(CS_GRP_JUMP) and not i.group(CS_GRP_CALL)
        after = [] if i.mnemonic in ("b", "b.w") or "pc" in i.op_str else [i.address + i.size]
        if jump and i.operands and i.operands[-1].type == ARM_OP_IMM:
            after.append(i.operands[-1].imm)
        flow[i.address] = [address for address in after if address in inside]
    return flow


def has_cycle(flow: dict[int, list[int]]) -> bool:
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


def test_nothing_that_it_runs_loops_or_calls_through_a_pointer(
    built: Built, code: dict[int, bytes]
) -> None:
    functions = reached(built, code)
    # When no thread waited for the signal, the choice may pass the turn: FVM_VCPUS rounds.
    cyclic = {name for name, body in functions.items() if has_cycle(successors(body))}
    assert cyclic <= {"pass_turn"}
    assert has_cycle(successors(instructions(built, code, "domain_init")))  # it would be seen
    assert len(functions) > len(SEND)
    for name, body in functions.items():
        for i in body:
            assert not i.mnemonic.startswith("blx"), f"{name}: {i}"
            assert not (i.mnemonic == "bx" and i.op_str != "lr"), f"{name}: {i}"


@pytest.fixture(scope="module")
def memory(built: Built) -> bytes:
    """RAM of the running system, its process waiting for the line."""
    injector = Injector(Path(tempfile.mkdtemp(prefix="fvm-")))
    with Machine(built.elf, {"commands": 1}, options=injector.options) as running, injector:
        running.console["commands"].wait_ready()
        return injector.memory(RAM.start, len(RAM))


@pytest.mark.parametrize("guests", [None, 0x00, 0xFF])
def test_it_stores_to_its_line_to_the_kernel_and_to_the_waiting_thread(
    built: Built, code: dict[int, bytes], memory: bytes, guests: int | None
) -> None:
    """Run in an emulator, with the guests' memory as it was and made of nonsense."""
    kernel, process = built.memory("kernel", "ram"), built.memory("middle", "ram")
    stored: list[int] = []
    ran: list[int] = []
    machine = Uc(UC_ARCH_ARM, UC_MODE_THUMB | UC_MODE_MCLASS)
    machine.mem_map(0x08000000, 1 << 20)
    for base, data in code.items():
        if base in range(0x08000000, 0x08100000):
            machine.mem_write(base, data)
    machine.mem_map(RAM.start, len(RAM), UC_PROT_READ | UC_PROT_WRITE)
    machine.mem_write(RAM.start, memory)
    if guests is not None:
        machine.mem_write(kernel.stop, bytes([guests]) * (RAM.stop - kernel.stop))
    machine.mem_map(0xE000E000, 0x1000, UC_PROT_READ | UC_PROT_WRITE)
    machine.hook_add(UC_HOOK_MEM_WRITE, lambda _u, _a, address, *_r: stored.append(address))
    machine.hook_add(UC_HOOK_CODE, lambda _u, address, *_r: ran.append(address))
    machine.reg_write(UC_ARM_REG_SP, built.symbol("kernel", "kernel_stack_top"))
    machine.reg_write(UC_ARM_REG_LR, FINISH | 1)
    machine.emu_start(built.symbol("kernel", STUB) | 1, FINISH, count=1000)
    assert NVIC_ICER1 in stored
    assert all(a in kernel or a in process or a == NVIC_ICER1 for a in stored)
    assert 0 < len(ran) <= MOST_INSTRUCTIONS
