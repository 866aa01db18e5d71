"""Runs instructions without privilege on QEMU's Cortex-M boards and tells what became of them."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

RAN, CHANGED, LEFT_SECURE = "ran", "changed", "left the secure world"
UNCHANGED, ZERO, OTHER = "unchanged", "zero", "other"

_OUTCOMES = {
    ".": RAN, "!": CHANGED, "n": LEFT_SECURE, "h": "hard fault", "m": "memory fault",
    "b": "bus fault", "u": "usage fault", "s": "supervisor call", "e": "secure fault",
}  # fmt: skip
_VALUES = {"=": UNCHANGED, "z": ZERO, "~": OTHER}

_PROGRAM = """
.syntax unified
.thumb
.section .vectors, "a"
.word stack_top, start + 1, fault + 1, fault + 1, fault + 1, fault + 1, fault + 1, fault + 1
.word 0, 0, 0, call + 1, fault + 1, 0, fault + 1, tick + 1
.text
.thumb_func
start:
    ldr r0, =0xe000ed24        @ SHCSR: each fault has its own handler
    ldr r1, =0x000f0000
    str r1, [r0]
    ldr r0, =0xe000ed28        @ CFSR: nothing left over
    mvn r1, #0
    str r1, [r0]
    ldr r0, =0xe000e010        @ SysTick wakes from WFI
    ldr r1, =20000
    str r1, [r0, #4]
    mov r1, #7
    str r1, [r0]
    ldr r9, =cases
    ldr r10, =position
    str r9, [r10]
next:
    ldr r9, =position
    ldr r9, [r9]
    ldr r10, =cases_end
    cmp r9, r10
    bhs done
    ldr r4, =buffer
    ldr r0, [r9]
    str r0, [r4]
    ldr r0, =0xe7fedf77        @ svc 0x77 behind it: reached only if nothing trapped
    str r0, [r4, #4]
    ldr r0, =process_top
    msr psp, r0
    mov r0, #0xe0
    msr basepri, r0
    dsb
    ldr r0, [r9, #4]
    mov r1, r0
    mov r2, r0
    mov r3, #3                 @ unprivileged, on the process stack
    adds r4, #1
    msr control, r3
    isb
    bx r4
.thumb_func
fault:
    mrs r0, ipsr
    adr r1, letters
    ldrb r0, [r1, r0]
    tst lr, #0x40              @ on ARMv8-M: the exception came from the secure state
    ldr r1, =armv8m
    ldr r1, [r1]
    ite eq
    moveq r2, #1
    movne r2, #0
    tst r1, r2
    it ne
    movne r0, #'n'
    b report
.align 2
letters: .ascii "xxxhmbue????????"
.thumb_func
call:
    mrs r1, psp
    ldr r2, [r1, #24]
    ldrb r2, [r2, #-2]
    cmp r2, #0x77
    ite eq
    moveq r0, #'.'
    movne r0, #'s'
    mrs r2, basepri
    cmp r2, #0xe0
    bne changed
    mrs r2, primask
    mrs r3, faultmask
    orrs r2, r3
    bne changed
    mrs r2, control
    and r2, r2, #1
    cmp r2, #1
    bne changed
    ldr r2, =process_top - 32
    cmp r2, r1
    beq report
changed:
    mov r0, #'!'
report:
    bl say
    ldr r2, =process_top - 32
    ldr r0, [r2]
    ldr r9, =position
    ldr r10, [r9]
    ldr r1, [r10, #4]
    cmp r0, r1
    mov r3, #'='
    beq 1f
    cmp r0, #0
    ite eq
    moveq r3, #'z'
    movne r3, #'~'
1:  mov r0, r3
    bl say
    adds r10, #8
    str r10, [r9]
    mov r0, #0
    msr basepri, r0
    msr control, r0
    isb
    ldr r0, =stack_top - 32    @ go on privileged, on the main stack
    ldr r1, =next
    str r1, [r0, #24]
    mov r1, #0x01000000
    str r1, [r0, #28]
    msr msp, r0
    ldr r0, =0xfffffff9
    bx r0
.thumb_func
tick: bx lr
say:
    push {r1, r2, lr}
    ldr r1, =letter
    strb r0, [r1]
    mov r0, #3                 @ SYS_WRITEC
    bkpt 0xab
    pop {r1, r2, pc}
done:
    mov r0, #0x18              @ SYS_EXIT
    ldr r1, =0x20026
    bkpt 0xab
    b .
.ltorg
.align 2
armv8m: .word ARMV8M
cases: .incbin "cases.bin"
cases_end:
.bss
.align 3
buffer: .space 16
letter: .space 4
position: .space 4
.space 512
process_top: .space 512
stack_top:
"""


@dataclass(frozen=True)
class Board:
    """A QEMU machine; code and data lie where it boots, one after the other."""

    machine: str
    cpu: str
    code: int
    data: int
    armv8m: bool = False


BOARDS = {
    "m3": Board("mps2-an385", "cortex-m3", 0x00000000, 0x20000000),
    "m4": Board("mps2-an386", "cortex-m4", 0x00000000, 0x20000000),
    "m7": Board("mps2-an500", "cortex-m7", 0x00000000, 0x20000000),
    "m33": Board("mps2-an505", "cortex-m33", 0x10000000, 0x38000000, armv8m=True),
}


@dataclass(frozen=True)
class Case:
    """Halfwords of one instruction, and what r0, r1 and r2 hold before it."""

    halfwords: tuple[int, ...]
    registers: int = 0x5A5A5A5A


def run(board: Board, cases: Sequence[Case], folder: Path) -> list[tuple[str, str]]:
    """For each case what became of the instruction, and of r0."""
    rows = [((*case.halfwords, 0xBF00)[:2], case.registers) for case in cases]
    (folder / "cases.bin").write_bytes(b"".join(struct.pack("<HHI", *h, r) for h, r in rows))
    (folder / "program.s").write_text(_PROGRAM.replace("ARMV8M", str(int(board.armv8m))))
    script = f"""MEMORY {{ C (rx) : ORIGIN = {board.code}, LENGTH = 64K
        D (rwx) : ORIGIN = {board.data}, LENGTH = 16K }}
        SECTIONS {{ .text : {{ KEEP(*(.vectors)) *(.text) }} > C
        .bss (NOLOAD) : {{ *(.bss) }} > D }}"""
    (folder / "board.ld").write_text(script)
    command = ["arm-none-eabi-gcc", f"-mcpu={board.cpu}", "-mthumb", "-nostdlib", "-T", "board.ld"]
    command += ["-Wl,--no-warnings", "-Wl,-e,start", "program.s", "-o", "program.elf"]
    subprocess.run(command, cwd=folder, check=True)
    machine = ["qemu-system-arm", "-M", board.machine, "-display", "none", "-serial", "none"]
    console = ["-chardev", "stdio,id=console", "-semihosting-config", "enable=on,chardev=console"]
    done = subprocess.run(
        [*machine, "-monitor", "none", *console, "-kernel", "program.elf"],
        cwd=folder, check=True, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    said = done.stdout.strip()
    return [(_OUTCOMES[said[n]], _VALUES[said[n + 1]]) for n in range(0, len(said), 2)]
