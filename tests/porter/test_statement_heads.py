"""Macros that head a statement: a function that uses one is read, or told not to be."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.porter.helpers import escalations, port_files, port_text

START = b"""\
#include <stdint.h>
#define list_for_each(p, h) for (p = (h)->next; p != (h); p = p->next)
#define list_safe(p, n, h) for (p = (h)->next, n = p->next; p != (h); p = n, n = p->next)
#define list_entries(p, h, type) for (p = (type *)(h)->next; p != (h); p = p->next)
#define FOREVER for(;;)
#define ATOMIC_BLOCK() for (int k = 1; k; k = 0)
#define IF_NOT_NULL(p) if (!(p)) {} else
#define each(p, h) for (p = h; p; p = p->next)
struct l { struct l *next; };
static volatile uint32_t *const icsr = (uint32_t *)0xE000ED04;
extern struct l all;
void g(void);
void f(void)
{
    struct l *p, *n;
"""
YIELD = b"*icsr = 1 << 28;"


@pytest.mark.parametrize(
    "code",
    [
        b"list_for_each(p, &all) { g(); }\n    %s\n",
        b"list_for_each (p, &all)\n        %s\n",
        b"list_safe(p, n, &all) {\n        %s\n    }\n",
        b"list_entries(p, &all, struct l) { %s }\n",
        b"FOREVER { %s }\n",
        b"ATOMIC_BLOCK() { if (n) { list_for_each(p, n) { %s } } }\n",
        b"IF_NOT_NULL(n) %s\n",
    ],
)
def test_what_stands_in_it_and_behind_it_is_rewritten(tmp_path: Path, code: bytes) -> None:
    ported, file = port_text(tmp_path, START + code % YIELD + b"}\n")
    assert ported.partition(b"*n;\n")[2] == code % b"virt_yield();" + b"}\n"
    assert not [it for it in file.verdicts if it.rule == "unknown"]


def test_a_name_that_is_too_short_for_it_is_told(tmp_path: Path) -> None:
    _, file = port_text(tmp_path, START + b"each(p, n) { g(); }\n    " + YIELD + b"\n}\n")
    (reason,) = (it.reason for it in file.verdicts if it.rule == "unknown")
    assert "the function around it can't be read" in reason


@pytest.mark.parametrize("word", [b"p", b"(p)"])
def test_a_pointer_that_a_loop_moves_is_not_what_it_was(tmp_path: Path, word: bytes) -> None:
    code = START.replace(b"struct l *p, *n;", b"volatile uint32_t *word = icsr;") + (
        b"    list_safe(word, n, h) { *word = 1 << 28; }\n}\n"
    )
    code = code.replace(b"void f(void)", b"void f(struct l *n, int *h)")
    ported, _ = port_text(
        tmp_path,
        code.replace(b"for (p = (h)->next, n", b"for (%s = (h)->next, n" % word).replace(
            b"p = n, n =", b"%s = n, n =" % word
        ),
    )
    assert b"*word = 1 << 28" in ported


def test_a_question_that_it_asks_a_register_stays(tmp_path: Path) -> None:
    text = START.replace(b"#define each", b"#define wait_until(x) while (!(x))\n#define each") + (
        b"    wait_until(*(volatile uint32_t *)0xE000E010 >> 16 & 1) { g(); }\n}\n"
    )
    result = port_files(tmp_path, {"main.c": text})
    assert escalations(result)
    assert all(b"wait_until(*(volatile uint32_t *)0xE000E010 " in it.ported for it in result.files)
