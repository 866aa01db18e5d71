"""Starts whose first task begins with FPU state, and ports of them that are wrong."""

from __future__ import annotations

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
from porter.context_switch.result import SwitchPort
from porter.project.compile_options import CompileOptions
from tests.porter.context_switch.trees import M4F, fixture

HEAD = """\
    .syntax unified
    .fpu    fpv4-sp-d16
    .thumb
    .text
    .global os_start
    .type os_start, %function
os_start:
    movs    r0, #2
    msr     control, r0         @ FPCA is clear, whoever called
    ldr     r1, =current
    ldr     r0, [r1]
    ldr     r12, [r0]
"""
WITH = """\
    add     r12, r12, #100      @ S16-S31, r4-r11 and a word of the RTOS
    ldmia   r12!, {r0-r7}
    add     r12, r12, #72       @ S0-S15, FPSCR
    msr     psp, r12
    vpush   {s0}
    vpop    {s0}
    mov     lr, r5
    cpsie   i
    bx      r6
"""
WITHOUT = """\
    add     r12, r12, #36
    ldmia   r12!, {r0-r7}
    msr     psp, r12
    mov     lr, r5
    cpsie   i
    bx      r6
"""
ASKS = """\
    ldr     r1, =0xE000ED88     @ CPACR
    ldr     r1, [r1]
    and     r1, r1, #0x00F00000
    cmp     r1, #0x00F00000
    bne     1f
"""
POPPED = """\
    adds    r12, #36
    msr     psp, r12
    isb
    pop     {r0-r3}
    pop     {r4, lr}
    pop     {r6, r7}
    add     sp, #72
    vpush   {s0-s3}
    vpop    {s0-s3}
    cpsie   i
    bx      r6
"""
STARTS = {
    "with": HEAD + WITH,
    "popped": HEAD + POPPED,
    "cleared by a mask": HEAD.replace(
        "    movs    r0, #2\n", "    mrs r0, control\n orr r0, r0, #2\n bic r0, r0, #4\n"
    ) + WITH,
    "if there is an FPU": f"{HEAD}{ASKS}{WITH}1:\n{WITHOUT}",
    "by an #if": f"{HEAD}#ifdef WITH_FPU\n{WITH}#else\n{WITHOUT}#endif\n",
    "masked before": f"{HEAD}{ASKS}{WITH}1:\n{WITHOUT}".replace(
        "os_start:\n", "os_start:\n    cpsid   i\n"
    ),
}  # fmt: skip
OTHER_USE = "in another way than to clear CONTROL.FPCA, push registers"
OTHERWISE = "otherwise than by taking its exception frame apart"
REFUSED = {
    "FPCA as it is": (
        STARTS["with"].replace("    movs    r0, #2\n", "    mrs r0, control\n orr r0, r0, #2\n"),
        OTHER_USE,
    ),
    "FPCA from a word": (
        STARTS["with"].replace("    movs    r0, #2\n", "    ldr r0, =current\n ldr r0, [r0]\n"),
        "writes CONTROL",
    ),
    "FPCA set by hand": (STARTS["with"].replace("#2\n", "#6\n", 1), "writes CONTROL"),
    "used before FPCA is cleared": (
        STARTS["with"].replace("    vpush   {s0}\n    vpop    {s0}\n", "").replace(
            "os_start:\n", "os_start:\n    vpush {s0}\n    vpop {s0}\n"
        ),
        OTHERWISE,
    ),
    "no FPU": (STARTS["with"].replace("    vpush   {s0}\n    vpop    {s0}\n", ""), OTHERWISE),
    "no room": (STARTS["with"].replace("    add     r12, r12, #72", "@"), OTHERWISE),
    "room for more": (STARTS["with"].replace("#72", "#76"), OTHERWISE),
    "another register": (STARTS["with"].replace("vpop    {s0}", "vpop    {s1}"), OTHER_USE),
    "a register of the task's": (STARTS["with"].replace("vpush   {s0}", "vpush {s16}"), OTHER_USE),
    "another word asks": (STARTS["if there is an FPU"].replace("0xE000ED88", "present"), OTHERWISE),
    "open before it is asked": (
        HEAD + "    add r12, r12, #100\n    msr psp, r12\n    cpsie i\n" + ASKS
        + "    pop {r0-r5}\n    pop {r6, r7}\n    bx r6\n1:  pop {r0-r7}\n    bx r6\n",
        "opens PRIMASK",
    ),
    "called behind it": (
        STARTS["with"].replace("    mov     lr, r5", "    bl      prepare\n    mov     lr, r5"),
        OTHERWISE,
    ),
}  # fmt: skip
WRONG = {
    "FPSCR": (b"sp[24] = 0;", b""),
    "a mode in FPSCR": (b"sp[24] = 0;", b"sp[24] = 1 << 24;"),
    "the frame": (b"+ 0x64", b"+ 0x68"),
    "without FPU state": (b"0xFFFFFFEDu", b"0xFFFFFFFDu"),
    "always with": (b"0xFFFFFFFDu", b"0xFFFFFFEDu"),
    "the other way": (b"if ((virt_cpacr() & 0xF00000) != ", b"if ((virt_cpacr() & 0xF00000) == "),
}


