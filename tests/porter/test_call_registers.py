"""What a supervisor call hands over in registers isn't seen in C: the call stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.porter.helpers import escalations, port_files

SVC = '__asm volatile ("svc 2")'
MACRO = '#define CALL(n) __asm volatile ("svc %0" :: "i"(n))\n#define YIELD __asm("svc 0")\n'


@pytest.mark.parametrize(
    ("code", "who"),
    [
        (f"void send(int to, void *what) {{ {SVC}; }}", "send() leaves its parameter to"),
        (f"void send(int to) {{ if (to) {SVC}; }}", "send() leaves its parameter to"),
        (f"void send(int to) {{ (void)to; {SVC}; }}", "send() leaves its parameter to"),
        (f"int get(void) {{ {SVC}; }}", "the result of get() is what a register holds"),
        (f"void *get(void) {{ {SVC}; }}", "the result of get() is what a register holds"),
        (f'void f(void) {{ register int x asm("r0"); x = 3; {SVC}; }}', "by their names"),
        ("void now(void) { CALL(0); }\nvoid send(int to) { CALL(2); }", "send() leaves its"),
        ("#define SEND CALL(1)\nvoid now(void) { CALL(0); }\nint send(void) { SEND; }", "send()"),
        ("void g(int x) { YIELD; }", "g() leaves its parameter x"),
    ],
)
def test_it_is_told(tmp_path: Path, code: str, who: str) -> None:
    found = escalations(port_files(tmp_path, {"main.c": (MACRO + code + "\n").encode()}))
    assert any(who in it and "supervisor_call.c shows" in it for it in found), found


@pytest.mark.parametrize(
    "code",
    [
        f"void yield(void) {{ {SVC}; }}",
        f"int asked;\nvoid send(int to) {{ asked = to; {SVC}; }}",
        f"void g(int);\nvoid send(int to) {{ g(to); {SVC}; }}",
        f"int count;\nint get(void) {{ {SVC}; return count; }}",
        "void now(void) { CALL(0); YIELD; }",
    ],
)
def test_what_c_says_is_enough(tmp_path: Path, code: str) -> None:
    result = port_files(tmp_path, {"main.c": (MACRO + code + "\n").encode()})
    assert not [it for it in escalations(result) if "svc" in it]
    assert b"virt_svc(" in result.files[0].ported


def test_of_macros_in_headers_all_files_are_looked_at(tmp_path: Path) -> None:
    files = {
        "call.h": MACRO.encode(),
        "a.c": b'#include "call.h"\nvoid now(void) { CALL(0); }\n',
        "b.c": b'#include "call.h"\nvoid send(int to) { CALL(1); }\n',
    }
    found = escalations(port_files(tmp_path, files))
    assert any("used in b.c, where send() leaves its parameter to" in it for it in found), found
