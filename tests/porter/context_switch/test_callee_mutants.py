"""Callees at random: what depends on registers that a call keeps, or changes them, is refused.

Whether one does an emulator says, which knows nothing of how the porter follows registers: each
runs from the same memory and arguments with two sets of the caller's registers.
"""

from __future__ import annotations

import os
import random
import struct
from pathlib import Path

import unicorn
from unicorn import arm_const as arm

from porter.context_switch.argument_words import no_words
from porter.context_switch.assemble import assembled
from porter.context_switch.kept_registers import done_in
from porter.context_switch.object_file import Function
from porter.project.compile_options import CompileOptions
from tests.porter.context_switch.trees import M4F

COUNT = int(os.environ.get("FVM_CALLEES", "200"))
CODE, DATA, STACK, END = 0x0001_0000, 0x2000_0000, 0x2001_0000, 0x0800_0000
SCRATCH, CORE = [f"r{n}" for n in (0, 1, 2, 3, 12)], [f"r{n}" for n in range(4, 12)]
FLOATS = [f"s{n}" for n in range(12, 22)]
KEPT = [*range(arm.UC_ARM_REG_R4, arm.UC_ARM_REG_R8), arm.UC_ARM_REG_R8, arm.UC_ARM_REG_R9,
        arm.UC_ARM_REG_R10, arm.UC_ARM_REG_R11,
        *range(arm.UC_ARM_REG_S16, arm.UC_ARM_REG_S31 + 1)]  # fmt: skip
RESULTS = (arm.UC_ARM_REG_R0, arm.UC_ARM_REG_R1, arm.UC_ARM_REG_S0, arm.UC_ARM_REG_S1)


def body(draw: random.Random) -> str:
    """A function's text: mostly one that saves what it uses, with a slip or two."""
    used = sorted(draw.sample(range(4, 12), draw.randint(0, 3)))
    saved = [f"r{n}" for n in used if draw.random() < 0.8]
    floats = draw.choice(("", "", "s16-s19"))
    lines = [f"push {{{', '.join(saved)}}}"] if saved else []
    lines += [f"vpush {{{floats}}}"] if floats else []
    registers = [*SCRATCH, *SCRATCH, *(f"r{n}" for n in used)]
    for label in range(draw.randint(1, 7)):
        lines += _statement(draw, registers, label)
    back = list(saved)
    if draw.random() < 0.1 and back:
        back[0] = draw.choice([it for it in ("r3", "r4", "r5") if it not in back[1:]])
        back.sort(key=lambda it: int(it[1:]))
    lines += [f"vpop {{{floats}}}"] if floats else []
    lines += [f"pop {{{', '.join(back)}}}"] if back else []
    return "\n".join([*lines, "bx lr"])


def _statement(draw: random.Random, registers: list[str], label: int) -> list[str]:
    one, two, three = (draw.choice(registers) for _ in range(3))
    place, float_one, float_two = 4 * draw.randint(0, 8), *draw.sample(FLOATS, 2)
    low = draw.choice(("r0", "r1", "r2", "r3"))
    other = draw.choice([it for it in ("r1", "r2", "r4", "r5") if it in registers or it < "r3"])
    pair = sorted({other, draw.choice(("r2", "r3"))})
    return draw.choice(
        (
            [f"mov {one}, {two}"],
            [f"mov {one}, #{place}"],
            [f"add {one}, {two}, {three}"],
            [f"ldr {one}, =0x20000000", f"ldr {two}, [{one}, #{place}]"],
            [f"ldr {low}, =0x20000000", f"str {two}, [{low}, #{place}]"],
            ["ldr r0, =0x20000000", f"stm r0, {{{', '.join(pair)}}}"],
            ["ldr r0, =0x20000000", f"ldm r0, {{{', '.join(pair)}}}"],
            ["ldr r0, =0x20000000", f"vstmia r0, {{{float_one}}}"],
            ["ldr r0, =0x20000000", f"vldmia r0!, {{{float_one}}}"],
            [f"vmov {one}, {float_one}"],
            [f"vmov {float_one}, {one}"],
            [f"vmov {float_one}, {float_two}"],
            [f"vadd.f32 {float_one}, {float_two}, {float_one}"],
            [f"cmp {one}, #4", "it eq", f"moveq {two}, {three}"],
            [f"cbz {low}, 9{label}f", f"mov {one}, {two}", f"9{label}:"],
            [f"strd {one}, {two}, [sp, #-8]!", f"ldrd {one}, {two}, [sp], #8"]
            if one != two and "r12" not in (one, two)
            else [],
            ["sub sp, #8", f"str {one}, [sp, #4]", f"ldr {two}, [sp, #4]", "add sp, #8"],
        )
    )  # fmt: skip


