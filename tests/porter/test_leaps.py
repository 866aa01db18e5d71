"""Jumps out of the program in assembler that nothing privileged gives away."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.asm.leaps import WHY_NUMBER, WHY_PROGRAM, WHY_RETURN, WHY_STACK
from tests.porter.helpers import escalations, port_files, port_text

HEAD = b"    .syntax unified\n    .thumb\n    .text\n    .type go, %function\ngo:\n"
RETURNS = [
    "ldr r0, =0xFFFFFFF9\n bx r0",
    "ldr lr, =0xfffffffd\n bx lr",
    "mvn lr, #6\n bx lr",
    "mov r3, #-3\n mov pc, r3",
    "movw r1, #0xfff1\n movt r1, #0xffff\n bx r1",
    "ldr pc, =0xFFFFFFED",
    "orr lr, lr, #4\n bx lr",
]
PROGRAMS = [
    "ldr sp, [r0]\n ldr pc, [r0, #4]",
    "ldr r0, =0x08004000\n ldr r1, [r0]\n mov sp, r1\n ldr r0, [r0, #4]\n bx r0",
    "ldr r1, [r0, #4]\n ldr sp, [r0, #0]\n blx r1",
]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        *((it, WHY_RETURN) for it in RETURNS),
        *((it, WHY_PROGRAM) for it in PROGRAMS),
        ("ldr r0, =0x08004001\n bx r0", WHY_NUMBER),
        ("ldr sp, =0x20001000\n bl main", WHY_STACK),
        ("mov r0, #0\n ldr sp, =0x20001000", WHY_STACK),
    ],
)
@pytest.mark.parametrize("is_c", [True, False])
def test_a_leap_is_told(tmp_path: Path, text: str, reason: str, is_c: bool) -> None:
    lines = "\n".join(f'"{line}\\n"' for line in text.split("\n"))
    c = f"void go(void) {{ __asm volatile({lines}); }}\n"
    file = {"main.c": c.encode()} if is_c else {"go.s": HEAD + text.encode() + b"\n"}
    (told,) = escalations(port_files(tmp_path, file))
    assert told.endswith(": " + reason)


@pytest.mark.parametrize(
    "text",
    [
        "bx lr",
        "mov r0, #1\n bx r1",
        "ldr r0, =main\n bx r0",
        "ldr sp, =_estack\n bl main",
        "orr lr, lr, #1\n bx lr",
        "ldr r0, [r1]\n blx r0",
        "ldr sp, [r0]\n pop {r4-r11, pc}",  # a switch of tasks
        "stmia r0!, {r4-r11}\n str sp, [r0]\n ldr sp, [r1]\n ldr pc, [r1, #4]",
        "ldmia r0!, {r4-r11}\n ldr sp, [r0]\n ldr pc, [r0, #4]",  # longjmp()
        "ldr sp, [r0]\n ldr lr, [sp, #4]\n bx lr",
        "ldr r0, =0xFFFFFFF9\n str r0, [r1]\n bx lr",
        "mvn r0, #0\n bx lr",
    ],
)
def test_other_jumps_are_not(tmp_path: Path, text: str) -> None:
    quoted = text.replace("\n", "\\n")
    result = port_files(
        tmp_path,
        {
            "main.c": f'void go(void) {{ __asm volatile("{quoted}"); }}\n'.encode(),
            "go.s": HEAD + text.encode() + b"\n",
        },
    )
    assert [port for port in result.files if port.verdicts] == []


@pytest.mark.parametrize(
    "text",
    [
        b"__asm void rte(void)\n{\n    MVN LR,#:NOT:0xFFFFFFF9\n    BX LR\n}\n",
        b'#define RETURN "0xFFFFFFFD"\nvoid f(void) { __asm("ldr lr, =" RETURN "\\n bx lr"); }\n',
        b'#define RETURN 0xFFFFFFFD\nvoid f(void) { __asm("bx %0" :: "r"(RETURN)); }\n',
        b'#define RETURN 0xFFFFFFFD\nvoid f(void) { __asm("bx %[to]" :: [to] "r"(RETURN)); }\n',
        b'#define END() __asm("mvn lr, #6\\n bx lr")\nvoid f(void) { END(); }\n',
    ],
)
def test_in_the_ways_that_c_writes_it(tmp_path: Path, text: bytes) -> None:
    _, port = port_text(tmp_path, text)
    (verdict,) = port.verdicts
    assert verdict.status.value == "escalated"


@pytest.mark.parametrize(
    "text",
    [
        b"#define BACK 0xFFFFFFF9\n" + HEAD + b"    ldr r0, =BACK\n    bx r0\n",
        b"    .equ BACK, 0xFFFFFFF9\n" + HEAD + b"    ldr r0, =BACK\n    bx r0\n",
        b"BACK EQU 0xFFFFFFF9\n AREA code, CODE\n EXPORT go\ngo\n LDR R0, =BACK\n BX R0\n END\n",
    ],
)
def test_by_the_name_of_a_number(tmp_path: Path, text: bytes) -> None:
    (told,) = escalations(port_files(tmp_path, {"go.S": text}))
    assert told.endswith(WHY_RETURN)


def test_a_transcribed_handler_has_no_leaps(tmp_path: Path) -> None:
    """What it does with EXC_RETURN its C does otherwise."""
    text = (
        b"typedef struct { unsigned *top; } Task;\nextern Task *volatile current;\n"
        b"__attribute__((naked)) void SVC_Handler(void)\n{\n    __asm volatile(\n"
        b'        "ldr r3, =current\\n ldr r1, [r3]\\n ldr r0, [r1]\\n ldmia r0!, {r4-r11}\\n"\n'
        b'        "msr psp, r0\\n isb\\n mov r0, #0\\n msr basepri, r0\\n orr r14, #0xd\\n"\n'
        b'        "bx r14\\n");\n}\n'
    )
    result = port_files(tmp_path, {"main.c": text})
    assert all("EXC_RETURN" not in it for it in escalations(result))


@pytest.mark.parametrize(("between", "is_told"), [("\n    ", True), (" f(); ", False)])
def test_in_statements_one_after_the_other(between: str, is_told: bool, tmp_path: Path) -> None:
    lines = ("ldr r1, [r0]", "mov sp, r1", "ldr r0, [r0, #4]", "blx r0")
    body = between.join(f'asm("{line}");' for line in lines)
    text = f"void f(void);\nvoid go(unsigned at) {{ {body} }}\n"
    _, port = port_text(tmp_path, text.encode(), None)
    assert any(WHY_PROGRAM in it.reason for it in port.verdicts) == is_told
