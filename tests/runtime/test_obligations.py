"""The kernel's machine code does what the architecture and its errata ask for, at every level of
optimisation; and the reader that says so finds what is missing from changed kernels."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from composer.sources import runtime_folder
from tests.runtime.machine_code import Code
from tests.runtime.obligations import check
from tests.runtime.register_values import Store
from tests.runtime.scs_rules import BANKS, REGISTERS, rules
from tests.support.built import Built, change

pytestmark = pytest.mark.campaign

NOP, NOP_WIDE = bytes.fromhex("00bf"), bytes.fromhex("aff30080")


def compiled(system: Built, folder: Path, level: str = "-O2", runtime: Path | None = None) -> Path:
    """The kernel of a system, compiled otherwise."""
    shutil.copytree(system.folder / "kernel", folder)
    makefile = folder / "Makefile"
    original = os.path.relpath(runtime_folder(), system.folder / "kernel")
    rules = makefile.read_text("utf-8")
    assert original in rules
    text = rules.replace(original, os.path.relpath(runtime or runtime_folder(), folder))
    makefile.write_text(change(text, " -O2 ", f" {level} "), "utf-8")
    shutil.rmtree(folder / "obj")
    subprocess.run(["make", "-s", "-C", str(folder)], check=True, stdout=subprocess.DEVNULL)
    return folder / "kernel.elf"


@pytest.fixture(scope="module")
def code(system: Callable[[str], Built]) -> Code:
    return Code(system("lines").folder / "kernel" / "kernel.elf")


def test_every_obligation_is_met(code: Code) -> None:
    assert check(code) == set()


def test_it_is_where_processes_invoke_each_other(system: Callable[[str], Built]) -> None:
    """Such a kernel has short ways of its own."""
    assert check(Code(system("invocation").folder / "kernel" / "kernel.elf")) == set()


@pytest.mark.parametrize("level", ["-O1", "-O3", "-Os"])
def test_at_other_levels_too(system: Callable[[str], Built], tmp_path: Path, level: str) -> None:
    assert check(Code(compiled(system("lines"), tmp_path / "kernel", level))) == set()


def without(code: Code, address: int) -> Code:
    """The kernel with one instruction less."""
    return code.patched(address, NOP if code.instructions[address].size == 2 else NOP_WIDE)


def test_every_barrier_that_is_taken_away_is_missed(code: Code) -> None:
    barriers = [a for a, i in code.instructions.items() if i.mnemonic in ("dsb", "isb")]
    assert len(barriers) >= 16
    unnoticed = [code.place(a) for a in barriers if not check(without(code, a))]
    assert unnoticed == []


def sets_up(code: Code, store: Store) -> bool:
    """Whether boot has to write this."""
    name = REGISTERS.get(store.address) or next(
        (bank for bank, addresses in BANKS.items() if store.address in addresses), None
    )
    wanted = None if name is None else rules(code.vector_table)[name].boot
    known = store.stored is not None and store.stored.numbers == {wanted}
    return name == "DEMCR" or (wanted is not None and known)


def test_every_write_of_boot_that_is_taken_away_is_missed(code: Code) -> None:
    writes = [
        address
        for entry in code.procedures(code.handlers[1])
        for address, registers in code.values(entry).items()
        if any(sets_up(code, store) for store in code.stores(address, registers))
        or (
            re.match(r"msr|cpsie", code.instructions[address].mnemonic)
            and entry == code.handlers[1]
        )
    ]
    assert len(writes) >= 24
    unnoticed = [code.place(a) for a in writes if not check(without(code, a))]
    assert unnoticed == []


def test_the_mpu_goes_off_and_on_again_around_new_regions(code: Code) -> None:
    switches = [
        address
        for entry in code.procedures(code.handlers[14])
        for address, registers in code.values(entry).items()
        if any(store.address == 0xE000ED94 for store in code.stores(address, registers))
    ]
    assert len(switches) == 2
    assert all(check(without(code, address)) for address in switches)


@pytest.mark.parametrize(
    ("instead_of", "instruction", "rule"),
    [
        ("msr basepri, r0", "81f31188", "BASEPRI is raised"),
        ("msr basepri, r0", "80f31288", "write of basepri_max"),
        ("msr basepri, r0", "80f31388", "write of faultmask"),
        ("msr basepri, r0", "d0f800d0", "SP is loaded from memory"),
        ("msr control, r0", "81f31488", "CONTROL gets another value"),
        ("cpsie f", "71b6", "FAULTMASK is set"),
        ("cpsie f", "72b6", "PRIMASK is set"),
    ],
)
def test_an_instruction_that_must_not_be_there_is_found(
    code: Code, instead_of: str, instruction: str, rule: str
) -> None:
    start = code.handlers[1]
    place = next(
        a
        for a, i in code.instructions.items()
        if a >= start and f"{i.mnemonic} {i.op_str}" == instead_of
    )
    findings = check(code.patched(place, bytes.fromhex(instruction)))
    assert any(finding.rule.startswith(rule) for finding in findings)


@pytest.mark.parametrize(
    ("file", "old", "new", "rule"),
    [
        (
            "cpu.c",
            "SCB_FPCCR = SCB_FPCCR_ASPEN;",
            "SCB_FPCCR = SCB_FPCCR_ASPEN | (1u << 30);",
            "FPCCR gets another value",
        ),
        (
            "cpu.c",
            "SCB_CCR = SCB_CCR_STKALIGN |",
            "SCB_CCR = 2u | SCB_CCR_STKALIGN |",
            "CCR gets another value",
        ),
        (
            "entry.S",
            "    dsb                         /* from here on loads only */\n    isb\n",
            "    cbz r4, 9f\n    dsb\n    isb\n9:\n",
            "exception return with MPU_CTRL: dsb due",
        ),
        (
            "entry.S",
            "    dsb                         /* from here on loads only */\n    isb\n",
            "    dsb\n    isb\n    str r0, [r1, #4]\n",
            "exception return with memory: dsb due",
        ),
        (
            "entry.S",
            "deferred_stub:\n    wait_for_stores\n    cpsid i\n",
            "deferred_stub:\n",
            "the deferred work doesn't begin by holding everything off",
        ),
        (
            "entry.S",
            "    cpsie i                     /* masked by the deferred work only */\n",
            "",
            "exception return with PRIMASK: cpsie due",
        ),
        (
            "entry.S",
            "    cpsie i\n#if FVM_FPU\n    tst lr,",
            "#if FVM_FPU\n    tst lr,",
            "exception return with PRIMASK: cpsie due",
        ),
        (
            "entry.S",
            "2:  pop {r3, lr}\n    cpsie i\n",
            "2:  pop {r3, lr}\n",
            "exception return with PRIMASK: cpsie due",
        ),
        (
            "entry.S",
            "    ldrd r2, r3, [r1, #CPU_CURRENT]\n    cmp r2, r3\n    bne leave\n",
            "    b leave\n",
            "exception return with PRIMASK: cpsie due",
        ),
        (
            "entry.S",
            "timer_stub:\n",
            "timer_stub:\n    cpsid i\n",
            "PRIMASK is set",
        ),
        (
            "entry.S",
            "    beq start_stub              /* from boot, which runs on MSP */\n",
            "    bne start_stub\n",
            "exception return with nPRIV: write due",
        ),
        (
            "entry.S",
            "    tst lr, #EXC_RETURN_PSP     /* not from a thread: PendSV",
            "    tst lr, #8 /*",
            "exception return with nPRIV: write due",
        ),
        (
            "entry.S",
            "    str r1, [r0, #ICSR_FROM_SCS]\n    cpsie i\n    dsb\n    bx lr\n\nfrom_process:",
            "    cpsie i\n    dsb\n    bx lr\n\nfrom_process:",
            "exception return with PENDSVSET: write due",
        ),
        (
            "cpu.c",
            "void cpu_arch_settle(void) { barrier_data(); }",
            "void cpu_arch_settle(void) {}",
            "next step of the boot table with boot step: dsb due",
        ),
        (
            "line.c",
            "void line_arch_clear(uint32_t line) {",
            "void line_arch_clear(uint32_t line) { *(volatile uint32_t *)0xE000EF00u = line;",
            "store to 0xe000ef00",
        ),
    ],
    ids=[
        "lazy stacking",
        "user pends interrupts",
        "barrier on one path",
        "late store",
        "deferred work unmasked",
        "masked after a switch",
        "masked after a switch inside a domain",
        "masked after deferred work",
        "masked where nobody switches",
        "a handler masks",
        "boot stays privileged",
        "an entry at boot switches",
        "forgets to switch",
        "settled late",
        "STIR",
    ],
)
def test_a_changed_source_is_found(
    system: Callable[[str], Built], tmp_path: Path, file: str, old: str, new: str, rule: str
) -> None:
    runtime = tmp_path / "runtime"
    shutil.copytree(runtime_folder(), runtime, ignore=shutil.ignore_patterns("__pycache__"))
    source = runtime / "arch" / "armv7m" / file
    source.write_text(change(source.read_text("utf-8"), old, new), "utf-8")
    findings = check(Code(compiled(system("lines"), tmp_path / "kernel", runtime=runtime)))
    assert any(finding.rule.startswith(rule) for finding in findings)


def test_what_is_linked_into_domains_keeps_to_it_too(system: Callable[[str], Built]) -> None:
    waits = 0
    for domain in ("hypervisor", "echo", "lines"):
        elf = system("lines").folder / domain / f"{domain}.elf"
        listing = subprocess.run(
            ["arm-none-eabi-objdump", "-d", "--no-show-raw-insn", str(elf)],
            check=True,
            capture_output=True,
            text=True,
        ).stdout.splitlines()
        assert not [line for line in listing if re.search(r"\tldr(\.w)?\tsp,", line)]
        for before, line in pairwise(listing):
            if line.endswith("\twfi"):
                waits += 1
                assert "\tdsb\t" in before
    assert waits == 1  # idle
