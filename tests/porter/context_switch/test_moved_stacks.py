"""Kernels whose C saves PSP: the handler calls it, and goes on with the PSP that it finds then."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from porter.context_switch.proof import Model, NotProved
from porter.context_switch.proof.compare import compare
from porter.context_switch.proof.equivalence import equivalent
from porter.context_switch.proof.link import link_pair
from porter.context_switch.proof.outcome import Broken
from porter.context_switch.result import SwitchPort
from tests.porter.context_switch.test_assembler_file import named
from tests.porter.context_switch.test_proof import COMMAND, objects
from tests.porter.context_switch.trees import M3, fixture

HANDLER = """\
    .syntax unified
    .thumb
    .text
    .global PendSV_Handler
    .thumb_func
PendSV_Handler:
    mrs     r0, psp
    stmdb   r0!, {r4-r11}
    msr     psp, r0
    push    {r3, lr}
    bl      schedule
    pop     {r3, lr}
    mrs     r0, psp
    ldmia   r0!, {r4-r11}
    msr     psp, r0
    bx      lr
"""
INTRINSICS = """\
static unsigned __get_PSP(void)
{ unsigned psp; __asm volatile("mrs %0, psp" : "=r"(psp)); return psp; }
static void __set_PSP(unsigned psp) { __asm volatile("msr psp, %0" : : "r"(psp)); }
"""
SCHEDULER = """\
unsigned stacks[4]; int now;
static void choose(void) { now = (now + 1) & 3; }
static void swap(void) { stacks[now] = __get_PSP(); choose(); __set_PSP(stacks[now]); }
void schedule(void) { swap(); }
"""
OF_ITS_OWN = "unsigned count; void schedule(void) { count++; }\n"
NAKED = """\
__attribute__((naked)) void PendSV_Handler(void)
{ __asm volatile("mrs r0, psp\\n stmdb r0!, {r4-r11}\\n msr psp, r0\\n push {r3, lr}\\n"
  "bl schedule\\n pop {r3, lr}\\n mrs r0, psp\\n ldmia r0!, {r4-r11}\\n msr psp, r0\\n bx lr"); }
void schedule(void);
"""
C = """
#include <fvm/guest.h>
void schedule(void);
void PendSV_Handler(void);
void PendSV_Handler(void)
{{
    fvm_word *sp = (fvm_word *)USR_REG->Reg.SP;
    USR_STMDB(sp, R4, R11);
    {before}
    schedule();
    {behind}
    USR_LDMIA(sp, R4, R11);
    USR_REG->Reg.SP = (uint32_t)sp;
}}
"""
BEFORE = "USR_REG->Reg.SP = (uint32_t)sp;"
BEHIND = "sp = (fvm_word *)USR_REG->Reg.SP;"


def port(folder: Path, scheduler: str) -> list[SwitchPort]:
    tree = fixture(folder, HANDLER, M3, "switch.S")
    (folder / "kernel.c").write_text(scheduler)
    return replace(tree, files=(*tree.files, folder / "kernel.c")).port()


def text_of(ports: list[SwitchPort]) -> str:
    assert named(ports, "PendSV_Handler").proof is not None
    return named(ports, "switch_fvm.c").replacement.decode()


@pytest.mark.parametrize(
    "head", [INTRINSICS, "unsigned __get_PSP(void);\nvoid __set_PSP(unsigned);\n"]
)
def test_the_callee_finds_psp_and_leaves_another(head: str, tmp_path: Path) -> None:
    lines = text_of(port(tmp_path, head + SCHEDULER)).splitlines()
    (call,) = [number for number, line in enumerate(lines) if "schedule();" in line]
    assert lines[call - 1].strip().startswith(BEFORE)
    assert lines[call + 1].strip().startswith(BEHIND)


def test_it_is_found_by_what_it_was_ported_to(tmp_path: Path) -> None:
    ported = "struct { struct { unsigned SP; } Reg; } *usr;\n"
    scheduler = ported + "void schedule(void) { usr->Reg.SP += 0; }\n"
    assert BEHIND in text_of(port(tmp_path, scheduler))


def test_a_callee_that_knows_nothing_of_psp_costs_nothing(tmp_path: Path) -> None:
    text = text_of(port(tmp_path, OF_ITS_OWN))
    assert text.count("Reg.SP") == 2


def test_such_a_switch_yields_by_itself(tmp_path: Path) -> None:
    reason = named(port(tmp_path, INTRINSICS + SCHEDULER), "PendSV_Handler").reason
    assert "fast yield by itself (" in reason


@pytest.mark.parametrize(("before", "behind"), [(BEFORE, BEHIND), ("", BEHIND), (BEFORE, "")])
def test_both_oracles_see_what_psp_is_then(before: str, behind: str, tmp_path: Path) -> None:
    pair = objects(tmp_path, NAKED, C.format(before=before, behind=behind))
    images = link_pair(*pair, ("PendSV_Handler",) * 2, (), COMMAND)
    model = Model("switch", moves_stack=frozenset({"schedule"}))
    if before and behind:
        compare(*images, model)
        equivalent(*images, model)
        return
    with pytest.raises((NotProved, Broken)):
        compare(*images, model)
    with pytest.raises(NotProved):
        equivalent(*images, model)


@pytest.mark.parametrize("hook", ["seen = __get_PSP();", "__set_PSP(seen);"])
def test_a_start_may_call_what_reads_psp_and_not_what_sets_it(hook: str, tmp_path: Path) -> None:
    text = ".syntax unified\n.thumb\n.global start\nstart:\n    bl hook\n    cpsie i\n    svc 0\n"
    handler = HANDLER.replace("PendSV_Handler", "SVC_Handler").replace("    bl      schedule\n", "")
    handler = handler.replace(
        "    mrs     r0, psp\n    stmdb   r0!, {r4-r11}\n", "    ldr r0, =top\n"
    )
    tree = fixture(tmp_path, text + "    bx lr\n" + handler, M3, "switch.S")
    kernel = INTRINSICS + "unsigned seen, top[64];\nvoid start(void);\n"
    (tmp_path / "kernel.c").write_text(f"{kernel}void hook(void) {{ {hook} }}\n")
    ports = replace(tree, files=(*tree.files, tmp_path / "kernel.c")).port()
    told = "calls hook(), which reads or writes PSP itself"
    assert (told in named(ports, "start").reason) == ("set" in hook), named(ports, "start").reason
