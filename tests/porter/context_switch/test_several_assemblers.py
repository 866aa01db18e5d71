"""One file for several assemblers: macros of the preprocessor have the words of each."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from porter.context_switch.companion_head import companion_head
from porter.context_switch.conditional_text import seen, under_conditions
from porter.context_switch.project import transcribe_project
from porter.context_switch.result import SwitchPort
from porter.context_switch.variants import variants
from porter.judging.verdict import Status
from porter.port import port_project
from porter.project.vectors import SVC, Vectors
from tests.porter.context_switch.trees import M3, M4F, fixture

# Each task's EXC_RETURN is in its frame, but for a core that has no FPU and whose switch tells
# nobody: there the handler keeps its own.
SOURCE = """\
#include "settings.h"

#if defined(__ICCARM__)
#  define GLOBAL(name)        EXPORT name
#  define CONSTANT(name, n)   name EQU n
#  define LABEL(name)         name:
#elif defined(__GNUC__)
#  define GLOBAL(name)        .global name
#  define CONSTANT(name, n)   .equ name, n
#  define LABEL(name)         name:
#else
#  error which assembler is this?
#endif

#define     KEEPS_LR()      (       \\
      !defined(__ARM_FP)            \\
      && TELLS_WHO_RUNS             \\
      )

#if defined(__ICCARM__)
    SECTION .text:CODE(2)
    PRESERVE8
    EXTERN  running
#else
    .syntax unified
    .thumb
    .text
#endif
    GLOBAL(PendSV_Handler)
    GLOBAL(SVC_Handler)
    GLOBAL(request)
CONSTANT(ICSR, 0xE000ED04)
CONSTANT(PENDSVSET, 0x10000000)

LABEL(PendSV_Handler)
#if KEEPS_LR()
    push    {r7, lr}
#endif
    cpsid   i
    mrs     r2, psp
#if defined(__ARM_FP)
    tst     lr, #0x10
    it      eq
    vstmdbeq r2!, {s16-s31}
    stmdb   r2!, {r4-r11, lr}
#else
    stmdb   r2!, {r4-r11}
#endif
    ldr     r5, =running
    ldr     r6, =chosen
    ldr     r0, [r5]
    str     r2, [r0]
#if TELLS_WHO_RUNS
    ldr     r1, [r6]
    bl      on_switch
#endif
    ldr     r4, [r6]
    str     r4, [r5]
LABEL(Lresume)
    ldr     r0, [r4]
#if defined(__ARM_FP)
    ldmia   r0!, {r4-r11, lr}
    tst     lr, #0x10
    it      eq
    vldmiaeq r0!, {s16-s31}
#else
    ldmia   r0!, {r4-r11}
#endif
    msr     psp, r0
    cpsie   i
#if KEEPS_LR()
    pop     {r0, lr}
#endif
    bx      lr

LABEL(SVC_Handler)
#if KEEPS_LR()
    push    {r7, lr}
#endif
    cpsid   i
    ldr     r5, =running
    ldr     r6, =chosen
    ldr     r4, [r6]
    str     r4, [r5]
    b       Lresume

LABEL(request)
    ldr     r1, =ICSR
    ldr     r0, =PENDSVSET
    str     r0, [r1]
    bx      lr
