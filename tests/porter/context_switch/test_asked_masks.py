"""A guest's handlers take no mask: C that asks whether its handler did would find it open."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from porter.context_switch.assemble import assemble, preprocess
from porter.context_switch.c_flow import CUnits
from porter.context_switch.handler import transcribe
from porter.context_switch.names import Names
from porter.context_switch.pick import Pick
from porter.context_switch.project_data import ProjectData
from porter.context_switch.result import NotTranscribable
from tests.porter.context_switch.cases import SOURCES
from tests.porter.context_switch.test_why_no_fast_yield import why
from tests.porter.context_switch.trees import fixture

HEAD = """
uint32_t __get_PRIMASK(void); void __set_PRIMASK(uint32_t);
void __disable_irq(void); void __enable_irq(void);
static uint32_t pri(void) { uint32_t m; __asm volatile("mrs %0, primask" : "=r"(m)); return m; }
static uint32_t base(void) { uint32_t m; __asm volatile("mrs %0, basepri" : "=r"(m)); return m; }
static void set(uint32_t m) { __asm volatile("msr basepri, %0" :: "r"(m)); }
uint32_t enter(void); void leave(uint32_t);
uint32_t entries;
"""
ASSEMBLER = """\
    .syntax unified
    .thumb
    .type enter, %function
enter:
    mrs r0, primask
    cpsid i
    bx lr
    .type leave, %function
leave:
    msr primask, r0
    bx lr
