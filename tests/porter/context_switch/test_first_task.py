"""Starts that go to the first task themselves, or mark the first switch in PSP, and ports of them
that are wrong."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from porter.context_switch.proved import port_object
from porter.context_switch.result import SwitchPort
from porter.project.compile_options import CompileOptions
from tests.porter.context_switch.trees import M3, fixture

HEAD = """\
    .syntax unified
    .thumb
    .text
    .global os_start
    .type os_start, %function
os_start:
"""
POPPED = """\
    ldr     r2, =current
    ldr     r3, [r2]
    ldr     r0, [r3]
    adds    r0, r0, #32         @ r4-r11 mean nothing yet
    msr     psp, r0
    movs    r0, #2
    msr     control, r0
    isb
    pop     {r0-r5}
    mov     lr, r5
    pop     {r3}
    pop     {r2}
    cpsie   i
    bx      r3
"""
RESTORED = """\
    ldr     r2, =current
    ldr     r3, [r2]
    ldr     r0, [r3]
    msr     psp, r0
    mrs     r0, control
    orrs    r0, r0, #2
    msr     control, r0
    isb
    ldmia   sp!, {r4-r11, lr}
    pop     {r0-r3}
    pop     {r12, lr}
    cpsie   i
    pop     {r1, r2}
    bx      r1
"""
WITH_FLAGS = RESTORED.replace("    bx      r1\n", "    msr     apsr_nzcvq, r2\n    bx      r1\n")
SELECTED = RESTORED.replace(
    "    orrs    r0, r0, #2\n", "    movs    r1, #2\n    orrs    r0, r0, r1\n"
)
CALLS = "    ldr     r0, =current\n    movs    r1, #3\n    bl      prepare\n" + POPPED
PREPARES = "void os_start(void);\nvoid prepare(void *first, unsigned level);\n"
TOLD_APART = RESTORED.replace("{r4-r11, lr}", "{r4-r11}").replace(
    "    pop     {r0-r3}\n",
    "#if defined(__SOFTFP__)\n    pop     {r0}\n#endif\n    pop     {r0-r3}\n",
)
TAKEN = RESTORED.replace("    ldr     r2, =current\n    ldr     r3, [r2]\n", "").replace(
    "[r3]", "[r0]"
)
TAKEN_APART = TAKEN.replace("{r4-r11, lr}", "{r4-r11}").replace(
    "    pop     {r0-r3}\n",
    "#if defined(__SOFTFP__)\n    pop     {r0}\n#endif\n    pop     {r0-r3}\n",
)
TASK = "void os_start(void *task);\n"
CALLED = """\
    msr     psp, r1
    movs    r4, #2
    msr     control, r4
    isb
    blx     r0
"""
ARGUMENTS = "void os_start(unsigned entry, unsigned stack);\n"
MARKED = """\
    movs    r0, #0
    msr     psp, r0
    ldr     r0, =0xE000ED04
    ldr     r1, =0x10000000
    str     r1, [r0]
    cpsie   i
    bx      lr
"""
WRONG = {
    "another stack": POPPED.replace("pop     {r2}\n", ""),
    "another register": POPPED.replace("bx      r3", "bx      r2"),
    "after a store": POPPED.replace("pop     {r3}\n", "str r0, [r0]\n pop {r3}\n"),
    "by flags from a word": WITH_FLAGS.replace("bx      r1", "it eq\n moveq r1, r2\n bx r1"),
    "a loaded mark": MARKED.replace("movs    r0, #0", "ldr r0, =current\n ldr r0, [r0]"),
    "no request": MARKED.replace("str     r1, [r0]", "nop"),
}


def port(folder: Path, body: str, prototype: str = "void os_start(void);\n") -> list[SwitchPort]:
    tree = fixture(folder, HEAD + body, M3, "start.S")
    header = folder / "os.h"
    header.write_text(prototype)
    return replace(tree, files=(*tree.files, header)).port()


def text_of(ports: list[SwitchPort]) -> str:
    (new,) = [port for port in ports if port.file.suffix == ".c"]
    return new.replacement.decode()


def test_a_frame_popped_by_hand_is_resumed_in_vct(tmp_path: Path) -> None:
    text = text_of(port(tmp_path, POPPED))
    first, _, start = text.partition("void os_start(void)")
    assert "fvm_word *sp = (fvm_word *)(*(fvm_word *)current + 0x20);" in first
    assert "USR_REG->Reg.SP = (uint32_t)sp;" in first and "Reg.LR = 0xFFFFFFFDu;" in first
    assert "virt_vct_once(os_start_first);" in start
    assert "virt_int_unmask(VIRT_PRIMASK);" in start


def test_a_task_without_privilege_is_any_task_of_a_guest(tmp_path: Path) -> None:
    unprivileged = POPPED.replace("movs    r0, #2", "movs    r0, #3")
    texts = text_of(port(tmp_path / "a", POPPED)), text_of(port(tmp_path / "b", unprivileged))
    assert texts[0].replace("#2", "#3") == texts[1]


def test_registers_that_the_start_restores_come_from_the_same_frame(tmp_path: Path) -> None:
    first = text_of(port(tmp_path, RESTORED)).partition("void os_start(void)")[0]
    assert "USR_REG->Reg.SP = (uint32_t)sp;" in first
    for number in range(4, 12):
        assert f"USR_REG->Reg.R{number} = *(sp - {13 - number});" in first or (
            f"USR_REG->Reg.R{number} = sp[{number - 13}];" in first
        )


def test_a_task_that_a_start_is_given_is_handed_over(tmp_path: Path) -> None:
    """VCT has the frame's address in a variable: it doesn't know the start's arguments."""
    first, _, start = text_of(port(tmp_path, TAKEN, TASK)).partition("void os_start(void *task)")
    assert "fvm_word *sp = (fvm_word *)os_start_frame;" in first
    assert "os_start_frame = (void *)(*(fvm_word *)task + 0x24);" in start
    assert start.index("os_start_frame = ") < start.index("virt_vct_once(os_start_first);")


