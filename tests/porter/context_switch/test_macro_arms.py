"""Conditions in macros that a handler's text uses are conditions of its C."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from porter.context_switch.result import SwitchPort
from tests.porter.context_switch.trees import M3, fixture

MASKED = """\
masked:
    push {r3, lr}
    cpsid i
    STATISTICS
    cpsie i
    pop {r3, pc}
"""
GNU = """\
    .syntax unified
    .thumb
    .text
MACRO    .global masked
    .type masked, %function
"""
BODY = "    bl counted\n"
GNU_MACRO = f"    .macro STATISTICS\nIF{BODY}END    .endm\n"
ARM = """\
    AREA |.text|, CODE
    THUMB
    EXPORT masked
    IMPORT counted
    MACRO
    STATISTICS
    IF :DEF:WITH_STATISTICS
    BL counted
    ENDIF
    MEND
"""
WHERE = {
    "in the macro": GNU.replace(
        "MACRO", GNU_MACRO.replace("IF", "#ifdef WITH_STATISTICS\n").replace("END", "#endif\n")
    ),
    "around the macro": GNU.replace(
        "MACRO",
        "#ifdef WITH_STATISTICS\n" + GNU_MACRO.replace("IF", "").replace("END", "") + "#else\n"
        "    .macro STATISTICS\n    .endm\n#endif\n",
    ),
    "a macro of a macro": GNU.replace(
        "MACRO",
        "    .macro INNER\n#ifdef WITH_STATISTICS\n    bl counted\n#endif\n    .endm\n"
        "    .macro STATISTICS\n    INNER\n    .endm\n",
    ),
    "a #define": GNU.replace(
        "MACRO",
        "#ifdef WITH_STATISTICS\n#define STATISTICS bl counted\n"
        "#else\n#define STATISTICS\n#endif\n",
    ),
    "a constant of the assembler": GNU.replace(
        "MACRO",
        "#ifdef WITH_STATISTICS\n    .equ COUNTS, 1\n#else\n    .equ COUNTS, 0\n#endif\n"
        + GNU_MACRO.replace("IF", "    .if COUNTS\n").replace("END", "    .endif\n"),
    ),
    "Arm's": ARM,
}


def port(folder: Path, text: str, name: str) -> dict[str, SwitchPort]:
    tree = fixture(folder, text, M3, name)
    (folder / "os.h").write_text("void masked(void); void counted(void);\n")
    return {it.name: it for it in replace(tree, files=(*tree.files, folder / "os.h")).port()}


@pytest.mark.parametrize("where", WHERE)
def test_an_arm_in_a_macro_is_an_arm_of_the_handler(where: str, tmp_path: Path) -> None:
    body = MASKED.replace("masked:", "masked PROC") + "    ENDP\n    END\n"
    text = WHERE[where] + (body if where == "Arm's" else MASKED)
    ports = port(tmp_path, text, "masks.s" if where == "Arm's" else "masks.S")
    assert ports["masked"].proof is not None, ports["masked"].reason
    lines = [it.split("/*")[0].strip()
             for it in ports["masks_fvm.c"].replacement.decode().splitlines()]  # fmt: skip
    question = "#if COUNTS" if "constant" in where else "#if defined(WITH_STATISTICS)"
    start = lines.index(question)
    assert "counted();" in lines[start : lines.index("#endif", start)]


def test_what_a_call_of_a_macro_decides_is_no_condition_of_the_build(tmp_path: Path) -> None:
    macro = "    .macro CALL name, really\n    .if \\really\n    bl \\name\n    .endif\n    .endm\n"
    text = GNU.replace("MACRO", macro) + MASKED.replace("STATISTICS", "CALL counted, 1")
    found = port(tmp_path, text, "masks.S")
    assert found["masked"].proof is not None, found["masked"].reason
    assert b"#if" not in found["masks_fvm.c"].replacement


def test_naked_c_uses_macros_too(tmp_path: Path) -> None:
    text = (
        '#if COUNTS\n#define STATISTICS "bl counted\\n"\n#else\n#define STATISTICS ""\n#endif\n'
        "void counted(void);\n__attribute__((naked)) void masked(void)\n{\n"
        '    __asm volatile("push {r3, lr}\\n cpsid i\\n"\n'
        '                   STATISTICS "cpsie i\\n pop {r3, pc}");\n}\n'
    )
    found = port(tmp_path, text, "masks.c")["masked"]
    assert found.proof is not None, found.reason
    lines = [line.split("/*")[0].strip() for line in found.replacement.decode().splitlines()]
    assert lines.index("#if COUNTS") + 1 == lines.index("counted();")


def test_what_macros_of_a_header_ask_for_is_told(tmp_path: Path) -> None:
    """C can't include such a header, so its port is this build's."""
    header = GNU_MACRO.replace("IF", "#ifdef WITH_STATISTICS\n").replace("END", "#endif\n")
    guarded = f"#ifndef MACROS_H\n#define MACROS_H\n{header}#endif\n"
    text = GNU.replace("MACRO", '#include "macros.h"\n') + MASKED
    (tmp_path / "macros.h").write_text(guarded)
    (tmp_path / "os.h").write_text("void masked(void); void counted(void);\n")
    tree = fixture(tmp_path, text, M3, "masks.S")
    files = (*tree.files, tmp_path / "os.h", tmp_path / "macros.h")
    (found,) = [it for it in replace(tree, files=files).port() if it.name == "masked"]
    assert "as this build has what macros ask for: WITH_STATISTICS in macros.h" in found.reason
