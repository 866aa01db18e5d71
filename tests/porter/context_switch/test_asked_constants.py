"""Conditions that random words hardly ever meet: marks, states, a count beside a flag."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.context_switch.assemble import compile_object
from porter.context_switch.proof import Model, NotProved
from porter.context_switch.proof.compare import compare
from porter.context_switch.proof.constants import asked_by
from porter.context_switch.proof.derived import (
    WORD,
    Derived,
    Value,
    compared,
    result,
)
from porter.context_switch.proof.derived import tested as asked_bits
from porter.context_switch.proof.link import link_pair
from porter.context_switch.proof.riscv.constants import asked_by as riscv_asked_by
from porter.context_switch.proof.riscv.equivalence import explore
from porter.context_switch.proof.states import State
from porter.context_switch.result import SwitchPort
from porter.project.compile_options import CompileOptions
from tests.porter.context_switch.riscv.trees import GCC, IMAFC, own
from tests.porter.context_switch.test_proof import COMMAND, LOAD, NAKED, SAVE, SWITCH, C, objects
from tests.porter.context_switch.trees import M4F, fixture

CALL = "push {r1, lr}\\n bl choose\\n pop {r1, lr}\\n"
COUNTED = (
    "ldr r3, [r2, #4]\\n adds r3, #1\\n str r3, [r2, #4]\\n {asks}\\n str r0, [r2, #8]\\n 1:\\n"
)
ASKS = {
    "a mark from beside the code": (
        "ldr r3, [r2, #4]\\n ldr r4, =0xC0DEC0DE\\n cmp r3, r4\\n beq 1f\\n"
        "str r4, [r2, #8]\\n 1:\\n"
    ),
    "a mark made of two halves": (
        "ldr r3, [r2, #4]\\n movw r4, #0xBEEF\\n movt r4, #0xDEAD\\n cmp r3, r4\\n bne 1f\\n"
        "str r0, [r2, #8]\\n 1:\\n"
    ),
    "a state in a byte": (
        "ldrb r3, [r2, #7]\\n cmp r3, #3\\n bne 1f\\n movs r3, #4\\n strb r3, [r2, #7]\\n 1:\\n"
    ),
    "a bit that no usual word has": (
        "ldr r3, [r2, #4]\\n tst r3, #2\\n beq 1f\\n str r0, [r2, #8]\\n 1:\\n"
    ),
    "every fourth time": COUNTED.format(asks="ands r3, r3, #3\\n bne 1f"),
    "every eighth time": COUNTED.format(asks="tst r3, #7\\n bne 1f"),
    "two bits at the top": COUNTED.format(asks="lsls r3, r3, #30\\n bne 1f"),
    "every hundredth time": COUNTED.format(asks="cmp r3, #100\\n bne 1f"),
    "more than a hundred, of a byte": (
        "ldrb r3, [r2, #7]\\n adds r3, #2\\n uxtb r3, r3\\n cmp r3, #254\\n bls 1f\\n"
        "str r0, [r2, #8]\\n 1:\\n"
    ),
    "what a call returns": f"{CALL} cmp r0, #7\\n bne 1f\\n str r0, [r1, #4]\\n 1:\\n",
    "a count and a flag, set by a call": (
        f"{CALL} ldr r2, =nesting\\n ldr r3, [r2]\\n subs r3, #1\\n str r3, [r2]\\n bne 1f\\n"
        "ldr r2, =wanted\\n ldr r3, [r2]\\n cmp r3, #1\\n bne 1f\\n ldr r2, =locked\\n"
        "ldr r3, [r2]\\n cbnz r3, 1f\\n movs r3, #2\\n str r3, [r2]\\n 1:\\n"
    ),
}
DECLARED = "#include <stdint.h>\nextern uint32_t nesting, wanted, locked;\nuint32_t choose(void);\n"
TRAP = """
    la      t0, nesting
    lw      t1, 0(t0)
    addi    t1, t1, -1
    sw      t1, 0(t0)
    bnez    t1, 1f
    la      t0, wanted
    lw      t1, 0(t0)
    beqz    t1, 1f
    sw      zero, 0(t0)
    lw      t2, 4(t0)
    li      t1, 0x5AFE57AC
    bne     t1, t2, 1f
    sw      zero, 4(t0)
