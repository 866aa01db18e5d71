"""What only the start-up file in assembler has is told: the generated one takes its place."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.porter.helpers import DOMAIN, escalations, port_files

_VECTORS = """\
    .syntax unified
    .thumb
    .section .vectors,"a"
    .word 0x20008000, Reset_Handler, NMI_Handler, HardFault_Handler, 0,0,0,0,0,0,0,0,0,0,0
    .word SysTick_Handler
    .text
    .thumb_func
    .global Reset_Handler
Reset_Handler:
    ldr r0, =_estack
    msr msp, r0
copy:
    bl main
    b .
    .weak NMI_Handler
NMI_Handler:
    ldr r0, =NMI_Handler
    bx r0
    .global HardFault_Handler
HardFault_Handler:
    b HardFault_Handler
"""
_IDLE = "    .global SysTick_Handler\nSysTick_Handler:\n    b SysTick_Handler\n"
_MAIN = b"extern void irq_off(void);\nint main(void) { irq_off(); for (;;) {} }\n"


def _told(folder: Path, assembler: str, main: bytes = _MAIN) -> list[str]:
    files = {"startup.s": (_VECTORS + assembler).encode(), "main.c": main}
    return [it for it in escalations(port_files(folder, files, None)) if "start-up" in it]


def test_defaults_are_no_loss(tmp_path: Path) -> None:
    assert _told(tmp_path, _IDLE) == []


@pytest.mark.parametrize(
    "body",
    ["ldr r0, =ticks\n    ldr r1, [r0]\n    adds r1, #1\n    str r1, [r0]\n    bx lr", "b on_tick"],
)
def test_a_handler(tmp_path: Path, body: str) -> None:
    (reason,) = _told(tmp_path, f"    .thumb_func\nSysTick_Handler:\n    {body}\n")
    assert "SysTick_Handler stands in the start-up file" in reason


def test_a_weak_one_that_c_overrules(tmp_path: Path) -> None:
    own = "    .weak SysTick_Handler\nSysTick_Handler:\n    bl count\n    bx lr\n"
    assert _told(tmp_path / "weak", own) == []
    main = b"void SysTick_Handler(void) {}\n" + _MAIN
    assert _told(tmp_path / "both", own.replace(".weak", ".global"), main) == []


def test_a_function_that_c_calls(tmp_path: Path) -> None:
    function = "    .thumb_func\n    .global irq_off\nirq_off:\n    cpsid i\n    bx lr\n"
    (reason,) = _told(tmp_path / "called", _IDLE + function)
    assert "irq_off stands in the start-up file" in reason
    assert _told(tmp_path / "not", _IDLE + function, b"int main(void) { for (;;) {} }\n") == []


def test_dialects_of_keil_and_iar(tmp_path: Path) -> None:
    armasm = b"""\
    AREA RESET, DATA, READONLY
    EXPORT __Vectors
__Vectors DCD 0x20008000, Reset_Handler, NMI_Handler, 0,0,0,0,0,0,0,0,0,0,0,0
    DCD SysTick_Handler
    AREA |.text|, CODE, READONLY
Reset_Handler PROC
    EXPORT Reset_Handler [WEAK]
    BL main
    ENDP
NMI_Handler PROC
    EXPORT NMI_Handler [WEAK]
    BL count
    ENDP
SysTick_Handler PROC
    EXPORT SysTick_Handler
    BL count
    BX LR
    ENDP
    END
"""
    result = port_files(tmp_path, {"startup.s": armasm, "main.c": b"int main(void) {}\n"}, None)
    (reason,) = [it for it in escalations(result) if "stands in the start-up" in it]
    assert reason.startswith("SysTick_Handler")


@pytest.mark.parametrize("label", ["1", "5$", "a$b", ".L1", "$x"])
def test_what_follows_a_label_on_its_line_is_seen(tmp_path: Path, label: str) -> None:
    text = f".syntax unified\n.thumb\n.text\nget:\n bx lr\n{label}: wfi\n bx lr\n".encode()
    main = f'int main(void) {{ __asm volatile ("nop\\n {label}: cpsid i"); }}\n'.encode()
    result = port_files(tmp_path, {"get.s": text, "main.c": main}, None)
    found = {it.site.what for port in result.files for it in port.verdicts}
    assert {"wfi", "cpsid i"} <= found


def test_a_variable_that_is_a_special_register_is_seen(tmp_path: Path) -> None:
    """armcc's named register variables, as in its CMSIS headers."""
    main = b'int main(void) { register unsigned m __asm("basepri"); m = 16; return (int)m; }\n'
    assert escalations(port_files(tmp_path, {"main.c": main}, None)) != []


def test_its_own_labels_are_no_functions_of_others(tmp_path: Path) -> None:
    """As in the start-up files of other chips that a vendor's folder has beside this one."""
    files = {
        "startup.s": _VECTORS.replace(
            "bl main", "b copied\n    nop\ncopied:\n    bl main"
        ).encode(),
        "other.s": b"    .thumb\n    .global other\nother:\ncopied:\n    bx lr\n",
        "main.c": b"int main(void) { for (;;) {} }\n",
    }
    result = port_files(tmp_path, {**files, "startup.s": files["startup.s"] + _IDLE.encode()}, None)
    assert not [it for it in escalations(result) if "start-up" in it or "any more" in it]


def test_barriers_of_a_start_up_file_are_no_loss(tmp_path: Path) -> None:
    barriers = b"static inline void __DSB(void) { }\nstatic inline void lost(void) { g(); }\n"
    start = b"""#include "core.h"
int main(void);
extern unsigned _estack;
void Reset_Handler(void) { __DSB(); lost(); main(); for (;;) { } }
void NMI_Handler(void) { for (;;) { } }
__attribute__((section(".isr_vector"))) void *const vectors[] =
    { &_estack, Reset_Handler, NMI_Handler, NMI_Handler, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
"""
    files = {
        "core.h": b"void g(void);\n" + barriers,
        "startup.c": start,
        "main.c": b'#include "core.h"\nint main(void) { __DSB(); lost(); for (;;) {} }\n',
    }
    result = port_files(tmp_path, files, replace(DOMAIN, startup=("startup.c",)))
    told = [it for it in escalations(result) if "any more" in it]
    assert [it.partition(":")[0] for it in told] == ["lost"]
