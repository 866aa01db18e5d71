"""Arm's and IAR's assemblers write the same instructions: the same C comes out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from porter.context_switch.assemble import assemble
from porter.context_switch.dialect import gnu_text
from porter.context_switch.place import Place
from porter.context_switch.result import NotTranscribable, SwitchPort
from porter.judging.verdict import Status
from porter.port import port_project
from porter.project.compile_options import CompileOptions
from tests.porter.context_switch.test_assembler_file import named
from tests.porter.context_switch.trees import M3, M4F, fixture

ARM_SECTION = "    AREA |.text|, CODE"
IAR_SECTION = "    SECTION .text:CODE:NOROOT(2)"
GNU = """\
    .syntax unified
    .thumb
    .equ    PENDSVSET, 0x10000000
    .text
    .global request
request:
    ldr     r0, =0xE000ED04
    ldr     r1, =PENDSVSET
    str     r1, [r0]
    bx      lr
    .global PendSV_Handler
PendSV_Handler:
    mrs     r0, psp
    cbz     r0, chosen
    stmdb   r0!, {r4-r11}       @ save
    ldr     r1, =current
    ldr     r2, [r1]
    str     r0, [r2]
chosen:
    push    {r3, lr}
    bl      choose
    pop     {r3, lr}
    ldr     r1, =current
    ldr     r2, [r1]
    ldr     r0, [r2]
    ldmia   r0!, {r4-r11}
    msr     psp, r0
    bx      lr
"""
ARM = """\
; Arm's assembler.
PENDSVSET       EQU     0x10000000
                AREA    |.text|, CODE, READONLY, ALIGN=2
                THUMB
                REQUIRE8
                PRESERVE8
                IMPORT  current

                MACRO
                CHOOSE  $function
                PUSH    {R3, LR}
                BL      $function
                POP     {R3, LR}
                MEND

request         PROC
                EXPORT  request
                LDR     R0, =0xE000ED04
                LDR     R1, =PENDSVSET :OR: 0
                STR     R1, [R0]
                BX      LR
                ENDP

PendSV_Handler  PROC
                EXPORT  PendSV_Handler
                IMPORT  choose

                MRS     R0, PSP
                CBZ     R0, chosen
                STMDB   R0!, {R4-R11}   ; save
                LDR     R1, =current
                LDR     R2, [R1]
                STR     R0, [R2]
chosen
                CHOOSE  choose
                LDR     R1, =current
                LDR     R2, [R1]
                LDR     R0, [R2]
                LDMIA   R0!, {R4-R11}
                MSR     PSP, R0
                BX      LR
                ENDP
                ALIGN
                END
"""
IAR = """\
#define UNUSED 1 /* IAR's assembler has a preprocessor */
PENDSVSET DEFINE 0x10000000
        EXTERN  current
        EXTERN  choose
        PUBLIC  request
        PUBLIC  PendSV_Handler
        RSEG    CODE:CODE:NOROOT(2)
        THUMB
request:
        MOV32   R0, #0xE000ED04
        MOV32   R1, #PENDSVSET
        STR     R1, [R0]
        BX      LR
PendSV_Handler:
        MRS     R0, PSP
        CBZ     R0, chosen
        STMDB   R0!, {R4-R11}   // save
        LDR     R1, =current
        LDR     R2, [R1]
        STR     R0, [R2]
chosen:
        PUSH    {R3, LR}
        BL      choose
        POP     {R3, LR}
        LDR     R1, =current
        LDR     R2, [R1]
        LDR     R0, [R2]
        LDMIA   R0!, {R4-R11}
        MSR     PSP, R0
        BX      LR
        END
"""


def port(folder: Path, text: str, cpu: tuple[str, ...] = M3) -> list[SwitchPort]:
    tree = fixture(folder, text, cpu, "switch.s")
    header = folder / "os.h"
    header.write_text("void choose(void);\nvoid request(void);\n")
    return replace(tree, files=(*tree.files, header)).port()


def code(ports: list[SwitchPort]) -> list[str]:
    """The companion without its comments."""
    (new,) = [port for port in ports if port.file.suffix == ".c"]
    lines = [line.partition("/*")[0].rstrip() for line in new.replacement.decode().splitlines()]
    return [line for line in lines if line]


@pytest.fixture(scope="module")
def of_gnu(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return code(port(tmp_path_factory.mktemp("gnu"), GNU))


FRAMED = "//**********\n//* a port *\n//**********\n" + IAR.replace("//", "; /*", 1)
# A macro with a parameter for the label in front of it, and one whose name a point ends.
MACRO = """\
                MACRO
$at             CHOOSE  $what
$at             PUSH    {R3, LR}
                BL      $what.ose
