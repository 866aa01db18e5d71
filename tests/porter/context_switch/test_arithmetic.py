"""What a handler calculates: ready bitmaps, parts of words, shifts by a register."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.context_switch.result import SwitchPort
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
    "a number of two words": (
        "ldrd r3, r12, [r2, #4]\nadds r3, r3, r0\nadc r12, r12, #0\nstrd r3, r12, [r2, #4]\n",
        ") ? 1 : 0;",
    ),
    "a difference of two words": (
        "ldrd r3, r12, [r2, #4]\nsubs r3, r3, r0\nsbc r12, r12, r0\nstrd r3, r12, [r2, #4]\n",
        " - 1",
    ),
    "a difference under a flag of the upper word": (
        "ldrd r3, r12, [r2, #4]\nsubs r3, r3, r0\nsbcs r12, r12, r0\nbmi 1f\n"
        "strd r3, r12, [r2, #4]\n1:\n",
        "if (",
    ),
    "a number of three words": (
        "ldrd r3, r12, [r2, #4]\nadds r3, r3, r0\nadcs r12, r12, #0\n"
        "strd r3, r12, [r2, #4]\nldr r3, [r2, #12]\nadc r3, r3, #0\nstr r3, [r2, #12]\n",
        "carry",
    ),
    "an index": (
        "ldrb r3, [r2, #4]\nmovs r12, #20\nldr r0, =tasks\nmla r0, r3, r12, r0\n"
        "mls r3, r12, r3, r0\nldr r0, [r0]\nstrd r3, r0, [r2, #4]\nldr r0, [r2]\n",
        "* 0x14",
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


@pytest.mark.parametrize(
    ("between", "reason"),
    [
        ("lsls r3, r3, #1\n", "the carry behind 'lsls r3, r3, #1'"),
        ("push {r1-r3}\nbl choose\npop {r1-r3}\n", "the call of choose() destroyed"),
    ],
)
def test_a_carry_that_isnt_known_is_refused(between: str, reason: str, tmp_path: Path) -> None:
    body = f"ldr r3, [r2, #4]\nadds r3, r0\n{between}adc r3, r3, #0\nstr r3, [r2, #4]\n"
    _, ports = port(tmp_path, ".syntax unified\n" + FRAME + body + RESUME, M3)
    assert any(reason in it.reason for it in ports if it.status == "escalated"), ports


def test_flags_of_a_sum_without_s_are_older_ones(tmp_path: Path) -> None:
    """Capstone has it that every adc sets flags."""
    body = "ldr r3, [r2, #4]\nadds r3, r0\nadc r3, r3, #0\nbmi 1f\nstr r3, [r2, #4]\n1:\n"
    text = switch(tmp_path, FRAME + body.replace("adds", "adds.w") + RESUME, M3).replacement
    assert b"if (" in text


def test_where_there_is_no_clz(tmp_path: Path) -> None:
    """A multiplication and shifts by registers, on ARMv6-M."""
    assembler = (
        "ldr r3, [r2, #4]\nmovs r0, #5\nmuls r3, r0\nldr r0, [r2, #8]\nlsls r3, r0\n"
        "asrs r3, r0\nstr r3, [r2, #8]\n"
    )
    switch(tmp_path, BEFORE + assembler + BEHIND, M0)