def test_a_task_without_a_frame_gets_one(tmp_path: Path) -> None:
    text = text_of(port(tmp_path, CALLED, ARGUMENTS))
    assert "static void *volatile os_start_frame;" in text
    start = text.partition("void os_start(uint32_t entry, uint32_t stack)")[2]
    assert "(stack - 0x20)" in start and "frame[6] = entry & 0xFFFFFFFEu;" in start
    assert "frame[7] = 0x1000000;" in start


def test_a_task_that_begins_masked_does_so_in_the_port(tmp_path: Path) -> None:
    """PRIMASK would hold the supervisor call too; BASEPRI holds only the others."""
    first, _, start = text_of(port(tmp_path, CALLED, ARGUMENTS)).partition("void os_start(uint32_t")
    assert "virt_int_restore(VIRT_PRIMASK, os_start_primask);" in first
    assert "virt_int_restore(VIRT_BASEPRI, os_start_basepri);" in first
    order = ("_basepri = virt_int_level", "mask(VIRT_BASEPRI)", "vct_once", "unmask(VIRT_PRIMASK)")
    places = [start.index(line) for line in order]
    assert places == sorted(places)


def test_a_mark_in_psp_is_set_just_before_the_first_switch(tmp_path: Path) -> None:
    text = text_of(port(tmp_path, MARKED))
    first, _, start = text.partition("void os_start(void)")
    assert first.index("USR_REG->Reg.SP = 0;") < first.index("virt_vct_trig(FVM_VIRT_SWITCH);")
    assert "virt_vct_once(os_start_first);" in start and "FVM_VIRT_SWITCH" not in start


@pytest.mark.parametrize("name", WRONG)
def test_a_start_that_is_not_understood_is_escalated(name: str, tmp_path: Path) -> None:
    (found,) = port(tmp_path, WRONG[name])
    assert (found.name, found.status) == ("os_start", "escalated")


def test_a_frame_that_is_popped_into_the_pc_is_told_apart(tmp_path: Path) -> None:
    (found,) = port(tmp_path, RESTORED.replace("pop     {r1, r2}\n    bx      r1", "pop {r1, pc}"))
    assert "otherwise than by taking its exception frame" in found.reason
    assert "switch_handler.c shows" in found.reason


STARTS = {
    "popped": (POPPED, "void os_start(void);\n"),
    "restored": (RESTORED, "void os_start(void);\n"),
    "with flags": (WITH_FLAGS, "void os_start(void);\n"),
    "selected": (SELECTED, "void os_start(void);\n"),
    "called": (CALLED, ARGUMENTS),
    "calls": (CALLS, PREPARES),
    "told apart": (TOLD_APART, "void os_start(void);\n"),
    "taken": (TAKEN, TASK),
    "taken apart": (TAKEN_APART, TASK),
    "marked": (MARKED, "void os_start(void);\n"),
}


@pytest.mark.parametrize("name", STARTS)
def test_starts_are_proved(name: str, tmp_path: Path) -> None:
    ports = port(tmp_path, *STARTS[name])
    (start,) = [port for port in ports if port.proof is not None]
    assert (start.name, start.role, start.status) == ("os_start", "start", "rewritten")
    assert start.proof is not None and start.proof.runs.states > 1000 and start.proof.paths > 0


def test_each_arm_of_a_start_has_its_own_frame(tmp_path: Path) -> None:
    text = text_of(port(tmp_path, TOLD_APART))
    first, _, start = text.partition("void os_start(void)")
    more, _, less = first.partition("#if defined(__SOFTFP__)")[2].partition("#else")
    assert "*(fvm_word *)current + 0x24)" in more and "R4 = sp[-9];" in more
    assert "*(fvm_word *)current + 0x20)" in less and "R4 = sp[-8];" in less
    assert start.count("virt_vct_once(os_start_first);") == 1


