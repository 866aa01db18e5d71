"""What an assembler decides by words of its own, C decides by the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from porter.context_switch.companion_head import companion_head
from porter.context_switch.own_conditions import in_c
from porter.context_switch.result import ESCALATED, SwitchPort
from tests.porter.context_switch.test_assembler_file import named
from tests.porter.context_switch.test_dialects import ARM, ARM_SECTION, IAR_SECTION, code, port
from tests.porter.context_switch.trees import M3, M4F, fixture

# A supervisor call and PendSV share what switches; a task that is gone has no FPU state to stack.
SHARED = """\
    .syntax unified
    .thumb
#if defined(__ARM_FP) && __ARM_FP > 0
    .equ    HAS_FPU, 1
#else
    .equ    HAS_FPU, 0
#endif
    .equ    FPCCR, 0xE000EF34   @ not asked for
    .text
    .global SVC_Handler
SVC_Handler:
    mrs     r0, psp
#ifdef OS_CHECK
    nop
#endif
    push    {r0, lr}
    ldm     r0, {r0-r3, r12}
    blx     r12
    pop     {r12, lr}
    str     r0, [r12]
context:
    ldr     r3, =tasks
    ldm     r3, {r1, r2}
    cmp     r1, r2
    it      eq
    bxeq    lr
    str     r2, [r3]
    .if (HAS_FPU != 0)
    cbnz    r1, save
    tst     lr, #0x10
    bne     restore
    ldr     r3, =FPCCR
    ldr     r0, [r3]
    bic     r0, r0, #1
    str     r0, [r3]
    b       restore
    .else
    cbz     r1, restore
    .endif
