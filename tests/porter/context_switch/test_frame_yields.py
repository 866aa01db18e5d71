"""A yield without a trap for a switch handler with a frame of its own: a word that says whether
FPU state is in it, a switch that a flag requests, a first switch with nothing to save."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.porter.context_switch.cases import SOURCES
from tests.porter.context_switch.trees import M3, fixture

START = r"""
__attribute__((naked)) void start(void)
{
    __asm volatile("ldr r1, =from_stack\n mov r0, #0\n str r0, [r1]\n ldr r1, =switch_flag\n"
                   "mov r0, #1\n str r0, [r1]\n ldr r0, =0xE000ED04\n ldr r1, =0x10000000\n"
                   "str r1, [r0]\n ldr r0, =0xE000ED08\n ldr r0, [r0]\n ldr r0, [r0]\n"
                   "msr msp, r0\n cpsie i\n dsb\n isb\n bx lr\n .ltorg\n");
}
"""
FLAGGED = (SOURCES / "flagged.c").read_text() + START
SAVES, LOADS = '"   stmfd r1!, {r4 - r11}       \\n"\n', '"   ldmfd r1!, {r4 - r11}       \\n"\n'
FLAG, FPU = '"   stmfd r1!, {r4}             \\n"\n', '"   vstmdbeq r1!, {d8 - d15}    \\n"\n'
UNFLAG, FPU_BACK = '"   ldmfd r1!, {r3}             \\n"\n', "vldmiane r1!, {d8 - d15}"


def reason(folder: Path, text: str, cpu: tuple[str, ...] | None = None) -> str:
    """What the report says of the handler, which is transcribed and proved in any case."""
    tree = fixture(folder, text, *([cpu] if cpu else []))
    ports = {port.name: port for port in tree.port()}
    assert ports["PendSV_Handler"].status == "rewritten", ports["PendSV_Handler"].reason
    registers = b"virt_yield_frames(PendSV_Handler_pick)" in ports["start"].replacement
    assert registers == ("no fast yield" not in ports["PendSV_Handler"].reason)
    return ports["PendSV_Handler"].reason


def changed(*edits: tuple[str, str]) -> str:
    text = FLAGGED
    for before, after in edits:
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    return text


def line(code: str) -> str:
    return f'"{code}\\n"\n'


def test_a_conditional_switch_yields_without_a_trap(tmp_path: Path) -> None:
    found = reason(tmp_path, FLAGGED)
    assert "fast yield through PendSV_Handler_pick()" in found
    assert "800 yields equal to it" in found


def test_so_does_one_for_cores_without_fpu(tmp_path: Path) -> None:
    without = [text for text in FLAGGED.splitlines(keepends=True)
               if not any(it in text for it in ("d8", "{r4} ", "{r3}", "lr, #0x10", " it ",
                                                "mov r4", "moveq", "cmp r3", "bicne"))]  # fmt: skip
    assert "yields equal to it" in reason(tmp_path, "".join(without), M3)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            changed(
                (SAVES, line("mov r12, #7") + line("stmfd r1!, {r12}") + SAVES),
                (LOADS, LOADS + line("add r1, #4")),
            ),
            "not proved",
        ),
        (
            changed(
                (FPU, line("moveq r1, r1")),
                (SAVES, SAVES + line("tst lr, #0x10") + line("it eq") + FPU),
                (f'"   {FPU_BACK}    \\n"\n', line("movne r1, r1")),
                (LOADS, line("cmp r3, #0") + line("it ne") + line(FPU_BACK) + LOADS),
            ),
            "more than 8 bytes are saved below r4-r11",
        ),
        (
            changed((FLAG, FLAG + FLAG + FLAG), (UNFLAG, line("add r1, #8") + UNFLAG)),
            "more than 8 bytes are saved below r4-r11",
        ),
    ],
    ids=["a word between", "S16-S31 below", "three words below"],
)  # fmt: skip
def test_no_yield_where_the_library_would_look_elsewhere(
    text: str, why: str, tmp_path: Path
) -> None:
    assert why in reason(tmp_path, text)
