"""A call to an address that is calculated may come to the middle of a function, behind what saves
the registers that it uses."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.context_switch.result import NotTranscribable
from tests.porter.context_switch.test_kept_registers import project

BASE = {"base": "push {r8, lr}; mov r8, r0; str r8, [r1]; pop {r8, pc}"}
HEAD = "typedef void (*fn)(void); extern void base(void); unsigned n; fn hook, all[2] = { base };\n"
MIDDLES = {
    "at once": "void schedule(void) { ((fn)((unsigned)base + n))(); }",
    "without a typedef": "void schedule(void) { ((void (*)(void))((char *)base + 4))(); }",
    "through a local": "void schedule(void) { fn f = (fn)((unsigned)base + 6); f(); }",
    "of a number": "void schedule(void) { unsigned a = (unsigned)base; a += 4; ((fn)a)(); }",
    "through a variable": "void set(void) { hook = (fn)((unsigned)base - 4); }\n"
    "void schedule(void) { hook(); }",
    "by a pointer to it": "void schedule(void) { fn f = (fn)((unsigned)base + 6); (*f)(); }",
    "of an element": "void schedule(void) { ((fn)((unsigned)all[0] + n))(); }",
    "of an element, kept": "void set(void) { hook = (fn)((unsigned)all[0] + n); }\n"
    "void schedule(void) { hook(); }",
    "a parameter": "static void run(fn f) { f(); }\n"
    "void schedule(void) { run((fn)((unsigned)base + n)); }",
    "in a struct": "struct { fn f; } s; void set(void) { s.f = (fn)((unsigned)base | 4); }\n"
    "void schedule(void) { s.f(); }",
    "of C": "int y; void of_c(int a) { y = a; }\n"
    "void schedule(void) { hook = (fn)((unsigned)of_c + n); hook(); }",
    "asm": "void schedule(void) {\n"
    '    __asm volatile("blx %0" :: "r"((unsigned)base + n) : "lr", "memory"); }',
    "of a member": "struct o { fn f; } s; void set(struct o *p) { p->f = base;\n"
    "hook = (fn)((unsigned)p->f + n); } void schedule(void) { hook(); }",
    "of a namesake behind a pointer to anything": "struct { fn f; } s; void ext(unsigned);\n"
    "void set(void *p) { s.f = base; ext(((struct { fn f; } *)p)->f + n); }\n"
    "void schedule(void) { s.f(); }",
    "handed to asm that writes another": "void ext(unsigned); unsigned go(void) {\n"
    'register unsigned r0 asm("r0") = (unsigned)base + n; unsigned r1;\n'
    '__asm volatile("blx %1" : "=r"(r1) : "r"(r0)); return r1; }\n'
    "void schedule(void) { go(); all[0](); }",
    "by its bits": "unsigned k; void set(void) { k = (unsigned)base ^ n; }\n"
    "void schedule(void) { ((fn)(k ^ n))(); }",
}
WHOLE = {
    "as it is": "void schedule(void) { hook = base; hook(); }",
    "Thumb": "void schedule(void) { hook = (fn)((unsigned)base | 1u); hook(); }",
    "its address": "void set(unsigned *sp) { *--sp = (unsigned)base & ~1u; }\n"
    "void schedule(void) { hook = base; hook(); }",
    "a distance": "unsigned d; void size(void) { d = (unsigned)schedule - (unsigned)base; }\n"
    "void schedule(void) { hook = base; hook(); }",
    "compared": "int is(unsigned pc) { return pc < (unsigned)base + 8; }\n"
    "void schedule(void) { hook = base; hook(); }",
    "read": "unsigned sum(int i) { return ((unsigned short *)base)[i] + *((char *)base + 2); }\n"
    "void schedule(void) { hook = base; hook(); }",
    "a page": "void protect(void) { *(volatile unsigned *)0xE000ED9C = (unsigned)base & ~31u; }\n"
    "void schedule(void) { hook = base; hook(); }",
    "a namesake": "struct { fn f; } s; struct o { unsigned f; }; void ext(unsigned);\n"
    "void set(struct o *p) { s.f = base; ext(p->f & ~n); } void schedule(void) { s.f(); }",
    "a local namesake": "struct { fn f; } s;\n"
    "void set(void) { unsigned f = n + 3; s.f = base; if (f) n = f; }\n"
    "void schedule(void) { s.f(); }",
    "a member of a local namesake": "struct { fn f; } s; struct o { unsigned k; };\n"
    "void ext(unsigned); void set(struct o *f) { s.f = base; ext(f->k & ~n); }\n"
    "void schedule(void) { s.f(); }",
    "in a frame that a pointer goes along": "void ext(unsigned *);\n"
    "void set(unsigned *p) { p[14] = (unsigned)base; p++; ext(p); }\n"
    "void schedule(fn given) { given(); hook = base; }",
    "gone by what asm writes": "void ext(unsigned); unsigned go(void) {\n"
    'register unsigned r0 asm("r0") = (unsigned)base;\n'
    '__asm volatile("svc 0" : "=r"(r0) : "r"(r0)); return r0; }\n'
    "void schedule(fn given) { ext(go() + n); given(); hook = base; }",
    "a table": "void schedule(void) { (*(all + n))(); all[n](); }",
    "not called": "void other(void) { hook = (fn)((unsigned)base + n); }\nvoid schedule(void) { }",
    "of ROM": "void schedule(void) { ((fn)(0x1000 + 8))(); }",
}


def refuse(folder: Path, c: str) -> None:
    data = project(folder, BASE, HEAD + c)
    data.whole.refuse(["schedule"])


@pytest.mark.parametrize("name", MIDDLES)
def test_the_middle_of_a_function_is_no_callee(name: str, tmp_path: Path) -> None:
    with pytest.raises(NotTranscribable, match="in the middle of a function"):
        refuse(tmp_path, MIDDLES[name])


@pytest.mark.parametrize("name", WHOLE)
def test_a_function_as_a_whole_is_one(name: str, tmp_path: Path) -> None:
    refuse(tmp_path, WHOLE[name])
