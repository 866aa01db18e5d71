"""What a trap handler of RV32 may ask for: a guest's causes, and no register shared with tasks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from porter.context_switch.result import SwitchPort
from tests.porter.context_switch.riscv.trees import own

DEEP = "static __thread unsigned mine;\nvoid deep(void) { mine++; }\n"
CALLED = """\
#include <stdint.h>
extern uint32_t *block;
uint32_t ticks;
static void on_tick(void) { ticks++; }
uint32_t *trap_dispatch(uint32_t cause, uint32_t *was)
{
    BODY
    return was;
}
"""


def trap_entry(folder: Path, body: str, front: str = "") -> SwitchPort:
    tree = own(folder, "context_in_mscratch")
    (folder / "os.c").write_text(front + CALLED.replace("BODY", body))
    ports = replace(tree, files=(*tree.files, folder / "os.c")).port()
    (found,) = [port for port in ports if port.name == "trap_entry"]
    return found


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("if ((cause & 31) == 7) on_tick();", ""),
        ("if (cause == 8 || cause == 11) on_tick();", ""),
        ("if (cause == 0x80000007u) on_tick(); else if (cause >> 31) for (;;) on_tick();", ""),
        ("if (cause == 8) on_tick();", "asks for the cause 8 and not for 11"),
        ("uint32_t number = cause & 31; switch (number) { case 7: on_tick(); case 16: *was = 0; }",
         "asks for the cause 16"),
        ("if (cause - 3 == 5) on_tick();", "calculates with the cause, 'cause - 3 == 5'"),
        ("if ((1u << cause) & 0x100) on_tick();", "calculates with the cause"),
        ("uint32_t n = cause * 2; for (; n != 16; n += cause) on_tick();", "calculates with the"),
        ("static void (*const on[12])(void) = { on_tick }; on[cause & 15]();",
         "calls what it finds by the cause, 'on[cause & 15]'"),
        ("static struct { void (*f)(void); } on[32]; on[cause & 31].f();", "calls what it finds"),
        ("static const char *const names[16]; ticks = names[cause & 15] != 0;", ""),
        ("static uint32_t sum; sum = sum + cause; ticks = sum;", ""),
    ],
)  # fmt: skip
def test_causes_that_a_guest_has(body: str, told: str, tmp_path: Path) -> None:
    found = trap_entry(tmp_path, body)
    assert (found.status == "rewritten") == (not told), found.reason
    assert told in found.reason


@pytest.mark.parametrize(
    ("front", "body"),
    [
        ("", 'uint32_t *me; __asm volatile("mv %0, tp" : "=r"(me)); ticks += *me;'),
        ("", 'uint32_t *me; __asm volatile("lw %0, 4(x4)" : "=r"(me)); ticks += *me;'),
        ("", "ticks += *(uint32_t *)__builtin_thread_pointer();"),
        ("static __thread unsigned mine;\n", "ticks = mine++;"),
        (f"{DEEP}void (*hook)(void) = deep;\n", "hook();"),
        (f'{DEEP}void other(void) __attribute__((alias("deep")));\n', "other();"),
        (DEEP, '__asm volatile("call deep" ::: "ra");'),
    ],
)
def test_what_a_handler_calls_reads_no_thread_pointer(
    front: str, body: str, tmp_path: Path
) -> None:
    found = trap_entry(tmp_path, body, front)
    leads = "which leads to deep(), " if "deep" in front else ""
    told = f"calls trap_dispatch(), {leads}which reads tp"
    assert found.status == "escalated" and told in found.reason
