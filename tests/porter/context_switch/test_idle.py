"""Switch handlers that wait until a task is ready: USR waits, in a context of the library's."""

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
from porter.context_switch.result import ESCALATED, SwitchPort
from porter.project.compile_options import CompileOptions
from tests.porter.context_switch.trees import M4F, fixture

HEAD = """\
.syntax unified
.fpu fpv4-sp-d16
.thumb
.text
.global PendSV_Handler
.type PendSV_Handler, %function
PendSV_Handler:
"""
SAVE = """\
    ldr     r0, =current
    ldr     r2, =ready
    movs    r3, #0
    ldr     r1, [r0]
    cbz     r1, 1f
    str     r3, [r0]
    mrs     r12, psp
    stmdb   r12!, {r4-r11}
    tst     lr, #0x10
    bne     2f
    vstmdb  r12!, {s16-s31}
2:  stmdb   r12!, {lr}
    str     r12, [r1, #8]
1:
"""
LOOK = """\
    cpsid   i
    ldr     r1, [r2]
    cbz     r1, 4f
    str     r1, [r0]
    cpsie   i
"""
RESTORE = """\
3:  ldr     r12, [r1, #8]
    ldmia   r12!, {lr}
    tst     lr, #0x10
    bne     5f
    vldmia  r12!, {s16-s31}
5:  ldmia   r12!, {r4-r11}
    msr     psp, r12
    bx      lr
"""
LOOP = """\
4:  cpsid   i
    ldr     r1, [r2]
    str     r1, [r0]
    cbnz    r1, 6f
    dsb
    wfi
    isb
    cpsie   i
    b       4b
6:  mov     r7, #0x08000000
    mov     r8, #0xE000E000
    str     r7, [r8, #0xD04]
    cpsie   i
    b       3b
    .ltorg
"""
HANDLER = SAVE + LOOK + RESTORE + LOOP


def port(folder: Path, body: str) -> list[SwitchPort]:
    tree = fixture(folder, HEAD + body, M4F, "switch.S")
    (folder / "os.c").write_text("void prepare(void);\nvoid prepare(void) { }\n")
    return replace(tree, files=(*tree.files, folder / "os.c")).port()


def companion(ports: list[SwitchPort]) -> str:
    return next(it.replacement.decode() for it in ports if it.file.name == "switch_fvm.c")


def told(ports: list[SwitchPort]) -> str:
    return "".join(it.reason for it in ports if it.status == ESCALATED)


def test_usr_waits_in_place_of_a_handler(tmp_path: Path) -> None:
    found = port(tmp_path, HANDLER)
    assert not told(found)
    (handler,) = (it for it in found if it.name == "PendSV_Handler")
    assert handler.proof is not None and "fast yield by itself (" in handler.reason
    text = companion(found)
    assert text.index("virt_idles()") < text.index("virt_idle();") < text.index("USR_STMDB(")
    assert "hyp_vct_wait" not in text


def test_a_wait_for_memory_alone_needs_no_wfi(tmp_path: Path) -> None:
    looks = LOOP.replace("    dsb\n    wfi\n    isb\n", "")
    assert not told(port(tmp_path, SAVE + LOOK + RESTORE + looks))


def test_what_another_build_would_call_there_is_an_error_in_that_build(tmp_path: Path) -> None:
    low_power = HANDLER.replace("    wfi\n", f"#ifdef LOW_POWER\n{CALLS}#endif\n    wfi\n")
    found = port(tmp_path, low_power)
    assert not told(found)
    assert "#error waits in a loop that calls prepare()" in companion(found)


COUNTS = "    ldr     r3, [r2, #4]\n    adds    r3, #1\n    str     r3, [r2, #4]\n"
CALLS = "    push    {r0, r2}\n    bl      prepare\n    pop     {r0, r2}\n"
BY_TIME = "    ldr     r3, =0xE0001004\n    ldr     r3, [r3]\n    tst     r3, #1\n    beq     6f\n"
LOADS = "    ldr     r1, =0xE000E010\n    ldr     r1, [r1]\n    str"
MASKED = "waits while it holds interrupts off"
AGAIN = "6:  ldr     r3, [r2, #4]\n    cmp     r3, #0\n    beq     6b\n    mov"


def in_loop(more: str) -> str:
    return HANDLER.replace("    wfi\n", f"    wfi\n{more}")


def in_front(more: str) -> str:
    return HANDLER.replace("    cbz     r1, 4f\n", f"{more}    cbz     r1, 4f\n")


