"""What reading a file costs: a text is parsed once, and lines that nobody asks about stay text."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.program.c_text import CText
from porter.source import c_tree
from porter.source.c_lexer import lex
from porter.source.c_types import TypeTable
from porter.source.evaluate import Evaluator
from porter.source.macros import Macro, MacroTable, parse_define
from porter.source.source_file import SourceFile

_BODIES = ("", "1", "(x)", "a ## b", "0x1UL << 3U", "f(a, ...)", "a...b", "1.5e+3", "$x _y->z[2]")
_HEADS = ("N", "N(a)", "N(a, b)", "N(a, ...)", "N(a, rest...)", "N()", "N (a)", "N(3)", "N(a", "3")


def _text(data: bytes) -> CText:
    lexed = lex(data)
    macros = MacroTable()
    macros.add_lexed(lexed.directives)
    return CText(SourceFile(Path("a.c"), "a.c", data), Evaluator(macros, TypeTable()), lexed)


def _parses(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Every text that is parsed from now on."""
    parsed: list[bytes] = []
    made = c_tree.SyntaxTree.__init__

    def noted(tree: c_tree.SyntaxTree, text: bytes, *rest: object, **more: object) -> None:
        parsed.append(text)
        made(tree, text, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(c_tree.SyntaxTree, "__init__", noted)
    return parsed


def _meant(define: str, behind: str) -> tuple[object, ...] | None:
    data = f"\n#define {define}{behind}\n".encode()
    [directive] = lex(data).directives
    macro: Macro | None = parse_define(directive)
    if macro is None:
        return None
    places = [(it.kind, it.text, data[it.start : it.end]) for it in macro.body]
    return macro.name, macro.parameters, macro.is_variadic, macro.text, macro.words, places


@pytest.mark.parametrize("head", _HEADS)
def test_a_plain_define_says_what_one_with_more_behind_it_says(head: str) -> None:
    """A backslash at the end of the line makes it one whose tokens are kept."""
    for body in _BODIES:
        define = f"{head} {body}"
        assert _meant(define, "") == _meant(define, " \\\n"), define


def test_what_stands_around_a_define_is_found_all_the_same() -> None:
    lexed = lex(b"int a;\n#define A 1 /* b */\n# define B 'c'\n#define C /* d */ 2\nint e;")
    assert [it.subject for it in lexed.directives] == [b"A", b"B", b"C"]
    assert [[token.text for token in it.tokens[1:]] for it in lexed.directives] == [
        [b"1"], [b"'c'"], [b"2"],
    ]  # fmt: skip
    assert [it.text for it in lexed.tokens] == [b"int", b"a", b";", b"int", b"e", b";"]
    assert len(lexed.comments) == 2


def test_arms_are_parsed_as_often_as_they_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = _parses(monkeypatch)
    guarded = _text(b"#ifndef A_H\n#define A_H\nint once;\n#endif\n")
    guarded.trees.function_at(30, 31)
    assert len(parsed) == 1, "no arm leaves anything out"
    either = _text(b"#if A\nint one;\n#else\nint two;\n#endif\n")
    either.trees.function_at(10, 11)
    assert len(parsed) == 1 + 3, "both arms at once, and each alone"


def test_readings_that_come_to_the_same_text_share_its_tree(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parsed = _parses(monkeypatch)
    first, second = (_text(b"int same(void) { return 7; }\n") for _ in range(2))
    assert first.trees.whole is second.trees.whole
    assert len(parsed) == 1


def test_a_table_of_few_other_definitions_answers_as_a_whole_one() -> None:
    every = _text(b"#define A 1\n#define B A\n#define C B\n#define D 4\n").evaluator.macros
    [own] = lex(b"\n#define D C\n").directives
    macro = parse_define(own)
    assert macro is not None
    seen = every.with_definitions({b"D": [macro]})
    assert seen.users_of([b"A"]) == {b"A", b"B", b"C", b"D"}
    assert every.users_of([b"A"]) == {b"A", b"B", b"C"}
    assert seen.expanded((b"D", b"E")) == (b"1", b"E")
    assert every.expanded((b"D",)) == (b"4",)
    assert set(seen) == set(every)