1:
"""
DATA = "\n    .bss\nnesting: .space 4\nwanted: .space 8\n"
DISPATCH = "    call    trap_dispatch"


def escalations(ports: list[SwitchPort]) -> list[str]:
    return [port.reason for port in ports if port.status == "escalated"]


@pytest.mark.parametrize("asks", ASKS.values(), ids=ASKS)
def test_what_a_handler_asks_for_goes_both_ways(asks: str, tmp_path: Path) -> None:
    text = DECLARED + NAKED.format(text=SAVE + asks + LOAD)
    ports = fixture(tmp_path, text).port()
    assert not escalations(ports)
    (proof,) = [port.proof for port in ports if port.proof is not None]
    assert proof.seconds < 5


def test_another_mark_is_found_by_the_emulator(tmp_path: Path) -> None:
    wrong = "if (task[1] != 0xC0DEC0DFu) { task[2] = 0xC0DEC0DEu; }"
    asks = ASKS["a mark from beside the code"]
    pair = objects(tmp_path, NAKED.format(text=SAVE + asks + LOAD), C.format(middle=wrong))
    images = link_pair(*pair, ("PendSV_Handler",) * 2, (), COMMAND)
    with pytest.raises(NotProved, match=r"a word of memory|r4 ends as"):
        compare(*images, SWITCH)


@pytest.mark.parametrize(
    ("asks", "found"),
    [
        (ASKS["a mark from beside the code"], {0xC0DE_C0DE}),
        (ASKS["a mark made of two halves"], {0xDEAD_BEEF}),
        (ASKS["a state in a byte"], {3, 0x0303_0303, 0x0003_0003}),
        (ASKS["every fourth time"], {WORD, 2}),
        (ASKS["every hundredth time"], {99}),
        ("movs r3, #5\\n str r3, [r2, #4]\\n", set()),
        ("ldr r3, =task\\n cmp r2, r3\\n beq 1f\\n str r3, [r2]\\n 1:\\n", set()),
        ("ldr r3, [r2, #4]\\n tst r3, #0x10\\n beq 1f\\n str r3, [r2]\\n 1:\\n", set()),
    ],
)
def test_only_what_meets_an_unknown_word_counts(asks: str, found: set[int], tmp_path: Path) -> None:
    tree = fixture(tmp_path, NAKED.format(text=SAVE + asks + LOAD))
    code = compile_object(tree.files[0], tree.options)
    images = link_pair(code, code, ("PendSV_Handler",) * 2, (), ("arm-none-eabi-gcc", *M4F))
    assert set(asked_by(images[0])) == found


@pytest.mark.parametrize("shift", ["sll", "srl"])
def test_a_word_is_found_through_what_was_done_to_it(shift: str) -> None:
    steps = (("add", 5), ("xor", 0x70), (shift, 3), ("sub", 2))
    for wanted in compared(_behind(Derived(), steps), 0x1E):
        assert _behind(wanted, steps) in (0x1E, 0)


def test_bits_that_are_asked_for_are_met_set_and_clear() -> None:
    steps = (("add", 1), ("and", 0x30))
    assert {_behind(word, steps) for word in asked_bits(_behind(Derived(), steps))} == {0, 0x30}
    assert not set(asked_bits(Derived())) | set(compared(Derived(), Derived()))


def _behind(word: Value, steps: tuple[tuple[str, int], ...]) -> Value:
    for name, constant in steps:
        word = result(name, word, constant)
    return word


def test_states_without_such_constants_stay_what_they_were() -> None:
    for seed in range(64):
        usual, asking = State(seed, SWITCH, 8), State(seed, SWITCH, 8, (0xC0DE_C0DE,))
        has_mark = (0xC0DE_C0DE).to_bytes(4, "little") in asking.arena
        assert has_mark == (seed % 4 == 1)
        assert (usual.arena == asking.arena) == (not has_mark)


def test_a_trap_handler_with_a_count_a_flag_and_a_mark_is_proved(tmp_path: Path) -> None:
    name = "context_in_mscratch"
    text = own(tmp_path / "before", name).files[0].read_text()
    assert DISPATCH in text
    at = text.index("\n", text.index(DISPATCH))
    tree = own(tmp_path / "here", name, text[:at] + TRAP + text[at:] + DATA)
    assert not escalations(tree.port())


CODE = {
    "lui a0, 0xC0DEC\n addi a0, a0, 0x7DE\n beq a0, a1, 1f": {0xC0DE_C7DE},
    "li a0, 7\n lbu a1, 0(a2)\n bne a1, a0, 1f": {7, 0x0707_0707, 0x0007_0007},
    "addi a1, a1, -12\n beqz a1, 1f": {12},
    "sltiu a1, a1, 9\n beqz a1, 1f": {9},
    "andi a1, a1, 2\n beqz a1, 1f": {2},
    "addi sp, sp, -64\n beqz a1, 1f": set(),
    "la a0, 1f\n beq a0, a1, 1f": set(),
}


@pytest.mark.parametrize(("code", "found"), CODE.items())
def test_constants_of_rv32(code: str, found: set[int], tmp_path: Path) -> None:
    source = tmp_path / "code.s"
    source.write_text(f".global begin\nbegin: {code}\n nop\n1: ret\n")
    options = CompileOptions((), (), IMAFC, GCC)
    raw = compile_object(source, options)
    image = link_pair(raw, raw, ("begin", "begin"), (), (GCC, *IMAFC))[0]
    _, ways = explore(image, Model("other"))
    assert set(riscv_asked_by(image, ways)) == found


def test_a_reason_of_rv32_names_the_instruction_as_written(tmp_path: Path) -> None:
    name = "context_in_mscratch"
    text = own(tmp_path / "before", name).files[0].read_text()
    asks = "    slli    t2, t1, 14\n    bltz    t2, stuck   # MPRV\n    csrr    a0, mcause\n"
    changed = text.replace("    csrr    a0, mcause\n", asks, 1)
    (reason,) = escalations(own(tmp_path / "here", name, changed).port())
    assert "'bltz t2, stuck' always goes one way: no state from which" in reason
    assert "trap_entry.c shows what to write instead" in reason
