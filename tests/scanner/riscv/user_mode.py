"""Runs instructions in user mode on QEMU's virt machine and tells which of them trap."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

RAN = "."
"""What `run` says of instructions that ran through; else it is the trap's cause as a hex digit."""

_PROGRAM = """
#define UART 0x10000000
#define EXIT 0x100000
.option norvc
.globl _start
_start:
    la t0, trap
    csrw mtvec, t0
    csrw pmpaddr0, zero        # entry 1 opens RAM alone: NAPOT, 256 MB from 0x80000000
    li t0, (0x80000000 >> 2) | ((0x10000000 >> 3) - 1)
    csrw pmpaddr1, t0
    li t0, 0x1f << 8
    csrw pmpcfg0, t0
    li t0, -1
    csrw mcounteren, t0
    csrw scounteren, t0
    la s0, cases
    la s1, cases_end
next:
    bgeu s0, s1, done
    la s2, buffer
    lw t0, 0(s0)
    lw t1, 4(s0)
    lw t2, 8(s0)
    sw t0, 0(s2)
    sw t1, 4(s2)
    sw t2, 8(s2)
    li t0, 0x00000073          # ecall behind it: reached only if nothing trapped
    sw t0, 12(s2)
    fence.i
    li t0, 0x1800 | 0x6000
    csrc mstatus, t0
    lw t0, 12(s0)              # mstatus bits of this case
    csrs mstatus, t0
    csrw mepc, s2
    addi s0, s0, 16
    mret
.align 2
trap:
    csrr t0, mepc
    csrr t1, mcause
    li t2, '.'
    addi t3, s2, 12
    beq t0, t3, say
    andi t1, t1, 15
    addi t2, t1, '0'
    li t3, 10
    blt t1, t3, say
    addi t2, t1, 'a' - 10
say:
    li t3, UART
    sb t2, 0(t3)
    j next
done:
    li t3, UART
    li t2, 10
    sb t2, 0(t3)
    li t0, EXIT
    li t1, 0x5555
    sw t1, 0(t0)
    j .
.align 4
buffer: .word 0, 0, 0, 0
cases: .incbin "cases.bin"
cases_end:
"""

_SCRIPT = "SECTIONS { . = 0x80000000; .text : { *(.text) } }"
FLOATING_POINT_ON = 0x2000
_NOP = 0x00000013
_NOP16 = 0x00010001


def run(folder: Path, cases: Sequence[Sequence[int]], status: int = 0) -> str:
    """One character a case of at most three words, with these bits of mstatus set."""
    rows = b""
    for words in cases:
        padded = [*words, *[_NOP] * (3 - len(words)), status]
        rows += b"".join(word.to_bytes(4, "little") for word in padded)
    (folder / "cases.bin").write_bytes(rows)
    (folder / "program.S").write_text(_PROGRAM)
    (folder / "virt.ld").write_text(_SCRIPT)
    flags = ["-march=rv32imafc_zicsr_zifencei", "-mabi=ilp32f", "-nostdlib", "-T", "virt.ld"]
    command = ["riscv64-unknown-elf-gcc", *flags, "program.S", "-o", "program.elf"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    machine = ["qemu-system-riscv32", "-M", "virt", "-bios", "none", "-display", "none"]
    done = subprocess.run(
        [*machine, "-serial", "stdio", "-monitor", "none", "-kernel", "program.elf"],
        cwd=folder, check=True, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    return done.stdout.strip()


def narrow(half: int) -> int:
    """A compressed instruction, filled up with C.NOP."""
    return _NOP16 & 0xFFFF0000 | half
