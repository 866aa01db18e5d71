"""A machine has whether IPSR and BASEPRI are 0, not their numbers: who asks for those is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from porter.context_switch.result import SwitchPort
from porter.judging.verdict import Status
from porter.port import port_project
from tests.porter.context_switch.trees import M3, fixture

ASKS = """\
    .syntax unified
    .thumb
    .text
    .global active
    .type active, %function
active:
    mrs r0, ipsr
    bx lr
"""
LOCKS = """\
    .syntax unified
    .thumb
    .text
    .global lock
    .type lock, %function
lock:
    mrs r0, basepri
    movs r1, #0x40
    msr basepri, r1
    bx lr
    .global unlock
    .type unlock, %function
unlock:
    msr basepri, r0
    bx lr
"""
HEAD = "unsigned active(void);\nunsigned lock(void);\nvoid unlock(unsigned);\nunsigned ticks[64];\n"
NUMBERS = {
    "index": "void f(void) { ticks[active()]++; }",
    "compared": "int f(void) { return active() == 15u; }",
    "variable": "int f(void) { unsigned n; n = (unsigned)active(); return n - 16u < 4u; }",
    "switch": "void f(void) { switch (active()) { case 11: ticks[0]++; } }",
    "bit that handlers have": "int f(void) { return (active() & 0x1E) != 0; }",
    "wrapper": "static unsigned n(void) { return active(); }\nint f(void) { return n() > 15; }",
    "parameter": "static int i(unsigned n) { return n == 3; }\nint f(void) { return i(active()); }",
    "macro": "#define NUMBER() active()\nint f(void) { return NUMBER() == 3; }",
    "field": "struct s { unsigned n; } s;\nvoid f(void) { s.n = active(); }\n"
    "int g(struct s *p) { return p->n > 14; }",
    "a statement's value": "int f(void) { return ({ active(); }) == 14; }",
    "a statement's variable": "int f(void) { unsigned n = ({ unsigned q = active(); q; });\n"
    "    return n == 14; }",
    "handed out": "void print(unsigned);\nvoid f(void) { print(active()); }",
}
QUESTIONS = {
    "condition": "void f(void) { if (active()) ticks[0]++; }",
    "compared with 0": "int f(void) { return (active() & 0x1FFu) != (unsigned)0x00U; }",
    "variable": "int f(void) { unsigned n = active(); return n && !n ? 1 : 2; }",
    "wrapper": "static unsigned n(void) { return active(); }\nint f(void) { return n() > 0; }",
    "a statement's value": "void f(void) { if (({ active(); }) && ticks[0]) ticks[0]++; }",
    "unused": "void f(void) { (void)active(); }",
}
LEVELS = {
    "compared": "int f(void) { return lock() == 0x40; }",
    "ordered": "void f(void) { unsigned o = lock(); if (o < 0x80u) ticks[0]++; unlock(o); }",
    "kept": "unsigned kept;\nvoid f(void) { kept = lock(); }\nint g(void) { return kept >> 4; }",
}
HANDED_ON = {
    "local": "void f(void) { unsigned old = lock(); ticks[0]++; unlock(old); }",
    "kept": "unsigned kept;\nvoid f(void) { kept = lock(); }\nvoid g(void) { unlock(kept); }",
    "asked": "void f(void) { if (lock() == 0) unlock(0); }",
    "wrapper": "unsigned in(void) { return lock(); }\nvoid out(unsigned o) { unlock(o); }\n"
    "void f(void) { unsigned o = in(); out(o); }",
    "asm": 'void f(void) { unsigned o = lock(); __asm volatile("msr basepri, %0" :: "r"(o)); }',
}


def ported(folder: Path, text: str, c: str, file: str = "user.c") -> list[SwitchPort]:
    tree = fixture(folder, text, M3, "switch.S")
    (folder / file).write_text(f"{HEAD}{c}\n")
    return replace(tree, files=(*tree.files, folder / file)).port()


def named(ports: list[SwitchPort], name: str) -> SwitchPort:
    (found,) = [port for port in ports if port.name == name]
    return found


@pytest.mark.parametrize("name", NUMBERS)
def test_the_number_of_an_interrupt_is_escalated(name: str, tmp_path: Path) -> None:
    found = named(ported(tmp_path, ASKS, NUMBERS[name]), "active")
    assert found.status == "escalated"
    assert "the number of the interrupt matters, C has '" in found.reason


@pytest.mark.parametrize("name", QUESTIONS)
def test_whether_a_handler_runs_is_transcribed(name: str, tmp_path: Path) -> None:
    found = named(ported(tmp_path, ASKS, QUESTIONS[name]), "active")
    assert found.status == "rewritten" and "IPSR is 0 or 1" in found.reason


@pytest.mark.parametrize("name", LEVELS)
def test_a_level_that_c_compares_is_escalated(name: str, tmp_path: Path) -> None:
    found = named(ported(tmp_path, LOCKS, LEVELS[name]), "lock")
    assert found.status == "escalated"
    assert "the level of BASEPRI matters, C has '" in found.reason


@pytest.mark.parametrize("name", HANDED_ON)
def test_a_level_that_comes_back_is_a_mask(name: str, tmp_path: Path) -> None:
    assert named(ported(tmp_path, LOCKS, HANDED_ON[name]), "lock").status == "rewritten"


def test_cplusplus_may_do_anything_with_a_number(tmp_path: Path) -> None:
    use = 'extern "C" int f() { return active() & 15; }'
    found = named(ported(tmp_path, ASKS, use, "user.cpp"), "active")
    assert found.status == "escalated" and "user.cpp is C++ and has active" in found.reason


def test_no_rule_on_c_ports_what_is_escalated(tmp_path: Path) -> None:
    naked = '__attribute__((naked)) unsigned {} {{ __asm volatile("{}\\n bx lr"); }}\n'
    text = naked.format("active(void)", "mrs r0, ipsr") + naked.format("level(void)", LEVEL)
    uses = "int main(void) { return active() == 3 || level() == 0x40; }\n"
    (tmp_path / "switch.c").write_text(f'{text}{uses}/* psp */\nconst char n[] = "psp";\n')
    found = [it for file in port_project(tmp_path, cpu=M3).files for it in file.verdicts]
    assert len(found) == 2
    for verdict in found:
        assert verdict.status is Status.ESCALATED and "matters, C has" in verdict.reason


LEVEL = "mrs r0, basepri"


def test_what_a_recipe_switches_off_asks_for_nothing(tmp_path: Path) -> None:
    """As in FreeRTOS' ports for Arm's compiler."""
    folder = tmp_path / "portable" / "RVDS" / "ARM_CM3"
    check = "#if( configASSERT_DEFINED == 1 )\nint f(void) { return active() == 3; }\n#endif\n"
    head = "#define configASSERT_DEFINED 1\n"
    assert named(ported(folder, ASKS, head + check), "active").status == "rewritten"
    cant_be_compiled = '#include "nowhere.h"\n'
    found = ported(folder, ASKS, head + check + cant_be_compiled)
    assert named(found, "active").status == "rewritten"


REQUESTS = """\
    .global receive
    .type receive, %function
