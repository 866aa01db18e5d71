"""Vector tables in C, however their entries are written: which function serves which line."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.judging.verdict import Status
from tests.porter.helpers import DOMAIN, port_files

HEAD = """\
typedef union { void *v; void (*f)(void); } entry;
#define FIRST 16
#define EXCEPTION(i, func) [i].f = &func
#define LINE(i, func) [FIRST + (i)].f = &func
#define PLAIN(i, func) [FIRST + (i)] = { .f = func }
#define HANDLER(func) { .f = (void (*)(void))func }
#define NONE { 0 }
void Reset(void) { for (;;) { } }
void A(void) { asm("cpsid i"); }
"""
TABLES = {
    "macros with indices": "EXCEPTION(1, Reset), LINE(37, A)",
    "values of macros": "[1].f = Reset, PLAIN(37, A)",
    "macros in a row": "NONE, HANDLER(Reset), [FIRST + 37] = HANDLER(A)",
    "what follows one": "EXCEPTION(1, Reset), LINE(36, Reset), { .f = A }",
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_a_handler_is_that_of_its_line(table: str, tmp_path: Path) -> None:
    text = f"{HEAD}entry vectors[] = {{ {table} }};\n"
    result = port_files(tmp_path, {"main.c": text.encode()}, DOMAIN)
    (verdict,) = [
        it for port in result.files for it in port.verdicts
        if it.rule == "vectors" and it.site.what.startswith("A")
    ]  # fmt: skip
    assert verdict.status is Status.ESCALATED, verdict
    assert "names no handler" in verdict.reason, "line 37 is described, without a handler"
