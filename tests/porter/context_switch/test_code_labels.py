"""Functions of Arm's and IAR's assemblers that no PROC announces."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from porter.context_switch.code_labels import code_labels
from tests.porter.context_switch.trees import fixture

IAR = """\
        SECTION .text:CODE:NOROOT(2)
        PUBLIC  irq_save, SysTick_Handler
        EXTERN  tick
irq_save:
        MRS     R0, BASEPRI
        MOVS    R1, #0x50
        MSR     BASEPRI, R1
        BX      LR
SysTick_Handler:
        PUSH    {R4, LR}
        BL      irq_save
        BL      tick
        CBZ     R0, no_switch
        LDR     R1, =0xE000ED04
        MOV     R2, #0x10000000
        STR     R2, [R1]
no_switch:
        POP     {R4, PC}
        END
"""
ARM = (
    IAR.replace(":\n", "\n").replace("SECTION .text:CODE:NOROOT(2)", "AREA |.text|, CODE")
    .replace("PUBLIC", "EXPORT").replace("EXTERN", "IMPORT")
)  # fmt: skip
C = """\
#include <stdint.h>
uint32_t irq_save(void);
void SysTick_Handler(void);
int tick(void) { return 1; }
"""


@pytest.mark.parametrize("text", [IAR, ARM])
def test_a_handler_calls_a_function_of_its_file(text: str, tmp_path: Path) -> None:
    tree = fixture(tmp_path, text, name="switch.s")
    c = tmp_path / "tick.c"
    c.write_text(C)
    ports = replace(tree, files=(*tree.files, c)).port()
    assert [port.reason for port in ports if port.status == "escalated"] == []
    assert "SysTick_Handler" in {port.name for port in ports if port.proof is not None}


def test_data_and_inner_labels_begin_no_function() -> None:
    text = """\
 EXPORT table, run [WEAK], |odd name|, far, put_it
 AREA data, DATA
far DCD 1
 AREA code, CODE
table
 ALIGN
 DCD 1
run ADDS r0, #1
inside BLE inside
 BLNE |callee|
 PUT
put_it
 PUT
callee
 BX lr
""".splitlines()
    assert code_labels(text, ["PUT"]) == {"run", "callee"}


def test_a_body_without_a_section_has_none() -> None:
    assert not code_labels(["again SUBS r0, #1", " BL again"], ())
