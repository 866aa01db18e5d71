"""A saved stack pointer may be found by its distance from another member of the block."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.porter.context_switch.cases import SOURCES
from tests.porter.context_switch.test_why_no_fast_yield import CHOICE, why

# Behind `sp` of the block stand limit, next and ticks.
BLOCK = (
    "#define FRONT (-4)\ntypedef uint32_t pair[2];\n"
    "struct inner { char bytes[8]; uint32_t w[2]; };\n"
)
OUTSIDE = {
    "in front": "t->arr[-4][9] = v;",
    "in front, by a name": "t->arr[FRONT][9] = v;",
    "in front, backwards": "((uint32_t *)(-4)[t->arr])[9] = v;",
    "in front, followed": "*t->arr[-4] = v;",
    "behind": "t->arr[64][9] = v;",
    "less": "**(t->arr - 4) = v;",
    "more than there is": "**(t->arr + 70) = v;",
    "kept": "uint32_t **p = t->arr; p[-4][9] = v;",
    "walked back": "uint32_t **p = t->arr; p -= 4; **p = v;",
    "stepped back": "uint32_t **p = t->arr; --p; --p; **p = v;",
    "other elements": "((uint32_t **)t->label)[-4][9] = v;",
    "a type of arrays": "((uint32_t *)t->two[-6])[9] = v;",
    "rows": "t->rows[0][-9][9] = v;",
    "in a member": "((uint32_t *)t->in.w[-8])[9] = v;",
    "in an element": "((uint32_t *)t->all[0].w[-8])[9] = v;",
    "a member's element": "((uint32_t *)t->all[-3].w[0])[9] = v;",
    "handed on": "set(t->arr, v);",
    "an address": "((uint32_t *)(&t->ticks)[-3])[9] = v;",
    "an address, less": "*(uint32_t *)*(&t->ticks - 3) = v;",
    "an address of a struct": "((uint32_t *)(&t->in)[-1].w[0])[9] = v;",
    "an address as a number": "**(uint32_t **)((uint32_t)&t->ticks - 12) = v;",
    "an address of an array": "((uint32_t *)(&t->two)[-3][0])[9] = v;",
}
INSIDE = {
    "elements": "t->arr[0][9] = v; t->arr[1] = 0; *t->arr[v] = 1;",
    "walked": "for (char *p = t->label; *p; p++) put(*p);",
    "walked back": "for (char *p = t->label + 8; p > t->label; ) put(*--p);",
    "handed on": "for (int i = 0; i < 8; i++) put(t->label[i]); show(t->label);"
    "put(*(t->label + 2));",
    "as bytes": "put(((char *)t->two)[7]); put(((char *)t->arr)[9]);",
    "at its end": "put(t->last[5]);",
    "rows": "t->rows[1][0][9] = v; *t->rows[v][1] = 2;",
    "in members": "put(t->in.bytes[3]); put(t->all[1].w[1]); t->all[v].w[v] = 0;",
    "an address": "unsigned *p = &t->ticks; put(*p); put(p[0]); put((&t->ticks)[0]);\n"
    "*&t->ticks = 3;",
    "a distance": "uint32_t **p = t->arr + v; put(p - t->arr);",
    "compared": "put(&t->label[2] == t->label + 2);",
}
HEAD = (
    "static void set(uint32_t **p, uint32_t v) { p[-4][9] = v; }\nvoid put(int);\n"
    "static void show(const char *p) { while (*p) put(*p++); }\n"
)
ARRAYS = (
    "uint32_t *limit; struct task *next; unsigned ticks; uint32_t *arr[8]; char label[8]; "
    "pair two; uint32_t *rows[2][3]; struct inner in, all[2]; char last[1];"
)


def told(folder: Path, body: str) -> str:
    c = f"{CHOICE}{HEAD}void f(struct task *t, uint32_t v) {{ {body} }}\n"
    text = (SOURCES / "running_task.c").read_text().replace("char name[8];", ARRAYS)
    return why(folder, c, text=text.replace("struct task {", f"{BLOCK}struct task {{"))


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_word_beside_a_member_is_found(name: str, tmp_path: Path) -> None:
    assert "() looks into saved frames: '" in told(tmp_path, OUTSIDE[name])


@pytest.mark.parametrize("name", INSIDE)
def test_an_arrays_elements_are_its_own(name: str, tmp_path: Path) -> None:
    assert told(tmp_path, INSIDE[name]) == ""
