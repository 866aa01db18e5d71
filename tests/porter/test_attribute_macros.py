"""Macros with arguments that stand for attributes, and macros that take any number of arguments."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.judging.verdict import Status
from porter.source.c_lexer import lex, lex_fragment
from porter.source.macros import MacroTable, parse_define
from tests.porter.helpers import escalations, port_files, port_text

HEADER = b"""#define OPTIMIZE(x) __attribute__((optimize(x)))
#define ATTR(x) __attribute__((x))
#define PLACED(x) ATTR(section(x)) ATTR(used)
#define ALIGNED(n) __attribute__((aligned(n)))
"""
BODY = b" { __disable_irq(); shared++; __enable_irq(); return 0; }\n"
USE = b'#include "attributes.h"\nint shared;\nint f(void);\nint main(void) { return f(); }\n'
HEADS = [
    b'int OPTIMIZE("O3") f(void)',
    b'OPTIMIZE("O3") int f(void)',
    b'static inline ATTR(always_inline) OPTIMIZE("O3") int f(void)',
    b'int OPTIMIZE("O3")\nf(void)',
]


@pytest.mark.parametrize("head", HEADS)
def test_an_attribute_with_arguments_is_no_function(tmp_path: Path, head: bytes) -> None:
    files = {"attributes.h": HEADER, "main.c": USE + head + BODY}
    result = port_files(tmp_path, files)
    assert [call.name for call in result.unseen.calls] == []
    assert escalations(result) == []
    (port,) = result.files
    assert b"virt_int_mask" in port.ported and b"__disable_irq" not in port.ported


@pytest.mark.parametrize("head", HEADS)
def test_what_such_a_function_calls_is_used_if_it_is(tmp_path: Path, head: bytes) -> None:
    """Under the attribute's name nobody would call it."""
    text = b'#include "attributes.h"\n' + head + b" { __set_MSP(4); return 0; }\n"
    for call, status in ((b"f()", Status.ESCALATED), (b"0", Status.LEFT)):
        main = b"int main(void) { return " + call + b"; }\n"
        result = port_files(tmp_path, {"attributes.h": HEADER, "main.c": text + main})
        (verdict,) = (v for port in result.files for v in port.verdicts)
        assert verdict.status is status


def test_a_function_that_a_macro_keeps_is_used(tmp_path: Path) -> None:
    text = b'#include "attributes.h"\nPLACED(".hook") void hook(void) { __set_MSP(4); }\n'
    files = {"attributes.h": HEADER, "main.c": text + b"int main(void) {}\n"}
    assert len(escalations(port_files(tmp_path, files))) == 1


def test_a_member_may_be_aligned_by_such_a_macro(tmp_path: Path) -> None:
    text = (
        HEADER + b"typedef struct { char a; ALIGNED(4) unsigned CR; unsigned CFG; } clock_t;\n"
        b"int main(void) { ((volatile clock_t *)0x400237FC)->CFG = 5; }\n"
    )
    _, port = port_text(tmp_path, text)
    (verdict,) = port.verdicts
    assert "RCC->CFG" in verdict.reason


@pytest.mark.parametrize(
    ("definition", "call", "expanded"),
    [
        (b"#define LOG(f, ...) p(f, ##__VA_ARGS__)", b'LOG("a", b(c), d)', b'p ("a", b (c), d)'),
        (b"#define LOG(f, ...) p(f, ##__VA_ARGS__)", b'LOG("a")', b'p ("a")'),
        (b"#define LOG(f, args...) p(f, args)", b'LOG("a", b, c)', b'p ("a", b, c)'),
        (b"#define LOG(f, args...) p(f, ##args)", b'LOG("a")', b'p ("a")'),
        (b"#define LOG(args...) p(args)", b"LOG(a, b)", b"p (a, b)"),
        (b"#define LOG(f, ...) p(f __VA_OPT__(,) __VA_ARGS__)", b"LOG(a, b)", b"p (a, b)"),
        (b"#define LOG(f, ...) p(f __VA_OPT__(,) __VA_ARGS__)", b"LOG(a)", b"p (a)"),
        (b"#define LOG(...) p(__VA_OPT__((x), y))", b"LOG(a)", b"p ((x), y)"),
    ],
)
def test_macros_take_any_number_of_arguments(
    definition: bytes, call: bytes, expanded: bytes
) -> None:
    macros = MacroTable()
    (directive,) = lex(definition + b"\n").directives
    macro = parse_define(directive)
    assert macro is not None
    macros.define(macro)
    found = macros.expand(list(lex_fragment(call)))
    assert list(found) == [token.text for token in lex_fragment(expanded)]


def test_a_function_in_a_logs_arguments_keeps_its_name(tmp_path: Path) -> None:
    text = b"#define LOG(f, ...) print(f, ##__VA_ARGS__)\nint main(void) { LOG(1, get(2)); }\n"
    result = port_files(tmp_path, {"main.c": text})
    assert {call.name for call in result.unseen.calls} == {"print", "get"}