SPOILED = [
    ("popped", b"+ 0x20", b"+ 0x24"),
    ("popped", b"USR_REG->Reg.LR = 0xFFFFFFFDu;", b""),
    ("popped", b"virt_int_unmask(VIRT_PRIMASK);", b"virt_int_mask(VIRT_PRIMASK);"),
    ("popped", b"virt_vct_once(os_start_first);", b""),
    ("restored", b"USR_REG->Reg.R7 =", b"uint32_t r7 ="),
    ("restored", b"USR_REG->Reg.R7 =", b"USR_REG->Reg.R8 ="),
    ("called", b"*frame = entry;", b""),
    ("called", b"entry & 0xFFFFFFFEu", b"entry | 2"),
    ("called", b"0x1000000", b"0"),
    ("called", b"virt_int_restore(VIRT_PRIMASK, os_start_primask);", b""),
    ("called", b"virt_int_unmask(VIRT_PRIMASK);", b""),
    ("calls", b", 3);", b", 4);"),
    ("told apart", b"+ 0x24", b"+ 0x20"),
    ("told apart", b"+ 0x20", b"+ 0x24"),
    ("taken", b"(*(fvm_word *)task + 0x24)", b"(*(fvm_word *)task + 0x20)"),
    ("taken", b"USR_REG->Reg.R7 =", b"uint32_t r7 ="),
    ("marked", b"USR_REG->Reg.SP = 0;", b""),
    ("marked", b"virt_vct_trig(FVM_VIRT_SWITCH);", b""),
    ("marked", b"virt_int_unmask(VIRT_PRIMASK);", b""),
]


@pytest.mark.parametrize(("name", "right", "wrong"), SPOILED)
def test_a_wrong_port_of_a_start_is_not_accepted(
    name: str, right: bytes, wrong: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    differs = []

    def spoiled(source: Path, edited: dict[str, bytes], options: CompileOptions) -> bytes:
        changed = {name: data.replace(right, wrong) for name, data in edited.items()}
        differs.append(changed != edited)
        return port_object(source, changed, options)

    monkeypatch.setattr("porter.context_switch.proved.port_object", spoiled)
    (found,) = port(tmp_path, *STARTS[name])
    assert any(differs)
    assert found.status == "escalated" and "transcribed, but" in found.reason


BY_CALL = """\
    .syntax unified
    .thumb
    .text
    .global start
start:
    svc     #0
    bx      lr
    .global SVC_Handler
SVC_Handler:
    ldr     r1, =current
    ldr     r1, [r1]
    ldr     r0, [r1]
    ldmia   r0!, {r4-r11}
    msr     psp, r0
    orr     lr, #13
    bx      lr
"""


@pytest.mark.parametrize(
    ("prototype", "told"),
    [
        ("void start(void);", ""),
        ("void start(unsigned task);", "has parameters or a result"),
        ("int start(void);", "has parameters or a result"),
    ],
)
def test_a_start_may_be_a_supervisor_call_and_nothing_else(
    prototype: str, told: str, tmp_path: Path
) -> None:
    tree = fixture(tmp_path, BY_CALL, M3, "start.S")
    (tmp_path / "os.h").write_text(f"{prototype}\n")
    ports = {it.name: it for it in replace(tree, files=(*tree.files, tmp_path / "os.h")).port()}
    assert ports["SVC_Handler"].status == "rewritten"
    assert (ports["start"].status == "escalated") == bool(told) and told in ports["start"].reason
    assert ("virt_svc(0);" in ports["start_fvm.c"].replacement.decode()) == (not told)


def test_a_start_stays_with_a_handler_that_can_not_be_moved(tmp_path: Path) -> None:
    text = (
        BY_CALL
        + """\
    .global os_version
os_version:
    .word   42
"""
    )
    tree = fixture(tmp_path, text, M3, "start.S")
    (tmp_path / "os.h").write_text("void start(void);\nextern const int os_version;\n")
    (tmp_path / "os.c").write_text(
        '#include "os.h"\nint main(void) { start(); return os_version; }\n'
    )
    more = (tmp_path / "os.h", tmp_path / "os.c")
    ports = {it.name: it for it in replace(tree, files=(*tree.files, *more)).port()}
    assert "the project needs os_version" in ports["SVC_Handler"].reason
    assert "raises an SVC whose handler, SVC_Handler, isn't" in ports["start"].reason
    assert {it.status for it in ports.values()} == {"escalated"}


UNALIGNED = """\
    ldr     r0, =0xE000ED22
    movs    r1, #255
    str     r1, [r0]
"""


@pytest.mark.parametrize(
    ("before", "told"),
    [
        (UNALIGNED, "PendSV's priority is meant, which is the byte there, write it with strb"),
        (UNALIGNED.replace("ED22", "ED1F"), "SVCall's priority is meant"),
        (UNALIGNED.replace("ED22", "ED06"), "write whole registers"),
        (UNALIGNED.replace("ED22", "ED21").replace("str ", "strh"), "2 bytes at 0xe000ed21"),
        (UNALIGNED.replace("str ", "strb"), ""),
        (UNALIGNED.replace("str ", "strh"), ""),
    ],
)
def test_a_store_across_registers_says_what_to_write(
    before: str, told: str, tmp_path: Path
) -> None:
    found = {it.name: it for it in port(tmp_path, before + MARKED)}["os_start"]
    assert (found.status == "escalated") == bool(told) and told in found.reason
    assert found.reason.startswith("line 9: 'str") == bool(told)
