"""What may not run in the place of a choice: a yield is the handler itself then."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.context_switch.result import SwitchPort
from tests.porter.context_switch.cases import SOURCES
from tests.porter.context_switch.trees import fixture

FIELDS = "uint32_t *limit; struct task *next; unsigned ticks;"
ASKS = """
__attribute__((naked)) uint32_t number(void) { __asm volatile("mrs r0, ipsr\\n bx lr"); }
static int in_handler(void) { return number() != 0; }
"""
INLINE = """
static int in_handler(void) { int n; __asm volatile("mrs %0, ipsr" : "=r"(n)); return n != 0; }
"""
SCHEDULERS = {
    "asks IPSR": (f"{ASKS}void schedule(void) {{ if (!in_handler()) for (;;); }}", "number(), "),
    "asks IPSR itself": (f"{INLINE}void schedule(void) {{ if (!in_handler()) for (;;); }}", "asm"),
    "asks ICSR": (
        "void schedule(void) { if (!(*(volatile uint32_t *)0xE000ED04u & 0x1FF)) for (;;); }",
        "mode",
    ),
    "looks at EXC_RETURN": ("void schedule(void) { running->ticks = running->sp[8]; }", "frames"),
    "looks at the other's": (
        "static unsigned pc(const uint32_t *sp) { return *(sp + 15); }\n"
        "void schedule(void) { struct task *t = running->next; running->ticks = pc(t->sp); }",
        "frames",
    ),
    "copies it": (
        "void schedule(void) { uint32_t *frame; frame = running->sp; running->ticks = *frame; }",
        "frames",
    ),
    "takes much stack": (
        "void schedule(void) { volatile unsigned h[64]; h[running->ticks & 63] = 1;\n"
        "    running->ticks = h[3]; }",
        "takes 256 bytes of the task's stack, more than 100",
    ),
    "takes it in a callee": (
        "static unsigned f(void) { volatile unsigned h[64]; h[3] = running->ticks; return h[4]; }\n"
        "void schedule(void) { running->ticks = f(); }",
        "bytes of the task's stack, more than 100",
    ),
    "calls itself": (
        "static unsigned f(unsigned n) { return n == 0 ? 1 : n * f(n - 1); }\n"
        "void schedule(void) { running->ticks = f(running->ticks); }",
        "f(), which choosing a task may call, may call itself",
    ),
    "takes what it finds out": (
        "void schedule(void) { volatile unsigned h[running->ticks]; h[0] = 1;\n"
        "    running->ticks = h[3]; }",
        "takes as much stack as it finds out when it runs",
    ),
}
FAST = {
    "compares the stack": (
        "void schedule(void) { if (running->sp < running->limit) for (;;);\n"
        "    running->ticks = *running->limit; running = running->next; }"
    ),
    "requests a switch": (
        "static void again(void) { *(volatile uint32_t *)0xE000ED04u = 1u << 28; }\n"
        "void schedule(void) { again(); running = running->next; }"
    ),
}


def handler(folder: Path, scheduler: str) -> SwitchPort:
    text = (SOURCES / "running_task.c").read_text().replace("char name[8];", FIELDS)
    (found,) = [it for it in fixture(folder, f"{text}{scheduler}\n").port()
                if it.role == "switch"]  # fmt: skip
    assert found.status == "rewritten"
    return found


@pytest.mark.parametrize("name", SCHEDULERS)
def test_what_needs_the_handler_is_the_handler(name: str, tmp_path: Path) -> None:
    scheduler, why = SCHEDULERS[name]
    reason = handler(tmp_path, scheduler).reason
    assert "fast yield by itself (" in reason and why in reason and "proved" in reason


@pytest.mark.parametrize("name", FAST)
def test_what_only_compares_stacks_is_fast(name: str, tmp_path: Path) -> None:
    told = "fast yield through schedule(), which takes "
    assert told in handler(tmp_path, FAST[name]).reason
