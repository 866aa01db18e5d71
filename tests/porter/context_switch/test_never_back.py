"""Functions that resume a task and that C believes never to return: in VCT they do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from porter.context_switch.result import SwitchPort
from tests.porter.context_switch.riscv.trees import own
from tests.porter.context_switch.trees import M4F, fixture

SWITCH = """\
    .syntax unified
    .thumb
    .text
    .global {name}
    .type {name}, %function
    .thumb_func
{name}:
    ldr   r4, =running
    ldr   r1, [r4]
    ldr   r0, [r1]
    ldmia r0!, {{r4-r11, lr}}
    msr   psp, r0
    bx    lr
    .pool
"""
DISPATCH = """\
#include "os.h"
void *volatile running;
volatile unsigned calls;
void dispatch(unsigned number) { if (number == 0) resume(); calls++; }
"""
DECLARED = [
    "_Noreturn void resume(void);",
    "void resume(void) __attribute__((noreturn));",
    "__attribute__((__noreturn__)) void resume(void);",
    "#include <stdnoreturn.h>\nnoreturn void resume(void);",
    "#define __noreturn __attribute__((noreturn))\nvoid __noreturn resume(void);",
    "__noreturn void resume(void);",  # IAR's, which this compiler doesn't know
]
USES = [
    DISPATCH.replace("resume();", "(resume)();"),
    DISPATCH.replace("resume();", "GO();") + "/* */",
    DISPATCH.replace("{ if", "{ void (*const go)(void) = resume; if").replace(
        " resume();", " go();"
    ),
    DISPATCH.replace("resume();", '__asm volatile("b resume");'),
    DISPATCH.replace('#include "os.h"\n', "").replace("{ if", "{ extern " + DECLARED[0] + " if"),
]
HEADER = "#define GO() resume()\nvoid dispatch(unsigned number);\nextern void *volatile running;\n"


def port(folder: Path, declared: str, text: str = DISPATCH, name: str = "resume") -> SwitchPort:
    tree = fixture(folder, SWITCH.format(name=name), M4F, "switch.S")
    header, source = folder / "os.h", folder / "dispatch.c"
    header.write_text(f"{HEADER}{declared}\n")
    source.write_text(text)
    ports = replace(tree, files=(*tree.files, header, source)).port()
    return next(it for it in ports if it.name == name)


@pytest.mark.parametrize("declared", DECLARED)
def test_what_resumes_a_task_returns_in_vct(declared: str, tmp_path: Path) -> None:
    found = port(tmp_path, declared)
    assert found.status == "escalated"
    assert "is declared never to return" in found.reason and "dispatch()" in found.reason
    assert "templates/" not in found.reason


@pytest.mark.parametrize("text", USES)
def test_however_it_is_called(text: str, tmp_path: Path) -> None:
    found = port(tmp_path, DECLARED[0], text)
    assert "is declared never to return" in found.reason


@pytest.mark.parametrize(
    "declared",
    [
        "void resume(void);",
        "void other(void) __attribute__((noreturn));\nvoid resume(void);",
        "void resume(void), other(void) __attribute__((noreturn));",
    ],
)
def test_without_the_word_it_is_ported(declared: str, tmp_path: Path) -> None:
    found = port(tmp_path, declared)
    assert found.status == "rewritten", found.reason


@pytest.mark.parametrize("text", [
    '#include "os.h"\nvoid *volatile running;\n',
    '#include "os.h"\nvoid *volatile running;\nvoid (*const table[])(void) = {SVC_Handler};\n',
])  # fmt: skip
def test_only_the_hardware_calls_a_handler(text: str, tmp_path: Path) -> None:
    declared = DECLARED[0].replace("resume", "SVC_Handler")
    found = port(tmp_path, declared, text, "SVC_Handler")
    assert found.status == "rewritten", found.reason


TRAP = (
    "void *trap_dispatch(uint32_t cause, void *context)\n{{ if (cause == 2) {} return context; }}\n"
)
STARTS = {
    "int main(void) { first_task(); }\n" + TRAP.format(";"): "rewritten",
    TRAP.format("first_task();"): "escalated",
    "static void stop(void) { first_task(); }\n" + TRAP.format("stop();"): "escalated",
    "static void stop(void) { first_task(); }\nstatic void (*go)(void) = stop;\n"
    + TRAP.format("go();"): "escalated",
    'static void stop(void) { first_task(); }\nvoid go(void) __attribute__((alias("stop")));\n'
    + TRAP.format("go();"): "escalated",
}


@pytest.mark.parametrize("text", STARTS)
def test_a_start_returns_where_a_traps_c_calls_it(text: str, tmp_path: Path) -> None:
    tree = own(tmp_path, "context_in_mscratch")
    header, source = tmp_path / "context_in_mscratch.h", tmp_path / "main.c"
    known = header.read_text()
    assert "void first_task(void);" in known
    header.write_text(known.replace("void first_task", "_Noreturn void first_task"))
    source.write_text(f'#include "{header.name}"\n{text}')
    ports = replace(tree, files=(*tree.files, source)).port()
    found = next(it for it in ports if it.name == "first_task")
    assert found.status == STARTS[text], found.reason
    assert ("is declared never to return" in found.reason) == (found.status == "escalated")