"""
MAIN = """\
struct task { unsigned *sp; } *running, *chosen;
void request(void);
void on_switch(struct task *from, struct task *to) { (void)from; (void)to; }
"""
NAMES = ("PendSV_Handler", "SVC_Handler", "request")


def port(folder: Path, cpu: tuple[str, ...], tells: int = 0) -> dict[str, SwitchPort]:
    tree = fixture(folder, SOURCE, cpu, "switch.S")
    (folder / "settings.h").write_text(f"#define TELLS_WHO_RUNS {tells}\n")
    (folder / "main.c").write_text(MAIN)
    files = [*tree.files, folder / "main.c", folder / "settings.h"]
    found = transcribe_project(tree.root, files, tree.options, Vectors(told=[("SVC_Handler", SVC)]))
    return {it.name: it for it in found}


@pytest.mark.parametrize(("cpu", "tells"), [(M4F, 0), (M4F, 1), (M3, 0), (M3, 1)])
def test_every_function_is_proved(cpu: tuple[str, ...], tells: int, tmp_path: Path) -> None:
    ports = port(tmp_path, cpu, tells)
    for name in NAMES:
        assert ports[name].status == "rewritten" and ports[name].proof, ports[name].reason


def test_what_goes_on_in_the_switch_is_a_handler_if_the_vector_table_says_so(
    tmp_path: Path,
) -> None:
    assert port(tmp_path, M4F)["SVC_Handler"].role == "svc"


def test_the_c_asks_what_the_file_asks(tmp_path: Path) -> None:
    text = port(tmp_path, M4F)["switch_fvm.c"].replacement.decode()
    head, _, body = text.partition("void PendSV_Handler(void)")
    assert "#define KEEPS_LR() ( !defined(__ARM_FP) && TELLS_WHO_RUNS )" in head
    assert "ICSR" not in head and "LABEL" not in head
    body = body[: body.index("\n}\n")]
    # Of what is the same in all arms nothing is there twice.
    assert body.count("msr psp") == 1 and body.count("mrs r2, psp") == 1
    assert body.count("on_switch(") == 1


def test_macros_of_the_preprocessor_are_no_instructions(tmp_path: Path) -> None:
    (tmp_path / "switch.S").write_text(SOURCE)
    (tmp_path / "settings.h").write_text("#define TELLS_WHO_RUNS 1\n")
    (tmp_path / "main.c").write_text(MAIN)
    verdicts = [it for file in port_project(tmp_path, cpu=M4F).files for it in file.verdicts]
    constants = [it for it in verdicts if it.site.what.startswith("constant")]
    assert constants and {it.status for it in constants} == {Status.LEFT}
    assert {it.status for it in verdicts} == {Status.LEFT, Status.REWRITTEN}


def test_the_rest_of_the_file_is_assembled_without_them(tmp_path: Path) -> None:
    ports = port(tmp_path, M4F)
    for it in sorted(ports.values(), key=lambda it: (str(it.file), -it.start)):
        data = it.file.read_bytes() if it.file.exists() else b""
        it.file.write_bytes(data[: it.start] + it.replacement + data[it.end :])
    command = ["arm-none-eabi-gcc", *M4F, "-c", "-o", "/dev/null", str(tmp_path / "switch.S")]
    subprocess.run(command, check=True)


def test_a_definition_that_decides_stands_where_it_stands() -> None:
    text = b"""\
#include "a.h"
#ifdef BOARD
#include "board.h"
#define FAST (SPEED > 2)  /* two */
#define SPEED 3
#else
#define LABEL(x) x:
#endif
#undef OTHER
#if FAST
#endif
"""
    inside = ["#ifdef BOARD", '#include "board.h"', "#define FAST (SPEED > 2)", "#define SPEED 3"]
    assert companion_head(text) == ['#include "a.h"', *inside, "#else", "#endif"]


def choices_of(text: str) -> set[tuple[int, ...]]:
    data = text.encode()
    found = variants(data, "switch.S", [(data.index(b"start"), len(data))], lambda name: True)
    return {tuple(number for _, number in it.choices) for it in found}


BOTH = "start\n#if BOTH\nnop\n#endif\n#if defined(A)\nnop\n#endif\n"


def test_what_a_macro_of_the_file_says_cant_be_otherwise() -> None:
    assert choices_of(f"#define BOTH defined( A ) && B\n{BOTH}") == {(0, 0), (1, 0), (1, 1)}


@pytest.mark.parametrize(
    "head",
    [
        "#ifdef X\n#define BOTH defined(A)\n#endif\n",
        "#define BOTH defined(A)\n#undef BOTH\n",
        "#define BOTH defined(A)\n#define BOTH 1\n",
    ],
)
def test_a_macro_that_may_be_something_else_decides_nothing(head: str) -> None:
    assert choices_of(head + BOTH) == {(0, 0), (0, 1), (1, 0), (1, 1)}


def test_conditions_inside_conditions_are_told_apart() -> None:
    a, b = ("defined(A)",), ("defined(B)",)
    texts = [
        (((a, 0), (b, 0)), ("{", "x", "both", "y", "}")),
        (((a, 0), (b, 1)), ("{", "x", "first", "y", "}")),
        (((a, 1), (b, 0)), ("{", "second", "y", "}")),
        (((a, 1), (b, 1)), ("{", "none", "y", "}")),
    ]
    merged = under_conditions(texts)
    assert merged.count("y") == 1 and merged.count("x") == 1
    for key, lines in texts:
        assert seen(merged, dict(key)) == list(lines)


def test_a_comment_of_several_lines_is_told_apart_whole() -> None:
    key = ("defined(A)",)
    texts = [
        (((key, 0),), ("{", "/* one,", " * two. */", "x", "/* y */", "}")),
        (((key, 1),), ("{", "/* one,", " * other. */", "x", "/* y */", "}")),
    ]
    merged = under_conditions(texts)
    assert merged.count("x") == 1 and merged.count("/* y */") == 1
    assert merged[merged.index("/* one,") - 1] == "#if defined(A)"