receive:
    {before}
    ldr r2, =0xE000ED04
    mov r1, #0x10000000
    str r1, [r2]
    dsb
    {behind}
    bx lr
    .pool
"""


@pytest.mark.parametrize(
    ("result", "before", "behind", "status"),
    [
        ("unsigned", "ldr r0, =ticks", "isb", "escalated"),
        ("unsigned", "movs r0, #0", "isb", "escalated"),
        ("unsigned", "isb", "movs r0, #0", "rewritten"),
        ("unsigned", "ldr r0, =ticks", "ldr r0, [r0]", "rewritten"),
        ("void", "movs r0, #0", "isb", "rewritten"),
    ],
)
def test_a_result_that_others_leave_in_r0_is_lost(
    result: str, before: str, behind: str, status: str, tmp_path: Path
) -> None:
    text = ASKS + REQUESTS.format(before=before, behind=behind)
    found = named(ported(tmp_path, text, f"{result} receive(void);"), "receive")
    assert found.status == status
    assert (status == "escalated") == ("behind its request of the switch" in found.reason)


LOCK_IN_C = """\
#include "lock.h"
unsigned level(void)
{
    return __get_BASEPRI();
}
unsigned lock(void)
{
    unsigned old;
    __asm volatile("mrs %0, basepri" : "=r"(old));
    __set_BASEPRI(0x40);
    return old;
}
"""


@pytest.mark.parametrize(
    ("use", "compared"),
    [
        ("kept.level = lock(); if (kept.level < 0x20) work();", "kept.level < 0x20"),
        ("unsigned old = lock(); switch (old) { case 0x40: work(); }", "switch (old)"),
        ("if (level() == 0x40) work();", "level() == 0x40"),
        ("handed(lock());", "it >> 4"),
        ("kept.level = lock(); if (kept.level != 0) work(); __set_BASEPRI(kept.level);", ""),
        ("unsigned old = level(); work(); __set_BASEPRI(old);", ""),
        ("if (!level()) work();", ""),
    ],
)
def test_a_level_that_a_c_function_hands_on_is_followed(
    use: str, compared: str, tmp_path: Path
) -> None:
    (tmp_path / "lock.c").write_text(LOCK_IN_C)
    (tmp_path / "lock.h").write_text(
        "unsigned __get_BASEPRI(void); void __set_BASEPRI(unsigned);\n"
        "unsigned level(void); unsigned lock(void); void work(void);\n"
    )
    (tmp_path / "main.c").write_text(
        '#include "lock.h"\nstatic struct { unsigned level; } kept;\n'
        "static void handed(unsigned it) { if (it >> 4) work(); }\n"
        f"int main(void) {{ {use} return 0; }}\n"
    )
    (file,) = (it for it in port_project(tmp_path, cpu=M3).files if it.file.name == "lock.c")
    escalated = [it.reason for it in file.verdicts if it.status is Status.ESCALATED]
    assert bool(escalated) == bool(compared)
    assert all(compared in reason for reason in escalated)


CALCULATED = {
    "a difference": "mrs r0, ipsr\n subs r0, r0, #16",
    "an index": "mrs r0, ipsr\n lsls r0, r0, #2\n ldr r1, =ticks\n ldr r0, [r1, r0]",
    "a shift to the right": "mrs r0, basepri\n lsrs r0, r0, #4",
    "a mask without bit 0": "mrs r0, ipsr\n movs r1, #30\n ands r0, r1",
    "a complement": "mrs r0, basepri\n movs r1, #255\n eors r0, r1",
}
ASKED = {
    "its byte": "mrs r0, ipsr\n uxtb r0, r0",
    "its bits": "mrs r0, ipsr\n lsls r0, r0, #23",
    "as a condition": "mrs r0, ipsr\n cbz r0, 1f\n movs r0, #1\n 1:",
}


@pytest.mark.parametrize("naked", [False, True])
@pytest.mark.parametrize("middle", CALCULATED.values(), ids=CALCULATED)
def test_what_is_calculated_with_a_number_is_another(
    middle: str, naked: bool, tmp_path: Path
) -> None:
    (found,) = _asked(tmp_path, middle, naked)
    assert found.status == "escalated" and "it is calculated with" in found.reason, found.reason


@pytest.mark.parametrize("naked", [False, True])
@pytest.mark.parametrize("middle", ASKED.values(), ids=ASKED)
def test_a_question_stays_one(middle: str, naked: bool, tmp_path: Path) -> None:
    (found,) = _asked(tmp_path, middle, naked)
    assert found.status == "rewritten", found.reason


def _asked(folder: Path, middle: str, naked: bool) -> list[SwitchPort]:
    text = ASKS.replace("mrs r0, ipsr", middle).replace("bx lr", "bx lr\n .pool")
    use = "int f(void) { return active() != 0; }\n"
    if naked:
        lines = "\\n ".join(f"{middle}\n bx lr\n .ltorg".split("\n"))
        use += f'__attribute__((naked)) unsigned active(void) {{ __asm volatile("{lines}"); }}\n'
        tree = fixture(folder, HEAD + use, M3)
    else:
        tree = fixture(folder, text, M3, "active.S")
        (folder / "use.c").write_text(HEAD + use)
        tree = replace(tree, files=(*tree.files, folder / "use.c"))
    return [it for it in tree.port() if it.name == "active"]
