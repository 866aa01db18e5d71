"""A small RISC-V project, ported as a whole: nothing is left that a guest can't run."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from tests.porter.context_switch.riscv.trees import GCC, HANDLERS
from tests.porter.context_switch.trees import ROOT

MAIN = """\
#include "context_in_mscratch.h"

#define irq_off() __asm volatile("csrci mstatus, 8")
#define irq_on() __asm volatile("csrsi mstatus, 8")

void trap_entry(void);
static volatile unsigned count;

void *trap_dispatch(uint32_t cause, void *context)
{
    return cause == 11 ? first_context : context;
}

static unsigned lock(void)
{
    unsigned state;
    __asm volatile("csrrci %0, mstatus, 8" : "=r"(state));
    return state;
}

static void unlock(unsigned state)
{
    __asm volatile("csrw mstatus, %0" ::"r"(state));
}

int main(void)
{
    __asm volatile("csrw mtvec, %0" ::"r"(trap_entry));
    __asm volatile("csrs mie, %0" ::"r"(0x80));
    irq_off();
    count++;
    irq_on();
    unlock(lock());
    __asm volatile("ecall");
    first_task();
    for (;;) {
        __asm volatile("wfi");
    }
}
"""
FLAGS = "-march=rv32imafc -misa-spec=2.2 -mabi=ilp32f -ffreestanding -O2"
MAKEFILE = f"""\
all: main.o context_in_mscratch.o
main.o: main.c
\t{GCC} {FLAGS} --specs=picolibc.specs -c main.c -o main.o
context_in_mscratch.o: context_in_mscratch.S
\t{GCC} {FLAGS} --specs=picolibc.specs -c context_in_mscratch.S -o context_in_mscratch.o
"""


def test_a_bare_metal_project_is_ported_whole(tmp_path: Path) -> None:
    project, ported = tmp_path / "project", tmp_path / "ported"
    project.mkdir()
    for name in ("context_in_mscratch.S", "context_in_mscratch.h"):
        shutil.copy(HANDLERS / name, project)
    (project / "main.c").write_text(MAIN)
    (project / "Makefile").write_text(MAKEFILE)
    fvmkit = [sys.executable, "-m", "composer.cli", "port", str(project), "--out", str(ported)]
    result = subprocess.run(fvmkit, capture_output=True, text=True, cwd=ROOT)
    assert result.returncode == 0, result.stderr
    assert " 0 escalated" in result.stderr
    runtime = ROOT / "fvm-runtime"
    includes = [f"-I{runtime}/include", f"-I{runtime}/arch/riscv32/include"]
    for name in ("main.c", "context_in_mscratch_fvm.c", "context_in_mscratch.S"):
        target = tmp_path / f"{name}.o"
        command = [GCC, *FLAGS.split(), "-Wall", "-Werror", *includes, "-c", str(ported / name)]
        done = subprocess.run([*command, "-o", str(target)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        listing = subprocess.run(
            ["riscv64-unknown-elf-objdump", "-d", str(target)], capture_output=True, text=True
        ).stdout
        assert not {"mret", "ecall", "wfi"} & set(listing.split())
        assert "csr" not in listing
    text = (ported / "main.c").read_text()
    for line in (
        "virt_trap_set((uintptr_t)trap_entry);",
        "state = virt_mstatus();",
        "hyp_vct_wait();",
    ):
        assert line in text
