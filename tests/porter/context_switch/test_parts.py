"""Assembler that a hook in C calls to save S16-S31 of a task: it is a part of the switch where only
the handlers and the start of the first task come to it."""

from __future__ import annotations

import re
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from porter.context_switch.accept import with_runtime
from porter.context_switch.assemble import assemble
from porter.context_switch.proof import Model, NotProved
from porter.context_switch.proof.compare import compare
from porter.context_switch.proof.equivalence import equivalent
from porter.context_switch.proof.link import link_pair
from porter.context_switch.proved import port_object
from porter.context_switch.result import ESCALATED, REWRITTEN, SwitchPort
from porter.project.compile_options import CompileOptions
from tests.porter.context_switch.trees import M4F, fixture

HEAD = ".syntax unified\n.fpu fpv4-sp-d16\n.thumb\n.text\n"
SAVE = """\
    mrs     r1, psp
    cbz     r1, 1f
    vstmdb  r0!, {s16-s31}
    ldr     r1, =current
    ldr     r2, [r1]
    str     r0, [r2]
1:  bx      lr
"""
FETCH = """\
    vldmia  r0!, {s16-s31}
    ldr     r1, =next
    ldr     r2, [r1]
    str     r0, [r2]
    bx      lr
"""
SWITCH = """\
    mrs     r0, psp
    stmdb   r0!, {r4-r11, lr}
    ldr     r5, =current
    ldr     r1, [r5]
    str     r0, [r1]
    bl      hook
    ldr     r1, =next
    ldr     r2, [r1]
    str     r2, [r5]
    ldr     r0, [r2]
    ldmia   r0!, {r4-r11, lr}
    msr     psp, r0
    bx      lr
"""
WITH_FLOATS = SWITCH.replace(
    "    ldr     r5", "    vstmdb  r0!, {s16-s31}\n    ldr     r5"
).replace("    msr     psp", "    vldmia  r0!, {s16-s31}\n    msr     psp")
START = """\
    cpsid   i
    movs    r0, #0
    msr     psp, r0
    bl      hook
    ldr     r0, =started
    movs    r1, #1
    str     r1, [r0]
    ldr     r0, =next
    ldr     r2, [r0]
    ldr     r0, [r2]
    msr     psp, r0
    mrs     r0, control
    orr     r0, r0, #2
    msr     control, r0
    isb
    ldmia   sp!, {r4-r11, lr}
    pop     {r0-r3}
    pop     {r12, lr}
    pop     {r1, r2}
    cpsie   i
    bx      r1
"""
FUNCTIONS = {"save": SAVE, "fetch": FETCH, "start": START, "PendSV_Handler": SWITCH}
C = """\
struct task { unsigned *sp; };
struct task *volatile current, *volatile next;
volatile unsigned started;
void save(unsigned *sp);
void fetch(unsigned *sp);
void start(void);
void hook(void)
{
    save(current->sp);
    fetch(next->sp);
}
"""


def port(folder: Path, functions: dict[str, str], c: str = C, **more: str) -> list[SwitchPort]:
    """A project of switch.S, os.c and more files, `_` in their names for the dot."""
    bodies = "".join(
        f".global {name}\n.type {name}, %function\n{name}:\n{body}.ltorg\n"
        for name, body in functions.items()
    )
    tree = fixture(folder, f"{HEAD}{bodies}", M4F, "switch.S")
    added = []
    for name, text in {"os_c": c, **more}.items():
        added.append(folder / name.replace("_", "."))
        added[-1].write_text(text)
    return replace(tree, files=(*tree.files, *added)).port()


def companion(ports: list[SwitchPort]) -> str:
    return next(it.replacement.decode() for it in ports if it.file.name == "switch_fvm.c")


def body_of(text: str, name: str) -> str:
    return text[text.index(f"{name}(") :].partition("\n}")[0]


def reasons(ports: list[SwitchPort]) -> dict[str, str]:
    return {it.name: it.reason for it in ports if it.status == ESCALATED}


def test_a_tasks_floats_are_saved_where_a_hook_in_c_has_it_done(tmp_path: Path) -> None:
    found = port(tmp_path, FUNCTIONS)
    assert not reasons(found)
    proofs = {it.name: it.proof for it in found if it.status == REWRITTEN}
    assert all(proofs[name] is not None for name in FUNCTIONS)
    text = companion(found)
    assert "USR_VSTMDB(" in body_of(text, "void save")
    assert "USR_VLDMIA(" in body_of(text, "void fetch")
    assert "if (USR_REG->Reg.SP" in body_of(text, "void save")


def test_the_first_task_is_looked_at_in_vct(tmp_path: Path) -> None:
    text = companion(port(tmp_path, FUNCTIONS))
    first, start = body_of(text, "start_first"), body_of(text, "void start")
    assert first.index("USR_REG->Reg.SP = 0") < first.index("hook()") < first.index("started = 1")
    assert "hook()" not in start and "virt_vct_once(start_first)" in start
    held = start.index("virt_int_mask(VIRT_BASEPRI)")
    assert held < start.index("virt_int_unmask(VIRT_PRIMASK)")
    assert first.index("virt_int_restore(VIRT_BASEPRI") < first.index("hook()")


