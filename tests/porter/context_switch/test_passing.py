"""What a call passes is what the C declaration says, or the handler is escalated."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from porter.context_switch.initial_data import InitialData
from porter.context_switch.lift_state import Signature
from porter.context_switch.names import Names
from tests.porter.context_switch.test_refusals import FRAME, RESUME, TEXT
from tests.porter.context_switch.trees import M3, fixture

TYPES = """
typedef __uint32_t uint32_t; typedef long unsigned int __uint32_t; typedef unsigned long long wide;
typedef struct { int a; struct { int b; } c; } pair, *pair_pointer; typedef enum { A, B } choice;
typedef void (*hook)(int, long long); typedef struct opaque aligned __attribute__((aligned(8)));
"""
WORDS = {
    "void f(uint32_t a, char b, _Bool c);": 3,
    "extern choice f(pair_pointer a, choice b, hook c);": 3,
    "void f(int (*a)(double), pair b[4], const pair *c);": 3,
    "static pair *f(void) { }": 0,
    "void f() { }": 0,
    "void f(); void f(int a);": 1,
    "void f(); void f(a, b) pair *a, *b; { }": 2,
    "void f(a, b) int b; unsigned char a; { }": 2,
}
OTHERWISE = {
    "void f();": "",
    "void f(const char *a, ...);": "any number of arguments",
    "pair f(void);": "returns 'pair', a structure",
    "void f(struct opaque a);": "takes 'struct opaque a', a structure",
    "void f(aligned);": "a structure",
    "void f(int a, wide b);": "takes 'wide b', 64 bits",
    "void f(const uint64_t);": "64 bits",
    "long long f(void);": "returns 'long long', 64 bits",
    "typedef int four __attribute__((vector_size(16))); void f(four a);": "no text here explains",
    "double f(void);": "floating-point",
    "void f(a, b) pair b; int a; { }": "takes 'pair b', a structure",
    "void f(unheard_of a);": "a type that no text here explains",
}


def signature(declared: str) -> Signature | None:
    data = InitialData((), lambda file: None, Path.read_bytes)
    return Names(TYPES + declared, "", lambda expression: None, data).function("f")


@pytest.mark.parametrize("declared", WORDS)
def test_words(declared: str) -> None:
    found = signature(declared)
    assert found is not None and not found.problem and not found.unprototyped
    assert len(found.parameters) == WORDS[declared]


@pytest.mark.parametrize("declared", OTHERWISE)
def test_what_is_no_word(declared: str) -> None:
    found = signature(declared)
    assert found is not None and OTHERWISE[declared] in found.problem
    assert found.unprototyped == (not OTHERWISE[declared])


@pytest.mark.parametrize("declared", [it for it in OTHERWISE if not it.endswith("}")])
def test_a_handler_that_calls_it_is_escalated(declared: str, tmp_path: Path) -> None:
    """What it returns or takes in memory would be passed on as it happens to be."""
    name = "uint32_t *task; typedef struct opaque { int a, b; } aligned;"
    text = FRAME + "push {r1, lr}\nmov r0, r2\nmov r1, #9\nbl f\npop {r1, lr}\n" + RESUME
    quoted = " ".join(f'"{line}\\n"' for line in text.splitlines())
    types = "typedef struct { int a, b, c; } pair; typedef uint64_t wide;\n"
    types += "" if "pair" in declared or "wide" in declared else name
    source = TEXT.format(asm=quoted).replace("void choose(void);", f"{types}{declared}\n")
    source = source.replace("unheard_of", "pair")
    (found,) = fixture(tmp_path, source, M3).port()
    assert found.status == "escalated" and "f() " in found.reason


def test_the_definition_says_what_an_old_declaration_does_not(tmp_path: Path) -> None:
    """In the same file, or in another one that C declares it for."""
    text = FRAME + "push {r1, lr}\nmov r0, r2\nbl f\npop {r1, lr}\n" + RESUME
    quoted = " ".join(f'"{line}\\n"' for line in text.splitlines())
    source = TEXT.format(asm=quoted).replace("choose(void)", "f()")
    tree = fixture(tmp_path, source, M3)
    other = tmp_path / "other.c"
    other.write_text("void f(t) unsigned *t; { *t = 0; }\n")
    (handler,) = [
        it for it in replace(tree, files=(*tree.files, other)).port() if it.role == "switch"
    ]
    assert handler.status == "rewritten" and b"f((void *)" in handler.replacement
