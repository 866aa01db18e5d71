"""A mask that C takes and the handler opens would stay: a guest's handlers open none."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.context_switch.result import NotTranscribable
from tests.porter.context_switch.cases import SOURCES
from tests.porter.context_switch.test_why_no_fast_yield import why

HEAD = """
void __disable_irq(void); void __enable_irq(void); void __set_PRIMASK(uint32_t);
void __set_BASEPRI(uint32_t); uint32_t __get_PRIMASK(void);
uint32_t count;
static void lock(void) { __asm volatile("cpsid i" ::: "memory"); }
static void unlock(void) { if (--count == 0) __asm volatile("cpsie i" ::: "memory"); }
static void raise(void) { __asm volatile("msr basepri, %0" :: "r"(0x40)); }
"""
PRIMASK, BASEPRI = "cpsie i", "mov r3, #0\\n msr basepri, r3"
LEFT = {
    "asm": (PRIMASK, 'void schedule(void) { __asm volatile("cpsid i"); }'),
    "a function": (PRIMASK, "void schedule(void) { lock(); }"),
    "CMSIS": (PRIMASK, "void schedule(void) { __disable_irq(); }"),
    "a constant": (PRIMASK, "void schedule(void) { __set_PRIMASK(1); }"),
    "put back": ("mov r3, #0\\n msr primask, r3", "void schedule(void) { lock(); }"),
    "under a condition": (PRIMASK, "void schedule(void) { if (count) lock(); }"),
    "BASEPRI": (BASEPRI, "void schedule(void) { raise(); }"),
    "CMSIS' BASEPRI": (BASEPRI, "void schedule(void) { __set_BASEPRI(0x40); }"),
}
KEPT = {
    "opens": (PRIMASK, 'void schedule(void) { lock(); count++; __asm volatile("cpsie i"); }'),
    "counts": (PRIMASK, "void schedule(void) { lock(); count++; unlock(); }"),
    "puts back": (PRIMASK, "void schedule(void) { uint32_t was = __get_PRIMASK();\n"
                           "    lock(); count++; __set_PRIMASK(was); }"),
    "fails": (PRIMASK, "void schedule(void) { if (count) { lock(); for (;;); } }"),
    "fails elsewhere": (PRIMASK, "static void fail(void) { lock(); for (;;) { } }\n"
                                 "void schedule(void) { if (count) fail(); }"),
    "another mask": (PRIMASK, "void schedule(void) { raise(); }"),
    "BASEPRI": (BASEPRI, "void schedule(void) { raise(); count++; __set_BASEPRI(0); }"),
    "elsewhere": (PRIMASK, "void other(void) { lock(); }\nvoid schedule(void) { }"),
}  # fmt: skip


def handler(folder: Path, opening: str, c: str) -> str:
    """Why a handler that opens a mask behind its choice gets no fast yield."""
    text = (SOURCES / "running_task.c").read_text()
    call = '"   bl schedule                 \\n"\n'
    opened = f'"   {opening}\\n"\n' if opening else ""
    return why(folder, HEAD + c, text=text.replace(call, call + opened))


@pytest.mark.parametrize("name", LEFT)
def test_who_takes_a_mask_opens_it(name: str, tmp_path: Path) -> None:
    mask = "BASEPRI" if "BASEPRI" in name else "PRIMASK"
    with pytest.raises(NotTranscribable, match=rf"\(\), which takes {mask} and leaves it to this"):
        handler(tmp_path, *LEFT[name])


@pytest.mark.parametrize("name", KEPT)
def test_who_opens_it_or_ends_leaves_none(name: str, tmp_path: Path) -> None:
    handler(tmp_path, *KEPT[name])


def test_the_library_would_open_what_a_choice_leaves(tmp_path: Path) -> None:
    left = handler(tmp_path, "", "void schedule(void) { lock(); running = 0; }")
    assert left == "lock(), which choosing a task may call, leaves interrupts off"
