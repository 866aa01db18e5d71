"""Macros of several statements as the body of an `if` or a loop: only the first depends on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.porter.helpers import port_files, port_text

_LOCK = "#define LOCK() s = __get_PRIMASK(); __disable_irq()\n"
_APART = "#define LOCK() s = virt_int_query(VIRT_PRIMASK); virt_int_mask(VIRT_PRIMASK)\n"
_SAVED = "#define LOCK() s = virt_int_save(VIRT_PRIMASK);"
_HEAD = "unsigned s;\n"


@pytest.mark.parametrize(
    "use",
    [
        "void f(int x) { if (x) LOCK(); g(); }\n",
        "void f(int x) { if (x) { g(); } else LOCK(); }\n",
        "void f(int x) { while (x--) LOCK(); }\n",
        "void f(int x) { for (; x; x--) LOCK(); }\n",
        "void f(int x) { g(); LOCK(); if (x)\n        LOCK(); }\n",
        "#define ENTER() LOCK()\nvoid f(int x) { if (x) ENTER(); }\n",
        "#define ENTER() LOCK(); g()\nvoid f(int x) { if (x) ENTER(); }\n",
        "#define ENTER(x) if (x) LOCK()\nvoid f(int x) { ENTER(x); }\n",
        "#define ENTER LOCK()\nvoid f(int x) { if (x) ENTER; }\n",
    ],
)
def test_the_mask_behind_a_read_stays_a_statement_of_its_own(tmp_path: Path, use: str) -> None:
    ported, _ = port_text(tmp_path, (_HEAD + _LOCK + use).encode())
    assert _APART in ported.decode()
    assert ported.decode().endswith(use)


@pytest.mark.parametrize(
    "use",
    [
        "void f(int x) { LOCK(); g(); }\n",
        "void f(int x) { if (x) { LOCK(); } g(); LOCK(); }\n",
        "void f(int x) { switch (x) { case 1: LOCK(); break; } }\n",
        "#define ENTER() LOCK()\nvoid f(int x) { if (x) { ENTER(); } }\n",
        "#define ENTER() g(); LOCK()\nvoid f(int x) { if (x) ENTER(); }\n",
    ],
)
def test_a_macro_among_statements_saves_at_once(tmp_path: Path, use: str) -> None:
    ported, _ = port_text(tmp_path, (_HEAD + _LOCK + use).encode())
    assert _SAVED in ported.decode()


@pytest.mark.parametrize("head", ["#define LOCK() do { ", "#define LOCK() { "])
def test_braces_keep_statements_together(tmp_path: Path, head: str) -> None:
    tail = "} while (0)" if "do" in head else "}"
    text = f"{_HEAD}{head}s = __get_PRIMASK(); __disable_irq(); {tail}\n"
    use = "void f(int x) { if (x) LOCK(); g(); }\n"
    ported, _ = port_text(tmp_path, (text + use).encode())
    assert "virt_int_save(VIRT_PRIMASK)" in ported.decode()


def test_a_macro_without_parameters(tmp_path: Path) -> None:
    text = _HEAD + _LOCK.replace("()", "", 1) + "void f(int x) { if (x) LOCK; g(); }\n"
    ported, _ = port_text(tmp_path, text.encode())
    assert _APART.replace("()", "", 1) in ported.decode()


def test_a_use_in_another_file(tmp_path: Path) -> None:
    files = {
        "lock.h": (f"extern {_HEAD}{_LOCK}").encode(),
        "main.c": b'#include "lock.h"\nunsigned s;\nvoid f(int x) { if (x) LOCK(); }\n',
    }
    (port,) = port_files(tmp_path, files).files
    assert _APART in port.ported.decode()


def test_what_is_taken_out_leaves_an_empty_statement(tmp_path: Path) -> None:
    macro = "#define INIT() __enable_fault_irq(); g()\n"
    text = "void g(void);\n" + macro + "void f(int x) { if (x) INIT(); }\n"
    ported, _ = port_text(tmp_path, text.encode())
    assert "#define INIT() ; g()\n" in ported.decode()
    plain, _ = port_text(tmp_path, text.replace("if (x) ", "").encode())
    assert "#define INIT() g()\n" in plain.decode()