save:
#ifdef OS_COUNTS
    ldr     r0, [r1, #8]
    adds    r0, #1
    str     r0, [r1, #8]
#endif
    stmdb   r12!, {r4-r11}
    .if (HAS_FPU != 0)
    tst     lr, #0x10
    it      eq
    vstmdbeq r12!, {s16-s31}
    strb    lr, [r1, #6]
    .endif
    str     r12, [r1]
restore:
    ldr     r0, [r2]
    .if (HAS_FPU != 0)
    ldrsb   lr, [r2, #6]
    tst     lr, #0x10
    it      eq
    vldmiaeq r0!, {s16-s31}
    .else
    mvn     lr, #~0xFFFFFFFD
    .endif
    ldmia   r0!, {r4-r11}
    msr     psp, r0
    bx      lr
    .global PendSV_Handler
PendSV_Handler:
    push    {r0, lr}
    bl      choose
    pop     {r0, lr}
    mrs     r12, psp
    b       context
"""


def shared(folder: Path, text: str, cpu: tuple[str, ...]) -> list[SwitchPort]:
    tree = fixture(folder, text, cpu, "switch.S")
    header = folder / "os.h"
    header.write_text("void choose(void);\n")
    return replace(tree, files=(*tree.files, header)).port()


@pytest.mark.parametrize("cpu", [M3, M4F], ids=["m3", "m4f"])
def test_conditions_of_what_a_handler_goes_on_in_are_its_own(
    cpu: tuple[str, ...], tmp_path: Path
) -> None:
    ports = shared(tmp_path, SHARED, cpu)
    handler = named(ports, "PendSV_Handler")
    assert "proved" in handler.reason
    assert "calls what r12 points to" in named(ports, "SVC_Handler").reason
    text = "\n".join(code(ports))
    assert (
        "#if defined(__ARM_FP) && __ARM_FP > 0\n#define HAS_FPU 1\n#else\n#define HAS_FPU" in text
    )
    assert "defined(OS_COUNTS)" in text and "OS_CHECK" not in text and "FPCCR" not in text
    for copy in ("USR_VSTMDB(", "USR_VLDMIA("):
        assert text.count(copy) == (1 if cpu is M4F else 0)
    assert "(HAS_FPU != 0)" in text


def test_another_change_of_lazy_stacking_is_escalated(tmp_path: Path) -> None:
    ports = shared(tmp_path, SHARED.replace("bic     r0, r0, #1", "bic     r0, r0, #2"), M4F)
    assert "FPU->FPCCR" in named(ports, "PendSV_Handler").reason


def test_what_a_tool_defines_is_asked_of_c_too(tmp_path: Path) -> None:
    """:DEF: of Arm's assembler."""
    block = "    IF :DEF:OS_COUNTS\n    LDR R3, [R2, #8]\n    ADDS R3, #1\n    STR R3, [R2, #8]\n"
    at = "                STR     R0, [R2]\n"
    ports = port(tmp_path, ARM.replace(at, f"{at}{block}    ENDIF\n"))
    assert "proved" in named(ports, "PendSV_Handler").reason
    assert "#if defined(OS_COUNTS)\n" in "\n".join(code(ports))


@pytest.mark.parametrize(
    ("assembler", "c"),
    [
        (" IF :DEF:A\n ELSE\n ENDIF", "#if defined(A)\n#else\n#endif"),
        (" IF :LNOT::DEF:A :LAND: :DEF:B\n ENDIF", "#if !defined(A) && defined(B)\n#endif"),
        ("N EQU 2\n IF N <> 1 :LOR: N = 3\n ENDIF", "#define N 2\n#if N != 1 || N == 3\n#endif"),
        (" IF {TARGET_FPU_VFP} = {TRUE}\n ENDIF", "#if defined(__ARM_FP)\n#endif"),
        (
            ' IF ({FPU}="FPv4-SP") || ({FPU}="FPv5-SP")\n ENDIF',
            "#if defined(__ARM_FP)\n#endif",
        ),
        ("N EQU 1\n#if N\n#endif", "#define N 1\n#if N\n#endif"),
    ],
)
def test_words_of_arm_and_iar(assembler: str, c: str) -> None:
    head = "    AREA |.text|, CODE\n"
    assert in_c((head + assembler).encode()).decode() == head + c


@pytest.mark.parametrize(
    "text",
    [
        " IF N = 1\n ENDIF",  # nobody defines it
        "N EQU {VERSION}\n IF N = 1\n ENDIF",
        "N EQU 1\n IF :DEF:N\n ENDIF",  # which is the assembler's to know
        ' IF {FPU} = "FPv4-SP"\n ENDIF',
    ],
)
def test_what_is_not_understood_stays(text: str) -> None:
    data = ("    AREA |.text|, CODE\n" + text).encode()
    assert in_c(data) == data


@pytest.mark.parametrize(
    ("condition", "c"),
    [
        ("N & 2 == 2", "(N & 2) == 2"),
        ("N + 1 & 1", "N + (1 & 1)"),
        ("N >> 1 + 1", "(N >> 1) + 1"),
        ("(N == 2) + 1", "(-(N == 2)) + 1"),  # true is -1
        ("N == 1 + 1 && N", "N == 1 + 1 && N"),
    ],
)
def test_gnu_conditions_mean_in_c_what_they_do_in_the_assembler(condition: str, c: str) -> None:
    text = f".equ N, 2\n.if {condition}\n.endif"
    assert in_c(text.encode()).decode() == f"#define N 2\n#if {c}\n#endif"


@pytest.mark.parametrize(
    ("section", "condition", "c"),
    [
        (IAR_SECTION, "N & 2 == 2", "(N & 2) == 2"),
        (IAR_SECTION, "N == 2|1", "N == (2 | 1)"),
        (IAR_SECTION, "(N = 2) + 1", "(N == 2) + 1"),  # true is 1
        (ARM_SECTION, "N = 0 :LOR: N = 2 :LAND: N > 1", "((N == 0) || (N == 2)) && (N > 1)"),
        (
            ARM_SECTION,
            ":DEF:A :LOR: :DEF:B :LAND: :DEF:D",
            "(defined(A) || defined(B)) && defined(D)",
        ),
    ],
)
def test_each_assembler_ranks_operators_in_its_own_way(
    section: str, condition: str, c: str
) -> None:
    text = f"{section}\n#if N\n#endif\nN EQU 2\n IF {condition}\n ENDIF"
    assert in_c(text.encode()).decode().endswith(f"#define N 2\n#if {c}\n#endif")


def test_of_a_condition_in_other_words_the_proof_sees_the_original(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What this build assembles is proved from the file as it is."""
    monkeypatch.setattr(
        "porter.context_switch.asm_file.in_c",
        lambda data: in_c(data).replace(b"(HAS_FPU != 0)", b"(HAS_FPU == 0)"),
    )
    handler = named(shared(tmp_path, SHARED, M4F), "PendSV_Handler")
    assert handler.status == ESCALATED and "proved" not in handler.reason


def test_gnu_conditions_on_labels_and_macros_stay() -> None:
    for condition in (".ifdef X", "X:\n.if X", ".if \\count", ".if . > 4"):
        text = f"{condition}\n.endif"
        assert in_c(text.encode()) == text.encode()


def test_only_what_is_asked_is_defined() -> None:
    text = b".equ A, 1\n.equ B, 2\n#ifdef C\n.equ D, 3\n#endif\n#ifdef E\n#endif\n.if A + D\n.endif"
    assert companion_head(text) == ["#define A 1", "#ifdef C", "#define D 3", "#endif"]


TWO_SWITCHES = """\
    .equ TRACE, 0
    .equ CHECK, 0
    .syntax unified
    .thumb
    .text
    .global masked
    .type masked, %function
masked:
    push {r3, lr}
    cpsid i
    .if CHECK
    bl check
    .endif
    cpsie i
    .if TRACE
    bl trace
    .endif
    pop {r3, pc}
"""


def test_constants_that_are_the_same_now_are_two(tmp_path: Path) -> None:
    tree = fixture(tmp_path, TWO_SWITCHES, M3, "switch.s")
    (tmp_path / "os.h").write_text("void masked(void); void check(void); void trace(void);\n")
    ports = replace(tree, files=(*tree.files, tmp_path / "os.h")).port()
    (new,) = [port for port in ports if port.file.suffix == ".c"]
    lines = [line.split("/*")[0].strip() for line in new.replacement.decode().splitlines()]
    assert lines.index("#if CHECK") + 1 == lines.index("check();")
    assert lines.index("#if TRACE") + 1 == lines.index("trace();")
