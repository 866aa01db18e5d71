"""Supervisor calls that Arm's compiler makes of calls of functions."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.porter.helpers import escalations, port_files, port_text

MAIN = b"int main(void) { lock(); for (;;) { } }\n"


@pytest.mark.parametrize(
    "declaration",
    [
        b"void __svc(3) lock(void);",
        b"extern void __svc(1 + 2) lock();",
        b"__svc(0x03) void lock(void);",
        b"void __swi(3) lock(void);",
    ],
)
def test_one_without_arguments_is_a_call_of_the_machine(tmp_path: Path, declaration: bytes) -> None:
    ported, port = port_text(tmp_path, declaration + b"\n" + MAIN)
    assert b"static inline void lock(void) { virt_svc(3); }\n" + MAIN in ported
    assert b"__sv" not in ported and b"__sw" not in ported
    assert [it.status.value for it in port.verdicts] == ["rewritten"]


@pytest.mark.parametrize(
    "declaration",
    [
        b"int __svc(3) lock(void);",
        b"void __svc(3) lock(int, ...);",
        b"void __svc_indirect(0) lock(void);",
        b"void __svc(NUMBER) lock(void);",
        b"#define OF_KERNEL __svc_indirect(0)\nextern void OF_KERNEL lock(int);",
        b"void __svc(3)\n#ifdef X\nlock\n#endif\n(void);",
        b"void __svc(3) lock(void);\nvoid __svc(3) lock(void);",
    ],
)
def test_what_its_handler_may_read_is_a_persons(tmp_path: Path, declaration: bytes) -> None:
    text = declaration + b"\n" + MAIN
    result = port_files(tmp_path, {"main.c": text})
    assert result.files[0].ported == text
    assert "its handler reads the arguments from the frame" in escalations(result)[0]


def test_two_headers_that_declare_it_are_a_persons(tmp_path: Path) -> None:
    header = b"void __svc(3) lock(void);\n"
    result = port_files(
        tmp_path, {"a.h": header, "b.h": header, "main.c": b'#include "a.h"\n' + MAIN}
    )
    assert len(escalations(result)) == 2


def test_its_calls_are_known(tmp_path: Path) -> None:
    """Who was told to vouch for them had instructions in the machine that nobody looked at."""
    text = (
        b"void __svc(3) lock(void);\nint __svc_indirect(0) enter(int f, int n);\n"
        b"#define OF_KERNEL __svc_indirect(0)\nextern int OF_KERNEL leave(int f);\n"
        b"extern void *take(int f) OF_KERNEL;\n"
    )
    main = b"int main(void) { lock(); enter(1, 2); leave(1); take(1); unheard(); }\n"
    result = port_files(tmp_path, {"main.c": text + main})
    assert [it.name for it in result.unseen.calls] == ["unheard"]
    assert len(escalations(result)) == 2


def test_half_of_a_pasted_word_is_no_keyword(tmp_path: Path) -> None:
    made = b"void lock(void);\n#define CALL(f) static inline void __svc##f(void) { f(); }\n"
    uses = b"CALL(lock)\nint main(void) { __svclock(); }\n"
    assert not escalations(port_files(tmp_path, {"main.c": made + uses}))


def test_a_keyword_that_is_pasted_is_one(tmp_path: Path) -> None:
    made = b"#define OF(kind) __svc##kind(0)\nvoid OF(_indirect) lock(void);\n"
    result = port_files(tmp_path, {"main.c": made + MAIN})
    assert any("__svc_indirect" in it for it in escalations(result)), escalations(result)
