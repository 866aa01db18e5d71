"""A handler whose C waits for an interrupt waits for ever: virtual handlers don't nest."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from porter.context_switch.result import NotTranscribable
from tests.porter.context_switch.cases import SOURCES
from tests.porter.context_switch.test_why_no_fast_yield import why
from tests.porter.context_switch.trees import fixture

HEAD = """
volatile uint32_t ready;
struct task { uint32_t *sp; uint32_t state; struct task *next; };
struct task tasks[4];
void __WFI(void); void __NOP(void);
"""
WAITS = {
    "a variable": "void schedule(void) { while (ready == 0) { } }",
    "WFI": 'void schedule(void) { while (ready == 0) __asm volatile("wfi"); }',
    "two strings": 'void schedule(void) { __asm volatile("wf" "i"); }',
    "a second line": 'void schedule(void) { __asm volatile("dsb\\nwfi"); }',
    "a condition": 'void schedule(void) { __asm volatile("cmp r0, #0\\n it eq\\n wfieq"); }',
    "CMSIS": "void schedule(void) { if (!ready) __WFI(); }",
    "opens": "void schedule(void) {\n"
             '    while (!ready) __asm volatile("wfi\\n cpsie i\\n isb\\n cpsid i"); }',
    "does nothing": "void schedule(void) { do __NOP(); while (!ready); }",
    "breaks": "void schedule(void) { for (;;) { if (ready) break; } }",
    "copies": "void schedule(void) { uint32_t now; for (;;) { now = ready; if (now) return; } }",
    "asks": "static int any(void) { return ready != 0; }\n"
            "void schedule(void) { while (!any()) { } }",
    "a callee": "static void sleep(void) { while (!tasks[0].state); }\n"
                "void schedule(void) { sleep(); }",
    "counts": "static int n; void schedule(void) { while (!ready) n++; }",
    "a jump back": "void schedule(void) { again: if (!ready) goto again; }",
    "a jump by a switch": "void schedule(void) {\n"
                          "    again: switch (ready) { case 0: goto again; default: break; } }",
    "a way out": "void schedule(void) { again: if (ready) return; goto again; }",
    "calls itself": "void schedule(void) { if (!ready) { schedule(); return; } }",
    "call each other": "static void second(void);\n"
                       "static void first(void) { if (!ready) second(); }\n"
                       "static void second(void) { first(); }\nvoid schedule(void) { first(); }",
    "a pointer": "void schedule(void) { volatile uint32_t *p = &ready; do { } while (!*p); }",
    "a parameter": "static void wait(volatile uint32_t *p) { while (!*p); }\n"
                   "void schedule(void) { wait(&ready); }",
    "an atomic read": "static uint32_t flag;\nvoid schedule(void) {\n"
                      "    while (!__atomic_load_n(&flag, __ATOMIC_SEQ_CST)); }",
    "beside a comma": "static int n; void schedule(void) { while (n++, !ready); }",
    "counts what came": "void schedule(void) {\n"
                        "    for (int i = 0; i < 10;) { if (ready) i++; } }",
    "this build's": "void schedule(void) { if (!0 && !ready) do { __WFI(); } while (!ready); }",
    "jumped to": "void schedule(void) { goto in; if (0) { in: while (!ready); } }",
    "an attribute": "struct task *__attribute__((used)) next(void) { while (!ready); return 0; }\n"
                    "void schedule(void) { next(); }",
    "collects": "void schedule(void) { uint32_t done = 0; do done |= ready; while (!done); }",
}  # fmt: skip
GOES_ON = {
    "looks further": "void schedule(void) {\n"
                     "    static int i; do i = (i + 1) % 4; while (!tasks[i].state); }",
    "a list": "void schedule(void) { struct task *t = tasks; while (t) t = t->next; }",
    "takes": "static int take(void) { ready &= ready - 1; return ready != 0; }\n"
             "void schedule(void) { while (take()) { } }",
    "a name": 'void schedule(void) { __asm volatile("b wfieqx\\n wfieqx:"); }',
    "halts": "void schedule(void) { if (!ready) for (;;) __WFI(); }",
    "for a debugger": "void schedule(void) { if (!ready) { volatile int go = 0; while (!go); } }",
    "a device": "void schedule(void) { while (*(volatile uint32_t *)0x40001000 & 1); }",
    "once": "void schedule(void) { do { ready = 1; } while (0); }",
    "a hook beside a task": "static void (*hook)(void); void near(void) { }\n"
                            "void set(void) { hook = near; }\nvoid create(void (*)(void));\n"
                            "void idle(void) { while (!ready) __WFI(); }\n"
                            "void begin(void) { create(idle); }\n"
                            "void schedule(void) { if (hook) hook(); }",
    "jumps further": "void schedule(void) {\n"
                     "    static int i; again: i = (i + 1) % 4; if (!tasks[i].state) goto again; }",
    "jumps ahead": "void schedule(void) { if (!ready) goto out; ready = 0; out: ; }",
    "calls itself for less": "static void all(struct task *t) { if (t) all(t->next); }\n"
                             "void schedule(void) { all(tasks); }",
    "until it is done": "static int left;\n"
                        "void schedule(void) { if (left) { left--; schedule(); } }",
    "through a pointer": "void schedule(void) {\n"
                         "    volatile uint32_t *p = &ready; while (*p) ready &= ready - 1; }",
    "of what a pointer changes": "void schedule(void) {\n"
                                 "    volatile uint32_t *p = &ready; while (ready) *p &= *p - 1; }",
    "either way": "static int fast; void schedule(void) {\n"
                  "    for (int i = 0; i < 10;) { if (fast) i += 2; else i++; } }",
    "another build's": "void schedule(void) { if (!1 && !ready) do { __WFI(); } while (!ready); }",
    "another build's function": "static void idle(void) { __WFI(); }\n"
                                "void schedule(void) { if (!1 && !ready) idle(); }",
    "another": "void other(void) { while (!ready); }\nvoid schedule(void) { }",
}  # fmt: skip


def switch(folder: Path, c: str) -> None:
    text = (SOURCES / "running_task.c").read_text()
    block = text[text.index("struct task {"): text.index("extern")]  # fmt: skip
    why(folder, c, text=text.replace(block, HEAD))


@pytest.mark.parametrize("name", WAITS)
def test_a_wait_is_told(name: str, tmp_path: Path) -> None:
    with pytest.raises(NotTranscribable, match=r"\(\), which waits for an interrupt, '"):
        switch(tmp_path, WAITS[name])


def test_a_routine_in_assembler_waits(tmp_path: Path) -> None:
    text = (SOURCES / "running_task.c").read_text().replace("schedule(void);", "schedule (void);")
    tree = fixture(tmp_path, text)
    (tmp_path / "callees.S").write_text(
        ".syntax unified\n.thumb\n.macro sleep\n wfi\n.endm\n"
        ".global other\n.type other, %function\nother: bx lr\nrest: sleep\n bx lr\n"
        ".global schedule\n.type schedule, %function\nschedule: push {lr}\n bl rest\n pop {pc}\n"
    )
    ports = replace(tree, files=(*tree.files, tmp_path / "callees.S")).port()
    found = next(it for it in ports if it.role == "switch")
    assert "calls schedule(), which waits for an interrupt" in found.reason


@pytest.mark.parametrize("name", GOES_ON)
def test_other_loops_end(name: str, tmp_path: Path) -> None:
    switch(tmp_path, GOES_ON[name])


def test_the_template_is_named(tmp_path: Path) -> None:
    text = (SOURCES / "running_task.c").read_text()
    tree = fixture(tmp_path, f"{text}volatile int n; void schedule(void) {{ while (!n); }}\n")
    (found,) = [it for it in tree.port() if it.role == "switch"]
    assert found.status == "escalated" and "waiting_handler.c" in found.reason