def leaves(code: bytes, start: int, seed: int, registers: list[int]) -> tuple[bytes, list[int]]:
    """Memory and results behind a run, with what became of the caller's registers."""
    machine = unicorn.Uc(unicorn.UC_ARCH_ARM, unicorn.UC_MODE_THUMB | unicorn.UC_MODE_MCLASS)
    machine.ctl_set_cpu_model(arm.UC_CPU_ARM_CORTEX_M4)
    for base in (CODE, DATA, STACK, END):
        machine.mem_map(base, 0x4_0000 if base == CODE else 0x1000)
    machine.mem_write(CODE, code)
    draw = random.Random(seed)
    words = [draw.choice((0, 4, draw.getrandbits(30))) for _ in range(64)]
    machine.mem_write(DATA, struct.pack("<64I", *words))
    machine.reg_write(arm.UC_ARM_REG_CONTROL, 0)
    for number in range(4):
        machine.reg_write(arm.UC_ARM_REG_R0 + number, draw.choice((0, 4, draw.getrandbits(30))))
    for register, value in zip(KEPT, registers, strict=True):
        machine.reg_write(register, value)
    machine.reg_write(arm.UC_ARM_REG_SP, STACK + 0x800)
    machine.reg_write(arm.UC_ARM_REG_LR, END | 1)
    machine.emu_start(CODE + start | 1, END, count=200)
    found = bytes(machine.mem_read(DATA, 256))
    found += struct.pack("<4I", *(machine.reg_read(it) & 0xFFFF_FFFF for it in RESULTS))
    return found, [machine.reg_read(it) for it in KEPT]


def depends(code: bytes, function: Function) -> bool:
    """Whether it shows in two runs that differ in the caller's registers alone."""
    for seed in range(6):
        draw = random.Random(-seed)
        sets = [[draw.choice((0, 4, draw.getrandbits(30))) for _ in KEPT] for _ in range(2)]
        (one, kept), (other, also) = (leaves(code, function.start, seed, it) for it in sets)
        if one != other or [kept, also] != sets:
            return True
    return False


def test_what_depends_on_the_callers_registers_is_refused(tmp_path: Path) -> None:
    draw = random.Random(20)
    names = [f"callee{number}" for number in range(COUNT)]
    text = "".join(
        f".global {name}\n.type {name}, %function\n.thumb_func\n{name}:\n{body(draw)}\n.ltorg\n"
        for name in names
    )
    source = tmp_path / "callees.S"
    source.write_text(f".syntax unified\n.thumb\n.text\n{text}")
    assembly = assembled(source, CompileOptions((), (), M4F, "arm-none-eabi-gcc"))
    assert assembly is not None
    functions = assembly.object.functions
    told = {it.name: bool(done_in(assembly, it, no_words)) for it in functions}
    wrong = {it.name: depends(bytes(assembly.object.data[it.section]), it) for it in functions}
    missed = [it for it in functions if wrong[it.name] and not told[it.name]]
    assert not missed, f"not refused:\n{assembly.text_of(missed[0])}"
    # Some are refused that depend on nothing: what is read may be written again, or not stored.
    assert COUNT // 10 < sum(wrong.values()) <= sum(told.values()) < COUNT * 8 // 10