def port(folder: Path, text: str) -> list[SwitchPort]:
    tree = fixture(folder, text, M4F, "start.S")
    (folder / "os.h").write_text("void os_start(void);\nvoid prepare(void);\n")
    return replace(tree, files=(*tree.files, folder / "os.h")).port()


def text_of(ports: list[SwitchPort]) -> str:
    (new,) = [it for it in ports if it.file.suffix == ".c"]
    return new.replacement.decode()


@pytest.mark.parametrize("name", STARTS)
def test_a_first_task_with_fpu_state_is_proved(name: str, tmp_path: Path) -> None:
    ports = port(tmp_path, STARTS[name])
    (start,) = [it for it in ports if it.proof is not None]
    assert (start.name, start.role, start.status) == ("os_start", "start", "rewritten")
    first, _, rest = text_of(ports).partition("void os_start(void)")
    assert "sp[24] = 0;" in first and "Reg.LR = 0xFFFFFFEDu;" in first
    assert ("Reg.LR = 0xFFFFFFFDu;" in first) == (WITHOUT in STARTS[name])
    assert ("virt_cpacr()" in first) == ("1:" in STARTS[name])
    assert rest.index("virt_vct_once(os_start_first)") < rest.index("virt_int_unmask(VIRT_PRIMASK)")


@pytest.mark.parametrize("name", REFUSED)
def test_what_else_a_start_does_with_the_fpu_is_escalated(name: str, tmp_path: Path) -> None:
    text, why = REFUSED[name]
    found = {it.name: it for it in port(tmp_path, text)}
    assert found["os_start"].status == "escalated" and why in found["os_start"].reason


@pytest.mark.parametrize("oracle", [compare, equivalent])
@pytest.mark.parametrize(
    "name",
    ["FPSCR", *(pytest.param(it, marks=pytest.mark.campaign) for it in WRONG if it != "FPSCR")],
)
def test_each_oracle_finds_a_wrong_port(name: str, oracle: object, tmp_path: Path) -> None:
    right, wrong = WRONG[name]
    text = text_of(port(tmp_path, STARTS["if there is an FPU"])).encode()
    assert text.count(right) == 1
    options = with_runtime(CompileOptions((tmp_path,), (), M4F, "arm-none-eabi-gcc"))
    original = assemble(tmp_path / "start.S", options).object.raw
    source = tmp_path / "start_fvm.c"
    ported = port_object(source, {source.name: text.replace(right, wrong)}, options)
    names = ("os_start", "os_start")
    images = link_pair(original, ported, names, {}, (options.compiler, *M4F))
    with pytest.raises(NotProved):
        oracle(*images, Model("start", goes_to_task=True))  # type: ignore[operator]
