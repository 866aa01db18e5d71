"""CONTROL.FPCA, cleared by getter and setter: the kernel's, and so taken out, if that is all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.porter.helpers import escalations, port_files

FUNCTIONS = """\
typedef unsigned long ULONG;
static inline ULONG get(void)
{
    ULONG value;
    __asm__ volatile(" MRS %0, CONTROL " : "=r"(value));
    return value;
}
static inline void set(ULONG value)
{
    __asm__ volatile(" MSR CONTROL, %0" : : "r"(value) : "memory");
}
"""
CLEARS = "void f(void) { ULONG s; s = get(); s = s & ~((ULONG)0x4); set(s); }\n"
ASKS = """\
void touch(void);
void g(void)
{
    ULONG s;
    s = get();
    s = s & ((ULONG)4);
    touch();
    if (s == ((ULONG)0)) {
        s = get();
        s = s & ~((ULONG)4);
        set(s);
    }
}
"""
ALONE = {
    "cleared": CLEARS,
    "in one": "void f(void) { set(get() & ~4UL); }\n",
    "asked, to be cleared": CLEARS + ASKS,
}
SWITCH = """\
__attribute__((naked)) void PendSV_Handler(void)
{{
    __asm volatile("mrs r0, psp\\n push {{r4, lr}}\\n bl next\\n pop {{r4, lr}}\\n"
                   "{}\\n msr psp, r0\\n bx lr");
}}
"""
RETURNS = {
    "from the task": ("ldmia r0!, {r4-r11, lr}", True),
    "a word of the task": ("ldr lr, [r0], #4", True),
    "a number": ("mvn lr, #2", True),
    "as it came": ("ldmia r0!, {r4-r11}", False),
    "as it came, a bit set": ("ldmia r0!, {r4-r11}\\n orr lr, lr, #4", False),
}
OTHERWISE = {
    "asked for something else": CLEARS
    + "void save(void); void g(void) { if (get() & 4) save(); }\n",
    "another bit": "void f(void) { set(get() & ~2UL); }\n",
    "another bit asked": CLEARS + "int g(void) { return (get() & 2) != 0; }\n",
    "set": "void f(void) { set(get() | 4); }\n",
    "a number": CLEARS + "void g(void) { set(2); }\n",
    "only this bit left": "void f(void) { ULONG s; s = get(); s = s & 4; set(s); }\n",
    "something in between": "ULONG k;\nvoid f(void) { ULONG s = get() & ~4UL; s |= k; set(s); }\n",
    "of another's": CLEARS + "void g(ULONG s) { set(s); }\n",
    "kept": "ULONG k;\nvoid f(void) { k = get() & ~4UL; }\nULONG g(void) { return k; }\n",
    "another answer, too": CLEARS + ASKS.replace("set(s);\n", "set(s);\n        touch();\n"),
    "otherwise": CLEARS + ASKS.replace("    }\n}", "    } else touch();\n}"),
    "its address": CLEARS + "void (*h)(ULONG) = set;\n",
    "elsewhere": CLEARS + 'void g(void) { __asm volatile("msr control, %0" :: "r"(3)); }\n',
}  # fmt: skip
CORE = """\
static inline void __ISB(void) { __asm volatile("isb" ::: "memory"); }
static inline unsigned __get_CONTROL(void)
{
    unsigned result;
    __asm volatile("MRS %0, control" : "=r"(result));
    return (result);
}
static inline void __set_CONTROL(unsigned control)
{
    __asm volatile("MSR control, %0" : : "r"(control) : "memory");
    __ISB();
}
static inline void __set_PSP(unsigned stack) { __asm volatile("MSR psp, %0" : : "r"(stack) :); }
"""
BY_NAME = {
    "cleared": ("void f(void) { g(); __set_CONTROL(__get_CONTROL() & (~(1UL << 2))); }\n", True),
    "in two": ("void f(void) { unsigned c = __get_CONTROL(); c &= ~4UL; __set_CONTROL(c); }\n",
               False),  # how a variable is changed in between isn't followed
    "in steps": ("void f(void) { unsigned c; c = __get_CONTROL() & ~4UL; __set_CONTROL(c); }\n",
                 True),
    "in a macro": ("#define FORGET() __set_CONTROL(__get_CONTROL() & ~4UL)\n"
                   "void f(void) { FORGET(); }\n", True),
    "a result": ("unsigned f(void) { return __get_CONTROL() & ~4UL; }\n", False),
    "another bit": ("void f(void) { __set_CONTROL(__get_CONTROL() & ~2UL); }\n", False),
    "in an expression": ("void f(int x) { x ? __set_CONTROL(__get_CONTROL() & ~4UL) : g(); }\n",
                         False),
    "who sets PSP": ("void f(void) { __set_CONTROL(__get_CONTROL() & ~4UL); __set_PSP(0); }\n",
                     False),
}  # fmt: skip


@pytest.mark.parametrize("name", BY_NAME)
def test_intrinsics_are_followed_into_their_bodies(name: str, tmp_path: Path) -> None:
    text, is_alone = BY_NAME[name]
    files = {
        "core.h": CORE.encode(),
        "main.c": b'#include "core.h"\nvoid g(void);\n' + text.encode(),
    }
    told = escalations(port_files(tmp_path, files))
    assert any("CONTROL" in it for it in told) is not is_alone


@pytest.mark.parametrize(
    "header", ["", "unsigned __get_CONTROL(void); void __set_CONTROL(unsigned);"]
)
def test_an_intrinsic_without_a_body_is_told(header: str, tmp_path: Path) -> None:
    text = header + "\n" + BY_NAME["cleared"][0]
    told = escalations(port_files(tmp_path, {"main.c": text.encode()}))
    assert any("__set_CONTROL" in it for it in told) and any("__get_CONTROL" in it for it in told)


def test_cplusplus_is_not_looked_through(tmp_path: Path) -> None:
    text = b'int f() { unsigned x; asm volatile("mrs %0, control" : "=r"(x)); return x & 1; }\n'
    assert "reads CONTROL" in escalations(port_files(tmp_path, {"main.cpp": text}))[0]


@pytest.mark.parametrize("name", ALONE)
def test_what_only_clears_it_is_taken_out(name: str, tmp_path: Path) -> None:
    result = port_files(tmp_path, {"main.c": (FUNCTIONS + ALONE[name]).encode()})
    assert not escalations(result)
    (file,) = result.files
    assert b"CONTROL" not in file.ported and b"value = 0;" in file.ported


@pytest.mark.parametrize("name", RETURNS)
def test_a_switch_goes_on_by_an_exc_return_of_its_own(name: str, tmp_path: Path) -> None:
    """By another task's the kernel would take FPU state off the stack of a task without any."""
    restores, is_own = RETURNS[name]
    text = FUNCTIONS + ALONE["in one"] + SWITCH.format(restores)
    told = escalations(port_files(tmp_path, {"main.c": text.encode()}))
    assert any("reads CONTROL" in it for it in told) is not is_own


@pytest.mark.parametrize("name", OTHERWISE)
def test_who_does_more_with_control_is_told(name: str, tmp_path: Path) -> None:
    result = port_files(tmp_path, {"main.c": (FUNCTIONS + OTHERWISE[name]).encode()})
    told = escalations(result)
    assert any("CONTROL" in it.upper() for it in told)
    assert all(b"value = 0;" not in it.ported for it in result.files)
