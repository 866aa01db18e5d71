"""Files that C includes are searched as headers are, whatever they are called."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.judging.verdict import Status
from porter.result import PortResult
from tests.porter.helpers import port_files

BODY = (
    b'void lock(void) { __asm volatile("cpsid i"); }\n'
    b'void idle(void) { for (;;) __asm volatile("wfi"); }\n'
    b"void clear(void) { *(volatile unsigned *)0xE000EF50 = 4; }\n"
)
MAIN = b"int main(void) { lock(); clear(); idle(); return 0; }\n"


def places(result: PortResult) -> dict[str, list[tuple[int, Status]]]:
    return {
        port.file.name: [(port.file.line(it.site.start), it.status) for it in port.verdicts]
        for port in result.files
    }


@pytest.mark.parametrize(
    "name", ["body.def", "body.inc", "body.tbl", "body", "body.INC", "parts/body.def", "body.gen.x"]
)
def test_each_place_in_it_is_decided_on(name: str, tmp_path: Path) -> None:
    files = {"main.c": f'#include "{name}"\n'.encode() + MAIN, name: BODY}
    found = places(port_files(tmp_path, files))[name]
    assert found == [(1, Status.REWRITTEN), (2, Status.REWRITTEN), (3, Status.ESCALATED)]


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({"main.c": b'int main(void) {\n#include "a.def"\nreturn 0; }\n'}, "a.def"),
        ({"main.c": b'#define WHICH "a.def"\nint main(void) {\n#include WHICH\n}\n'}, "a.def"),
        ({"main.cpp": b'int main() {\n#include "a.def"\n}\n'}, "a.def"),
        ({"main.c": b'int main(void) {\n#include "b.tbl"\n}\n', "b.tbl": b'#include "a.def"\n'},
         "a.def"),
        ({"main.c": b'#include "h.h"\nint main(void) { f(); }\n',
          "h.h": b'static inline void f(void) {\n#include "a.def"\n}\n'}, "a.def"),
    ],
)  # fmt: skip
def test_statements_and_what_is_included_in_turn_are_searched(
    files: dict[str, bytes], name: str, tmp_path: Path
) -> None:
    result = port_files(tmp_path, files | {name: b'__asm volatile("cpsie i");\n'})
    assert places(result) == {name: [(1, Status.REWRITTEN)]}


def test_what_nothing_includes_is_none_of_it(tmp_path: Path) -> None:
    files = {"main.c": b'#include "b.def"\nint main(void) { return LEVEL; }\n',
             "b.def": b"#define LEVEL 3\n", "a.def": BODY}  # fmt: skip
    assert not places(port_files(tmp_path, files))


def test_a_table_of_macros_has_nothing_in_it(tmp_path: Path) -> None:
    table = b"E(one, 1)\nE(two, 2)\n"
    main = (
        b'#define E(a, b) a = b,\nenum {\n#include "e.def"\n};\n#undef E\n#define E(a, b) #a,\n'
        b'const char *names[] = {\n#include "e.def"\n};\nint main(void) { return one; }\n'
    )
    result = port_files(tmp_path, {"main.c": main, "e.def": table})
    assert not places(result)
    assert not result.unseen
