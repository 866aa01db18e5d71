"""A getter in C that returns IPSR: a machine answers whether a handler runs, wherever the project
asks no more than that."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.porter.helpers import escalations, port_files

GETTER = """\
static inline unsigned active(void)
{
    unsigned number;
    __asm__ volatile(" MRS %0, IPSR " : "=r"(number));
    return number;
}
"""
STATE = "volatile unsigned long state;\nvoid begin(void) { state = 0xF0F0F0F0UL; }\n"
END = "void end(void) { state = 0; }\n"
ORDERED = "int f(void) { return (state | active()) >= (unsigned long)0xF0F0F0F0; }\n"
ANSWERED = {
    "whether": "int f(void) { return active() == 0; }\n",
    "a condition": "int n;\nvoid f(void) { if (active()) n++; }\n",
    "with a state": f"{STATE}{END}int f(void) {{ return (state | active()) != 0; }}\n",
    "ordered": f"{STATE}{END}{ORDERED}",
    "by a variable": "int f(void) { unsigned n = active(); return n ? 1 : 2; }\n",
}
ASKED = {
    "a number": "int f(void) { return active() == 15; }\n",
    "ordered": "int f(void) { return active() >= 16; }\n",
    "an index": "int n[64];\nvoid f(void) { n[active()]++; }\n",
    "ordered with a state": f"{STATE}int f(void) {{ return (state | active()) >= 0xF0F0F0F1; }}\n",
    "a state that nobody knows": f"{STATE}{ORDERED}void g(unsigned s) {{ state = s; }}\n",
    "a state by its address": f"{STATE}{ORDERED}"
    "void g(volatile unsigned long *); void h(void) { g(&state); }\n",
    "a state that counts": f"{STATE}{ORDERED}void g(void) {{ state++; }}\n",
    "its address": "unsigned (*g)(void) = active;\n",
    "by nobody knows whom": "unsigned f(void) { return active(); }\n",
    "shown": "void show(unsigned);\nvoid f(void) { show(active()); }\n",
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERED)
def test_whether_a_handler_runs_is_answered(name: str, tmp_path: Path) -> None:
    result = port_files(tmp_path, {"main.c": (GETTER + ANSWERED[name]).encode()})
    assert not escalations(result)
    (file,) = result.files
    assert b"number = virt_in_vct();" in file.ported


@pytest.mark.parametrize("name", ASKED)
def test_who_asks_for_the_number_is_told(name: str, tmp_path: Path) -> None:
    result = port_files(tmp_path, {"main.c": (GETTER + ASKED[name]).encode()})
    assert any("the number of the interrupt matters" in it for it in escalations(result))


def test_cplusplus_may_ask_for_anything(tmp_path: Path) -> None:
    files = {
        "port.h": GETTER.encode(),
        "main.c": b'#include "port.h"\nint f(void) { return active() != 0; }\n',
        "task.cpp": b'#include "port.h"\nint g() { return active() == 15; }\n',
    }
    assert any(
        "task.cpp, C++, has active()" in it for it in escalations(port_files(tmp_path, files))
    )