"""
PRIMASK, BASEPRI = "cpsid i", "mov r3, #0x40\\n msr basepri, r3"
ASKS = {
    "CMSIS": (PRIMASK, "void schedule(void) { if (!(__get_PRIMASK() & 1)) for (;;); }"),
    "asm": (PRIMASK, "void schedule(void) { uint32_t m = pri(); if (m == 0) entries++; }"),
    "two strings": (PRIMASK, 'void schedule(void) { uint32_t m; __asm volatile(\n'
                             '    "mrs %0, " "pri" "mask" : "=r"(m)); if (m) entries++; }'),
    "assembler": (PRIMASK, "void schedule(void) { if (enter() == 0) for (;;); }"),
    "keeps it": (
        PRIMASK,
        "uint32_t was;\nstatic void look(void) { if (was & 1) entries++; }\n"
        "void schedule(void) { was = pri(); look(); }",
    ),
    "asked elsewhere": (PRIMASK, "uint32_t was;\nvoid schedule(void) { was = pri() & 1; }\n"
                                 "void other(void) { if (was == 0) entries++; }"),
    "asked in a member": (PRIMASK, "struct s { uint32_t was; } s;\n"
                                   "static void keep(struct s *to) { to->was = pri(); }\n"
                                   "void schedule(void) { keep(&s); }\n"
                                   "uint32_t found(void) { return s.was; }\n"
                                   "void other(void) { if (found()) entries++; }"),
    "kept by asm": (PRIMASK, "uint32_t was;\nvoid schedule(void) {\n"
                             '    __asm volatile("mrs %0, primask" : "=r"(was)); }\n'
                             "void other(void) { if (was) entries++; }"),
    "a member calls": (PRIMASK, "struct o { uint32_t (*get)(void); };\n"
                                "static const struct o port = { .get = pri }, *at = &port;\n"
                                "void schedule(void) { if (at->get()) entries++; }"),
    "a table calls": (PRIMASK, "static uint32_t any(void) { return pri(); }\n"
                               "static uint32_t (*const get[])(void) = { any };\n"
                               "static uint32_t all(void) { return get[0](); }\n"
                               "void schedule(void) { if (all()) entries++; }"),
    "a comment in asm": (PRIMASK, "void schedule(void) { uint32_t m; __asm volatile(\n"
                                  '    "mrs %0, /* it */ primask" : "=r"(m)); if (m) entries++; }'),
    "BASEPRI": (BASEPRI, "static void locked(void) { if (base() == 0) for (;;); }\n"
                         "void schedule(void) { locked(); }"),
    "or": (PRIMASK, "void fail(void) { entries++; }\n"
                    "void schedule(void) { (void)((pri() == 1) || (fail(), 0)); }"),
    "and": (PRIMASK, "void schedule(void) { pri() && entries++; }"),
    "and in an argument": (PRIMASK, "static void keep(int n) { entries = n; }\n"
                                    "void schedule(void) { keep(pri() && entries); }"),
    "or of a variable": (PRIMASK, "void schedule(void) { uint32_t m = pri(); m || entries++; }"),
    "and opens again": (PRIMASK, "void schedule(void) {\n"
                                 "    if (!pri() && entries++) __enable_irq(); }"),
    "a statement's value": (PRIMASK, "void schedule(void) { if (({ pri(); })) entries++; }"),
    "asm in a statement": (
        PRIMASK, 'void schedule(void) { if (({ uint32_t m; __asm("mrs %0, primask" : "=r"(m));\n'
                 "    m; })) entries++; }"),
    "BASEPRI in a statement": (
        BASEPRI, 'void schedule(void) { if (__extension__ ({ uint32_t m;\n'
                 '    __asm("mrs %0, basepri" : "=r"(m)); m; })) entries++; }'),
}  # fmt: skip
ALLOWED = {
    "restores": (PRIMASK, "void schedule(void) { uint32_t m = __get_PRIMASK(); __disable_irq();\n"
                          "    entries++; __set_PRIMASK(m); }"),
    "opens again": (PRIMASK, "void schedule(void) { uint32_t m = pri() & 1; __disable_irq();\n"
                             "    entries++; if (m == 0) __enable_irq(); }"),
    "assembler": (PRIMASK, "void schedule(void) { uint32_t m = enter(); entries++; leave(m); }"),
    "BASEPRI": (BASEPRI, "void schedule(void) { uint32_t m = base(); set(1); entries++; set(m); }"),
    "opens again and asks others": (
        PRIMASK, "void schedule(void) { uint32_t m = pri();\n"
                 "    __disable_irq(); if (m == 0 && entries) __enable_irq(); }"),
    "a statement's value": (PRIMASK, "void schedule(void) { uint32_t m = ({ pri(); });\n"
                                     "    __disable_irq(); entries++; __set_PRIMASK(m); }"),
    "another statement": (PRIMASK, "void schedule(void) { if (({ pri(); entries; })) for (;;); }"),
    "another": (BASEPRI, "void schedule(void) { if (pri()) for (;;); }"),
    "kept and put back": (PRIMASK, "uint32_t was; void schedule(void) { was = pri(); }\n"
                                   "void other(void) { __set_PRIMASK(was); }"),
    "another's local": (PRIMASK, "void schedule(void) { uint32_t m = enter(); leave(m); }\n"
                                 "void other(void) { uint32_t m = enter(); if (m) leave(m); }"),
    "another's own": (PRIMASK, "uint32_t was;\nvoid schedule(void) { leave(enter()); }\n"
                               "void other(void) { was = enter(); if (was) entries++; }"),
    "by members": (PRIMASK, "static const struct { uint32_t (*take)(void);\n"
                            "    void (*give)(uint32_t); } lock = {\n"
                            "    .take = enter, .give = leave };\n"
                            "void schedule(void) { uint32_t m = lock.take(); lock.give(m); }"),
    "another member": (PRIMASK, "static uint32_t near(void) { return 1; }\n"
                                "static const struct { uint32_t (*get)(void);\n"
                                "    uint32_t (*near)(void); } port = {\n"
                                "    .get = pri, .near = near };\n"
                                "void other(void) { if (port.get()) entries++; }\n"
                                "void schedule(void) { if (port.near()) entries++; }"),
    "elsewhere": (PRIMASK, "void other(void) { if (pri()) for (;;); }\nvoid schedule(void) { }"),
}  # fmt: skip


def switch(folder: Path, mask: str, c: str, *more: Path) -> None:
    """Transcribe a handler that takes a mask around its choice."""
    text = (SOURCES / "running_task.c").read_text()
    call = '"   bl schedule                 \\n"\n'
    opened = '"   mov r3, #0\\n   msr basepri, r3\\n   cpsie i\\n"\n'
    text = text.replace(call, f'"   {mask}\\n"\n{call}{opened}')
    tree = fixture(folder, f"{text}{HEAD}{c}\n")
    (folder / "enter.S").write_text(ASSEMBLER)
    tree = replace(tree, files=(*tree.files, folder / "enter.S", *more))
    source = tree.files[0]
    assembly = assemble(source, tree.options)
    project = ProjectData(tree.files, tree.options, CUnits(tree.files, tree.options))
    names = Names(preprocess(source, tree.options), "", lambda expression: None, project)
    (function,) = (it for it in assembly.object.functions if it.name == "PendSV_Handler")
    assert isinstance(transcribe(assembly, function, "switch", names).pick, Pick)


@pytest.mark.parametrize("name", ASKS)
def test_what_asks_for_the_handlers_mask_is_told(name: str, tmp_path: Path) -> None:
    with pytest.raises(NotTranscribable, match=r"\(\), which asks for (PRIMASK|BASEPRI), '"):
        switch(tmp_path, *ASKS[name])


def test_an_alias_isnt_read(tmp_path: Path) -> None:
    other = "void other(void) { if (!pri()) for (;;); }\n"
    alias = 'void schedule(void) __attribute__((alias("other")));'
    with pytest.raises(NotTranscribable, match=r"calls schedule\(\), an alias: does it ask"):
        switch(tmp_path, PRIMASK, other + alias)


def test_cplusplus_isnt_read(tmp_path: Path) -> None:
    file = tmp_path / "other.cpp"
    file.write_text('extern "C" void other() { }\n')
    calls = "void other(void);\nvoid schedule(void) { other(); }"
    with pytest.raises(NotTranscribable, match=r"leads to other\(\), which other.cpp names, C\+\+"):
        switch(tmp_path, PRIMASK, calls, file)


@pytest.mark.parametrize("name", ALLOWED)
def test_what_puts_it_back_may_find_anything(name: str, tmp_path: Path) -> None:
    switch(tmp_path, *ALLOWED[name])


def test_a_fast_yield_holds_primask(tmp_path: Path) -> None:
    asks = f"{HEAD}void schedule(void) {{ if (pri()) for (;;); }}"
    assert why(tmp_path, asks).startswith("calls schedule(), which asks for PRIMASK")