# Functions in assembler, C, other files, and why what is of the task stays as it was.
REFUSED: dict[str, tuple[dict[str, str], str, dict[str, str], str]] = {
    "a task calls the hook": (
        FUNCTIONS, f"{C}void task(void) {{ hook(); }}\nint main(void) {{ start(); task(); }}\n", {},
        "changes s16-s31 of its caller",
    ),
    "an interrupt calls it": (
        FUNCTIONS, f"{C}void TIM2_IRQHandler(void) {{ hook(); }}\n", {},
        "changes s16-s31 of its caller",
    ),
    "a table has its address": (
        FUNCTIONS, f"{C}void (*const hooks[])(void) = {{ hook }};\n", {},
        "changes s16-s31 of its caller",
    ),
    "an alias of it": (
        FUNCTIONS, f'{C}void other(void) __attribute__((alias("hook")));\n', {},
        "changes s16-s31 of its caller",
    ),
    "a pragma's name for it": (
        FUNCTIONS, f"{C}#pragma weak other = hook\nvoid other(void);\n"
        "void task(void) { other(); }\nint main(void) { task(); }\n", {},
        "changes s16-s31 of its caller",
    ),
    "another name in assembler": (
        FUNCTIONS, C, {"task_s": f"{HEAD}.global other\n.set other, hook\n"},
        "changes s16-s31 of its caller",
    ),
    "C++ has its name": (
        FUNCTIONS, C, {"task_cpp": 'extern "C" void hook(); void task() { hook(); }\n'},
        "changes s16-s31 of its caller",
    ),
    "another assembler file calls it": (
        FUNCTIONS, C, {"task_s": f"{HEAD}.global task\n.type task, %function\ntask: b hook\n"},
        "changes s16-s31 of its caller",
    ),
    "a task calls the part": (
        FUNCTIONS, f"{C}void task(void) {{ fetch(0); }}\nint main(void) {{ task(); }}\n", {},
        "changes s16-s31 of its caller",
    ),
    "r4-r11 too": (
        FUNCTIONS | {"fetch": FETCH.replace("bx      lr", "ldmia r0, {r4-r11}\n bx lr")}, C, {},
        "changes r4-r11 and s16-s31 of its caller",
    ),
    "the handler itself": (
        FUNCTIONS | {"PendSV_Handler": WITH_FLOATS}, C, {},
        "let one of them do it",
    ),
    "it asks for more": (
        FUNCTIONS | {"save": SAVE.replace("    mrs", "    cpsie i\n mrs")}, C, {},
        "does more than save and fetch",
    ),
    "in front of the mark": (
        FUNCTIONS | {"start": START.replace("    movs    r0, #0", "    bl hook\n    movs r0, #0")
                     .replace("    bl      hook\n", "")}, C, {},
        "before it sets PSP",
    ),
    "PRIMASK open before": (
        FUNCTIONS | {"start": START.replace("    cpsie   i\n", "").replace("cpsid", "cpsie")},
        C, {},
        "doesn't just open PRIMASK",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_others_come_to_is_no_part(name: str, tmp_path: Path) -> None:
    functions, c, more, why = REFUSED[name]
    told = reasons(port(tmp_path, functions, c, **more))
    assert "PendSV_Handler" in told and "start" in told
    assert any(re.search(why, it) for it in told.values()), told


WRONG = {
    "not saved": (b"USR_VSTMDB(r0);", b"r0 -= 16;"),
    "the first task's too": (b"USR_REG->Reg.SP != 0", b"USR_REG->Reg.SP != 1"),
    "to another place": (b"*(fvm_word *)current = (uint32_t)r0", b"*(fvm_word *)current = 0"),
    "not fetched": (b"USR_VLDMIA(r0);", b"r0 += 16;"),
    "another register": (b"USR_VLDMIA(r0);", b"USR_VLDMIA(r0); USR_REG->Reg.R4 = 0;"),
    "VCT's": (b"USR_VLDMIA(r0);", b'USR_VLDMIA(r0); __asm volatile("vmov s16, r1");'),
}


@pytest.mark.campaign
@pytest.mark.parametrize("name", WRONG)
def test_each_oracle_finds_a_wrong_part(name: str, tmp_path: Path) -> None:
    right, wrong = WRONG[name]
    text = companion(port(tmp_path, FUNCTIONS)).encode()
    assert right in text
    options = with_runtime(CompileOptions((tmp_path,), (), M4F, "arm-none-eabi-gcc"))
    original = assemble(tmp_path / "switch.S", options).object.raw
    source = tmp_path / "switch_fvm.c"
    symbol = "save" if text.index(right) < text.index(b"void fetch") else "fetch"
    model = Model("part")
    for changed in (text, text.replace(right, wrong)):
        ported = port_object(source, {source.name: changed}, options)
        images = link_pair(original, ported, (symbol, symbol), {}, (options.compiler, *M4F))
        for oracle in (compare, equivalent):
            with nullcontext() if changed == text else pytest.raises(NotProved):
                oracle(*images, model)
