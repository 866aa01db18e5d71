"""What a handler calculates: ready bitmaps, parts of words, shifts by a register."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.context_switch import SwitchPort
from tests.porter.context_switch.test_refusals import FRAME, RESUME, port
from tests.porter.context_switch.trees import M3

M0 = ("-mcpu=cortex-m0", "-mthumb", "-mfloat-abi=soft")
BEFORE = "mrs r0, psp\nsubs r0, #32\nldr r1, =task\nldr r2, [r1]\nstr r0, [r2]\n"
BEHIND = "ldr r2, [r1]\nldr r0, [r2]\nadds r0, #32\nmsr psp, r0\nbx lr\n.ltorg\n"
CALCULATED = {
    "highest": (
        "ldr r3, =ready\nldr r3, [r3]\nclz r3, r3\nldr r2, =tasks\nldr r2, [r2, r3, lsl #2]\n"
        "str r2, [r1]\n",
        "(uint32_t)__builtin_clz(",
    ),
    "bit of a priority": (
        "ldr r3, [r2, #4]\nmovs r12, #1\nlsl r12, r12, r3\nldr r3, =ready\nstr r12, [r3]\n",
        "< 0x20) ? (1u << (r3 & 0xFF)) : 0;",
    ),
    "a byte with a sign": ("ldr r3, [r2, #4]\nsxtb r3, r3\nstr r3, [r2, #8]\n", "(int8_t)"),
    "halves": (
        "ldr r3, [r2, #4]\nsxth r12, r3\nstr r12, [r2, #8]\nasr r3, r3, #16\nstr r3, [r2, #12]\n",
        "(uint32_t)((int32_t)",
    ),
    "a field": (
        "ldr r3, [r2, #4]\nubfx r12, r3, #8, #4\nsbfx r3, r3, #12, #5\nbfi r3, r12, #3, #6\n"
        "bfc r3, #20, #4\norn r3, r3, r12\nstr r3, [r2, #8]\n",
        ">> 8) & 0xF",
    ),
    "an entry": (
        "ldrb r3, [r2, #4]\nmovs r12, #20\nmul r3, r3, r12\nldr r12, =tasks\nadd r12, r12, r3\n"
        "ldr r3, [r12]\nstr r3, [r2, #8]\n",
        "* 0x14",
    ),
    "a shift that keeps the sign": (
        "ldr r3, [r2, #4]\nldr r12, [r2, #8]\nasr r3, r3, r12\nlsr r12, r3, r12\n"
        "eor r12, r3, r12, asr #3\nstr r12, [r2, #12]\n",
        ">> 3)",
    ),
    "top of a byte": (
        "ldrb r3, [r2, #4]\nlsls r3, r3, #25\nlsr r3, r3, #31\nstr r3, [r2, #8]\n"
        "ldrb r3, [r2, #4]\nsub r3, #9\nlsr r3, r3, #4\nstr r3, [r2, #12]\n",
        "<< 25) >> 31",
    ),
    "different": ("ldr r3, [r2, #4]\nteq r3, r0\nbeq 1f\nstr r0, [r2, #4]\n1:\n", "!= "),
}


def switch(folder: Path, assembler: str, cpu: tuple[str, ...]) -> SwitchPort:
    _, ports = port(folder, ".syntax unified\n" + assembler, cpu)
    (handler,) = [it for it in ports if it.role == "switch"]
    assert "proved" in handler.reason, handler.reason
    return handler


@pytest.mark.parametrize("name", CALCULATED)
def test_is_calculated_in_c(name: str, tmp_path: Path) -> None:
    assembler, text = CALCULATED[name]
    handler = switch(tmp_path, FRAME + assembler + RESUME, M3)
    assert text in handler.replacement.decode()


def test_where_there_is_no_clz(tmp_path: Path) -> None:
    """A multiplication and shifts by registers, on ARMv6-M."""
    assembler = (
        "ldr r3, [r2, #4]\nmovs r0, #5\nmuls r3, r0\nldr r0, [r2, #8]\nlsls r3, r0\n"
        "asrs r3, r0\nstr r3, [r2, #8]\n"
    )
    switch(tmp_path, BEFORE + assembler + BEHIND, M0)