REFUSED: dict[str, tuple[str, str]] = {
    "masked": (HANDLER.replace("    cpsie   i\n    b       4b", "    b       4b"), MASKED),
    "a level masked": (in_loop("    mov     r3, #0x40\n    msr     basepri, r3\n"), MASKED),
    "counts its rounds": (in_loop(COUNTS), "doesn't come back to its wait"),
    "ends by itself": (
        in_loop(f"{COUNTS}    cmp     r3, #8\n    beq     6f\n"), "doesn't come back to its wait",
    ),
    "calls something": (in_loop(CALLS), r"a loop that calls prepare\(\)"),
    "needs what it read before": (
        in_front("    ldr     r3, [r2, #4]\n").replace("    wfi\n", "    str     r3, [r2, #8]\n"),
        "needs r3 behind it",
    ),
    "needs the task's stack": (
        HANDLER.replace("6:  mov", "6:  mrs     r3, psp\n    str     r3, [r2, #8]\n    mov"),
        "needs the task's sp behind it",
    ),
    "keeps registers": (
        HANDLER.replace("5:  ldmia   r12!, {r4-r11}", "5:  ldmia   r12!, {r4-r10}"),
        "needs the task's r11 behind it",
    ),
    "keeps words on its stack": (
        in_front("    push    {r0, r3}\n").replace("    str     r1, [r0]\n    cpsie",
        "    pop     {r0, r3}\n    str     r1, [r0]\n    cpsie").replace(
        "6:  mov", "6:  pop     {r0, r3}\n    mov"), "behind it as it was before|on its own stack",
    ),
    "waits in front": (HANDLER.replace("    cpsid", "    wfi\n    cpsid", 1), "would wait inside"),
    "two loops": (HANDLER.replace("6:  mov", AGAIN), "has a loop|would wait inside"),
    "for a device": (HANDLER.replace("    ldr     r1, [r2]\n    str", LOADS), "SysTick|accesses"),
    "for time": (in_loop(BY_TIME), "doesn't come back to its wait|stops the processor"),
}  # fmt: skip

OTHER = """\
    .global SVC_Handler
    .type SVC_Handler, %function
SVC_Handler:
    ldr     r0, =ready
    ldr     r1, [r0]
    ldr     r0, [r1, #8]
    ldmia   r0!, {r4-r11, lr}
    msr     psp, r0
    bx      lr
    .ltorg
"""


def test_another_handler_that_resumes_tasks_would_find_nobody(tmp_path: Path) -> None:
    assert "SVC_Handler() of switch.S resumes tasks too" in told(port(tmp_path, HANDLER + OTHER))


def test_a_supervisor_calls_handler_waits_for_nobody(tmp_path: Path) -> None:
    """What waits in its place requests a switch, which it doesn't serve."""
    body = (HEAD + HANDLER).replace("PendSV_Handler", "SVC_Handler")
    tree = fixture(tmp_path, body, M4F, "switch.S")
    assert "makes no supervisor call" in told(tree.port())


@pytest.mark.parametrize("name", REFUSED)
def test_a_loop_that_does_more_than_wait_stays(name: str, tmp_path: Path) -> None:
    body, why = REFUSED[name]
    assert body != HANDLER
    assert re.search(why, told(port(tmp_path, body)))


WRONG = {
    "from the start": (b"idles = virt_idles();", b"idles = 0;"),
    "doesn't wait": (b"virt_idle();", b""),
    "does more": (b"virt_idle();", b"virt_idle(); current = 1;"),
    "forgets registers": (b"USR_LDMIA(sp, R4, R11);", b"sp += 8;"),
    "forgets floats": (b"USR_VLDMIA(sp);", b"sp += 16;"),
    "leaves the request": (b"virt_vct_clear(FVM_VIRT_SWITCH);", b""),
    "other floats": (b"virt_idle();", b"USR_REG->Fpu.S16 = 0; virt_idle();"),
    "waits the other way": (b"r1 == NULL", b"r1 != NULL"),
}


@pytest.mark.campaign
@pytest.mark.parametrize("name", WRONG)
def test_each_oracle_finds_a_wrong_wait(name: str, tmp_path: Path) -> None:
    right, wrong = WRONG[name]
    text = companion(port(tmp_path, HANDLER)).encode()
    assert right in text
    options = with_runtime(CompileOptions((tmp_path,), (), M4F, "arm-none-eabi-gcc"))
    original = assemble(tmp_path / "switch.S", options).object.raw
    source = tmp_path / "switch_fvm.c"
    model = Model("switch", waits=True)
    for changed in (text, text.replace(right, wrong, 1)):
        ported = port_object(source, {source.name: changed}, options)
        symbols = ("PendSV_Handler", "PendSV_Handler")
        images = link_pair(original, ported, symbols, {}, (options.compiler, *M4F))
        for oracle in (compare, equivalent):
            with nullcontext() if changed == text else pytest.raises(NotProved):
                oracle(*images, model)
