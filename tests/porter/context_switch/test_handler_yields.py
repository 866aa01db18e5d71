"""A yield without a trap by the switch handler itself: one with a frame of its own, a word that
says whether FPU state is in it, a switch that a flag requests, a first one with nothing to save."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.context_switch.result import SwitchPort
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


CALLS = "void schedule(void);\n"


def port(folder: Path, text: str, cpu: tuple[str, ...] | None = None) -> SwitchPort:
    """The handler, which is transcribed and proved in any case."""
    tree = fixture(folder, text, *([cpu] if cpu else []))
    (found,) = [it for it in tree.port() if it.name == "PendSV_Handler"]
    assert found.status == "rewritten" and found.proof is not None, found.reason
    says = b"VIRT_YIELD_HANDLER(PendSV_Handler);" in found.replacement
    assert says == ("fast yield by itself" in found.reason) != ("no fast yield" in found.reason)
    return found


def changed(*edits: tuple[str, str]) -> str:
    text = FLAGGED
    for before, after in edits:
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    return text


def line(code: str) -> str:
    return f'"{code}\\n"\n'


SHAPES = {
    "a word that says whether there is FPU state": FLAGGED,
    "a word between": changed(
        (SAVES, line("mov r12, #7") + line("stmfd r1!, {r12}") + SAVES),
        (LOADS, LOADS + line("add r1, #4")),
    ),
    "three words below": changed((FLAG, FLAG + FLAG + FLAG), (UNFLAG, line("add r1, #8") + UNFLAG)),
    "no start": FLAGGED.replace(START, ""),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_frame_of_whatever_shape_yields_without_a_trap(shape: str, tmp_path: Path) -> None:
    assert "fast yield by itself" in port(tmp_path, SHAPES[shape]).reason


def test_one_for_cores_without_fpu_has_the_librarys_frame(tmp_path: Path) -> None:
    without = [text for text in FLAGGED.splitlines(keepends=True)
               if not any(it in text for it in ("d8", "{r4} ", "{r3}", "lr, #0x10", " it ",
                                                "mov r4", "moveq", "cmp r3", "bicne"))]  # fmt: skip
    tree = fixture(tmp_path, "".join(without), M3)
    (found,) = [it for it in tree.port() if it.name == "PendSV_Handler"]
    assert "fast yield through PendSV_Handler_choose()" in found.reason
    assert "yields equal to it" in found.reason
    assert (
        b"VIRT_YIELD_OVER(PendSV_Handler, PendSV_Handler_sp, PendSV_Handler_choose, "
        b"virt_yield_short_frames);" in found.replacement
    )


STRAYS = {
    "opens interrupts": (
        'void schedule(void) { __asm volatile("cpsie i"); }\n',
        "schedule(), which choosing a task may call, opens interrupts",
    ),
    "opens by a pointer": (
        'void open(void) { __asm volatile("cpsie i"); }\nvoid (*hook)(void) = open;\n'
        "void schedule(void) { hook(); }\n",
        "open(), which choosing a task may call, opens interrupts",
    ),
}


@pytest.mark.parametrize("stray", STRAYS)
def test_what_a_yield_cant_do_waits_for_vct(stray: str, tmp_path: Path) -> None:
    defined, told = STRAYS[stray]
    calls = line("push {r0-r3, r12, lr}") + line("bl schedule") + line("pop {r0-r3, r12, lr}")
    text = changed((SAVES, calls + SAVES))
    found = port(tmp_path, CALLS + defined + text).reason
    assert "no fast yield: " in found and told in found


HARMLESS = {
    "a library": "void log_it(void);\nvoid schedule(void) { log_it(); }\n",
    "a hook": "void beep(void) { }\nvoid (*hook)(void) = beep;\nvoid schedule(void) { hook(); }\n",
    "asks for the handler": "unsigned n; void schedule(void) {\n"
    '    __asm volatile("mrs %0, ipsr" : "=r"(n)); if (n == 0) for (;;); }\n',
    "looks at its stack": "void *low; void schedule(void) { int here; low = &here; }\n",
}


@pytest.mark.parametrize("callee", HARMLESS)
def test_what_it_calls_finds_what_it_finds_in_vct(callee: str, tmp_path: Path) -> None:
    calls = line("push {r0-r3, r12, lr}") + line("bl schedule") + line("pop {r0-r3, r12, lr}")
    found = port(tmp_path, CALLS + HARMLESS[callee] + changed((SAVES, calls + SAVES))).reason
    assert "fast yield by itself" in found