"""
LABELLED = ARM.replace("choose\n                LDR", "cho\n                LDR").replace(
    ARM[ARM.index("                MACRO") : ARM.index("                POP")], MACRO
)
CALLED_AT_LABEL = LABELLED.replace("chosen\n                CHOOSE", "chosen          CHOOSE")


def numbered(label: str, use: str, text: str = ARM) -> str:
    """The label of the handler as a local one."""
    assert text.count("chosen") == 2
    return text.replace("\nchosen", f"\n{label}").replace("R0, chosen", f"R0, {use}")


NUMBERED = {
    "alone": numbered("10", "%F10"),
    "with its instruction": numbered("7", "%FT7", CALLED_AT_LABEL.replace("$at", "     ", 2)),
    "in all levels": numbered("10", "%FA10"),
    "any way": numbered("10", "%10"),
    "of a routine": numbered("10Switch", "%F10Switch").replace(
        "PendSV_Handler  PROC", "Switch ROUT\nPendSV_Handler  PROC"
    ),
    "behind another": numbered("10", "%F10").replace("request         PROC", "request PROC\n10"),
}
IAR_CALL = "        PUSH    {R3, LR}\n        BL      choose\n        POP     {R3, LR}\n"
IAR_MACRO = "CALL    MACRO   function\n" + IAR_CALL.replace("choose", "function") + "        ENDM\n"


def iar_with(macro: str) -> str:
    """The call in a macro."""
    return IAR.replace(IAR_CALL, "        CALL    choose\n").replace(
        "request:", macro + "request:"
    )  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [ARM, IAR, ARM.replace("\n", "\r\n"), FRAMED, LABELLED, CALLED_AT_LABEL,
     iar_with(IAR_MACRO), iar_with(IAR_MACRO.replace("BL      function", "BL      \\1"))],
    ids=["arm", "iar", "crlf", "framed", "label", "called at a label", "iar's macro", "numbered"],
)  # fmt: skip
def test_the_same_c_comes_out(text: str, tmp_path: Path, of_gnu: list[str]) -> None:
    assert code(port(tmp_path, text)) == of_gnu


IAR_LIST = IAR.replace("        EXTERN  choose\n", "").replace("        PUBLIC  request\n", "")
LISTS = {
    "IAR": IAR_LIST.replace("current\n", "current, choose\n", 1).replace(
        "PUBLIC  PendSV", "PUBLIC  request , PendSV"
    ),
    "Arm": ARM.replace("EXPORT  request", "EXPORT  request [CODE]"),
}


@pytest.mark.parametrize("kind", LISTS)
def test_names_may_stand_in_lists(kind: str, tmp_path: Path, of_gnu: list[str]) -> None:
    assert code(port(tmp_path, LISTS[kind])) == of_gnu


def test_a_list_may_declare_what_stays(tmp_path: Path) -> None:
    text = IAR.replace("PUBLIC  request", "PUBLIC  plain, request").replace(
        "        END\n", "plain:\n        MOVS R0, #1\n        BX LR\n        END\n"
    )
    ports = port(tmp_path, text)
    assert named(ports, "request").status == "rewritten", named(ports, "request").reason
    assert named(ports, "PendSV_Handler").status == "rewritten"


@pytest.mark.parametrize("how", NUMBERED)
def test_labels_may_be_numbers(how: str, tmp_path: Path, of_gnu: list[str]) -> None:
    assert code(port(tmp_path, NUMBERED[how])) == of_gnu


def test_an_instruction_behind_a_number_is_one_of_the_function(tmp_path: Path) -> None:
    text = ARM.replace("                MSR     PSP, R0", "10              MSR     PSP, R0")
    ports = port(tmp_path, text)
    (new,) = [port for port in ports if port.file.suffix == ".c"]
    assert b"/* MSR PSP, R0" in new.replacement and b"10 " not in new.replacement


def test_what_gnus_assembler_refuses_is_told_by_its_line(tmp_path: Path) -> None:
    text = ARM.replace(
        "$function\n                PUSH", "$function\n                MEXIT\n                PUSH"
    )
    line = 1 + text[: text.index("                MEXIT")].count("\n")
    (found,) = port(tmp_path, text)
    assert found.status == "escalated"
    assert f"rewritten for GNU's assembler: switch.s:{line}: Error: bad instruction" in found.reason


def test_a_name_for_an_address_is_no_site_of_its_own(tmp_path: Path) -> None:
    text = ARM.replace("=0xE000ED04", "=ICSR").replace(
        "PENDSVSET  ", "ICSR  EQU 0xE000ED04\nPENDSVSET  ", 1
    )
    (tmp_path / "switch.s").write_text(text)
    (tmp_path / "k.c").write_text("void choose(void);\nvoid request(void);\n")
    found = [it for file in port_project(tmp_path, cpu=M3).files for it in file.verdicts]
    assert {it.status for it in found} == {Status.REWRITTEN, Status.LEFT}


def test_a_callee_may_be_declared_for_cpp(tmp_path: Path) -> None:
    tree = fixture(tmp_path, ARM, M3, "switch.s")
    header = tmp_path / "os.h"
    header.write_text('extern "C" void choose(void);\nvoid request(void);\n')
    ports = replace(tree, files=(*tree.files, header)).port()
    assert named(ports, "PendSV_Handler").status == "rewritten"


def test_comments_show_what_the_author_wrote(tmp_path: Path) -> None:
    (new,) = [port for port in port(tmp_path, ARM) if port.file.suffix == ".c"]
    assert b"/* STMDB R0!, {R4-R11} */" in new.replacement


def test_the_file_keeps_its_dialect(tmp_path: Path) -> None:
    handler = named(port(tmp_path, ARM), "PendSV_Handler")
    assert handler.replacement == b"; PendSV_Handler: in switch_fvm.c.\n"
    text = ARM.encode()[handler.start : handler.end]
    assert text.startswith(b"PendSV_Handler  PROC") and b" ENDP\n" in text


@pytest.mark.parametrize("line", ["    IF {FPU} != 1", "    IF FAST = 1", "    WHILE n > 1"])
def test_what_its_assembler_decides_is_escalated(line: str, tmp_path: Path) -> None:
    text = ARM.replace("                MSR     PSP, R0\n", f"{line}\n    NOP\n    ENDIF\n")
    (found,) = port(tmp_path, text + "; psp\n    MSR     PSP, R0\n")
    number = 1 + text[: text.index(line)].count("\n")
    told = f"switch.s:{number}: '{line.split()[0]}' of its assembler decides"
    assert found.status == "escalated" and told in found.reason


FPU_TESTS = {
    "Arm": ('                IF      {FPU} != "SoftVFP"  ; has it', "                ENDIF"),
    "old Arm": ("                IF {TARGET_FPU_VFP} = {TRUE}", "                ENDIF"),
    "IAR": ("#if defined ( __ARMVFP__ )", "#endif"),
}


def with_fpu(opens: str, closes: str) -> str:
    """S16-S31 in every frame of a core that has them."""
    save = f"{opens}\n                VSTMFD  R0!, {{D8-D15}}\n{closes}\n"
    load = f"{opens}\n                VLDMFD  R0!, {{D8-D15}}\n{closes}\n"
    text = ARM.replace("                STMDB   R0!", f"{save}                STMDB   R0!")
    return text.replace("                MSR     PSP", f"{load}                MSR     PSP")


@pytest.mark.parametrize("kind", FPU_TESTS)
def test_tests_for_an_fpu_are_conditions_of_the_c_too(kind: str, tmp_path: Path) -> None:
    ports = port(tmp_path, with_fpu(*FPU_TESTS[kind]), M4F)
    text = "\n".join(code(ports))
    for copy in ("    USR_VSTMDB(sp);", "USR_VLDMIA(sp);"):
        assert text.count(f"#if defined(__ARM_FP)\n    {copy}\n#endif\n") == 1
    assert "proved" in named(ports, "PendSV_Handler").reason


def test_directives_that_say_nothing_of_instructions_are_left_out(tmp_path: Path) -> None:
    head = "    AAPCS INTERWORK, VFP_COMPATIBLE, ROPI\n    SECTION .text:CODE(2)\n    ATTR FPU\n"
    text = (
        head + "    PUBWEAK masked\nmasked:\n    mrs r0, primask\n    cpsid i\n    bx lr\n    END\n"
    )
    tree = fixture(tmp_path, text, M3, "masks.s")
    (tmp_path / "masks.h").write_text("unsigned masked(void);\n")
    ports = {
        port.name: port for port in replace(tree, files=(*tree.files, tmp_path / "masks.h")).port()
    }
    assert ports["masked"].status == "rewritten", ports["masked"].reason
    assert b"__attribute__((weak)) uint32_t masked(void)" in ports["masks_fvm.c"].replacement


@pytest.mark.parametrize(
    ("section", "operand", "value"),
    [
        (ARM_SECTION, "1+1:OR:1", 3),
        (ARM_SECTION, "1:SHL:2*3", 64),
        (ARM_SECTION, "6:AND:3+8", 10),
        (IAR_SECTION, "1<<4+1", 32),
        (IAR_SECTION, "3+1&2", 0),
        (IAR_SECTION, "1:SHL:4+1", 17),  # a synonym with a rank of its own
        (IAR_SECTION, "1|2|4", 7),
        (IAR_SECTION, "5==5", 1),
        (IAR_SECTION, "(1<2)+1", 2),
    ],
)
def test_operands_have_the_values_of_their_own_assembler(
    section: str, operand: str, value: int, tmp_path: Path
) -> None:
    source = tmp_path / "switch.s"
    source.write_text(f"{section}\nN EQU {operand}\n DCD N, {operand}\n MOV R1, #{operand}\n END\n")
    unit = assemble(source, CompileOptions((), (), M3, "arm-none-eabi-gcc")).object
    moved = bytes([0x4F, 0xF0, value, 1])
    assert value.to_bytes(4, "little") * 2 + moved in unit.raw


@pytest.mark.parametrize("name", ["FRAME", "Frame", "DATA", "Name", "ENTRY", "OPT", "ALIGN"])
@pytest.mark.parametrize("how", ["{} EQU 9*4", "{}\tSET\t36", "{} DEFINE 36", "{}: EQU 36"])
def test_a_constant_may_have_a_directives_name(how: str, name: str, tmp_path: Path) -> None:
    source = tmp_path / "switch.s"
    source.write_text(f"{how.format(name)}\n{IAR_SECTION}\n MOV R1, #{name}\n DC32 {name}\n END\n")
    unit = assemble(source, CompileOptions((), (), M3, "arm-none-eabi-gcc")).object
    assert bytes([0x4F, 0xF0, 36, 1, 36, 0, 0, 0]) in unit.raw


@pytest.mark.parametrize("name", ["set", "define", "equ"])
def test_a_function_may_have_an_equates_name(name: str) -> None:
    text = gnu_text(f"PUBLIC {name}\n{IAR_SECTION}\n".encode(), Place("switch.s"))
    assert text.startswith(f".global {name}\n".encode())


def test_calculating_with_a_comparison_is_none_of_arms(tmp_path: Path) -> None:
    text = ARM.replace("=PENDSVSET :OR: 0", "=PENDSVSET + (1 = 1)")
    with pytest.raises(NotTranscribable, match="the result of a comparison"):
        gnu_text(text.encode(), Place("switch.s"))


ARM_MACRO = " MACRO\n PUT $n\n MOV R1, #{use}\n MEND\n MACRO\n AGAIN $n\n PUT $n\n MEND\n"
IAR_PUT = "PUT MACRO n\n MOV R1, #{use}\n ENDM\nAGAIN MACRO n\n PUT n\n ENDM\n"
ARGUMENTS = [
    (ARM_SECTION + "\n" + ARM_MACRO, "$n:SHL:1", "$n", "($n):SHL:1"),
    (IAR_SECTION + "\n" + IAR_PUT, "n*2", "n", "(n)*2"),
]


@pytest.mark.parametrize(("head", "beside", "alone", "inside"), ARGUMENTS, ids=["Arm", "IAR"])
def test_an_argument_that_is_a_sum_means_what_it_did(
    head: str, beside: str, alone: str, inside: str, tmp_path: Path
) -> None:
    source = tmp_path / "switch.s"

    def moved(use: str, call: str) -> bool:
        source.write_text(f"{head.format(use=use)} {call}\n END\n")
        unit = assemble(source, CompileOptions((), (), M3, "arm-none-eabi-gcc")).object
        return bytes([0x4F, 0xF0, 6, 1]) in unit.raw

    assert moved(alone, "PUT 4+2")
    assert moved(inside, "AGAIN 1+2")
    assert moved(beside, "AGAIN (1+2)")
    assert moved(beside, "PUT 3")
    for call in ("PUT 1+2", "AGAIN 1+2"):
        with pytest.raises(NotTranscribable, match=r"'1\+2' comes to stand beside an operator"):
            moved(beside, call)


def with_made_label(label: str, colon: str = "") -> str:
    """The switch behind a macro whose label is made of what it is given."""
    macro = (
        "                MACRO\n                AGAIN   $at\n"
        f"{label}{colon}\n                SUBS    R0, R0, #1\n"
        f"                BNE     {label}\n                MEND\n"
    )
    plain = "plain           PROC\n                AGAIN   wait\n                BX      LR\n"
    head, end, tail = ARM.rpartition("                END")
    return macro + head + plain + end + tail


@pytest.mark.parametrize("colon", ["", ":"])
@pytest.mark.parametrize("label", ["$at.Exit", "Exit$at", "$at._$at"])
def test_a_macro_may_make_labels_of_what_it_is_given(
    label: str, colon: str, tmp_path: Path, of_gnu: list[str]
) -> None:
    assert code(port(tmp_path, with_made_label(label, colon))) == of_gnu


def test_a_label_made_of_the_one_in_front_of_a_macro_is_escalated(tmp_path: Path) -> None:
    text = with_made_label("$at.Exit").replace(
        "                AGAIN   $at", "$at             AGAIN"
    )
    (found,) = port(tmp_path, text.replace("                AGAIN   wait", "wait            AGAIN"))
    assert found.status == "escalated"
    assert "switch.s:3: a label is made of the one in front of the macro's call" in found.reason
