"""Branches that the values of a struct's members rule out: only what certainly never runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.porter.helpers import DOMAIN, escalations, port_files

TYPE = b"struct req { unsigned char type; unsigned short value; };\n"
ON = TYPE + b"static int on(struct req *r) { if (r->value & 2) { __set_MSP(4); } return 1; }\n"
MAIN = b"int main(void) { @ return on(&own); }\n"
OWN = ON + b"struct req own;\n"
CHANGES = {
    "by a macro with the member's name": OWN
    + b"#define SET(p, f, v) ((p)->f = (v))\n"
    + MAIN.replace(b"@", b"SET(&own, value, 7);"),
    "by a macro that pastes the name": OWN
    + b"#define SET(p, f, v) ((p)->val##f = (v))\n"
    + MAIN.replace(b"@", b"SET(&own, ue, 7);"),
    "by a macro for the name": OWN + b"#define V value\n" + MAIN.replace(b"@", b"own.V = 7;"),
    "by a macro that the build gives": OWN + MAIN.replace(b"@", b"SETV;"),
    "in a list without inner braces": ON
    + b"struct req own[] = { 1, 7, 2, 8 };\nint main(void) { return on(own + 1); }\n",
    "in a list by ranges": ON
    + b"struct req own[] = { [0 ... 3].value = 7 };\nint main(void) { return on(own + 1); }\n",
    "in a list by position": ON + b"struct req own = { 1, 7 };\n" + MAIN.replace(b"@", b""),
    "in a list within another": ON
    + b"struct { struct req r; } two = { .r.value = 7 };\nint main(void) { return on(&two.r); }\n",
    "in a list of the whole": OWN + MAIN.replace(b"@", b"own = (struct req){ 1, 7 };"),
    "as bytes in a function": OWN
    + b"void fill(void *p) { ((char *)p)[2] = 7; }\n"
    + MAIN.replace(b"@", b"fill(&own);"),
    "as an address in a register": OWN
    + b"void rx(void *p) { *(volatile unsigned *)0x20026018 = (unsigned)p; }\n"
    + MAIN.replace(b"@", b"rx(&own);"),
    "in asm": OWN + MAIN.replace(b"@", b'__asm volatile ("movs %0, #7" : "=r"(own.value));'),
    "in asm by its name": OWN
    + MAIN.replace(b"@", b'__asm volatile ("ldr r0, =ow" "n" ::: "memory");'),
    "in asm by a pointer": OWN
    + MAIN.replace(b"@", b'__asm volatile ("str r0, [%0]" :: "r"(&own) : "memory");'),
    "under an alias": OWN
    + b'extern char raw[4] __attribute__((alias("own")));\n'
    + MAIN.replace(b"@", b"raw[2] = 7;"),
    "under an alias by a pragma": OWN
    + b"extern char raw[4];\n#pragma weak raw = own\n"
    + MAIN.replace(b"@", b"raw[2] = 7;"),
    "before a reset": ON
    + b'__attribute__((section(".noinit"))) struct req own;\n'
    + MAIN.replace(b"@", b""),
    "before a reset, said behind the name": ON
    + b'struct req own __attribute__((section(".noinit")));\n'
    + MAIN.replace(b"@", b""),
    "with the struct around it": ON
    + b"struct o { struct req r; } o; char in[4];\n"
    + b"int main(void) { o = *(struct o *)in; return on(&o.r); }\n",
    "beside another member": OWN + MAIN.replace(b"@", b"(&own.type)[2] = 7;"),
    "from the middle of another": ON
    + b"struct o { int n; struct req r; } o;\n"
    + b"int *n(struct req *r) { return (int *)((char *)r - 4); }\n"
    + b"int main(void) { n(&o.r)[1] = -1; return on(&o.r); }\n",
    "in a union": ON
    + b"union { struct req r; unsigned all; } u;\n"
    + b"int main(void) { u.all = ~0u; return on(&u.r); }\n",
    "in a constant table": ON
    + b"static const struct req own = { 1, 0 };\n"
    + b"int main(void) { ((struct req *)&own)->value = 7; return on((struct req *)&own); }\n",
    "by a copy of another struct's": OWN
    + b"struct like { unsigned char t; unsigned short v; } like = { 1, 7 };\n"
    + MAIN.replace(b"@", b"own = *(struct req *)&like;"),
    "by the compiler's copy": OWN
    + b"char in[4];\n"
    + MAIN.replace(b"@", b"__builtin_memcpy(&own, in, 4);"),
    "by what takes any number of arguments": OWN
    + b"#include <stdarg.h>\nvoid set(int n, ...) { va_list all; va_start(all, n);\n"
    + b"    *(unsigned *)va_arg(all, void *) = ~0u; }\n"
    + MAIN.replace(b"@", b"set(1, &own);"),
    "by a statement as an expression": OWN
    + MAIN.replace(b"@", b"char *p = (char *)({ struct req *q = &own; q; }); p[2] = 7;"),
    "by a pointer of the compiler's type": OWN
    + MAIN.replace(b"@", b"__auto_type p = &own; p->value = 7;"),
    "where the index is in front": ON
    + b"struct req own[2];\nint main(void) { 1[own].value = 7; return on(own + 1); }\n",
    "by a function behind a pointer": OWN
    + b"void set(struct req *r) { r->type = 1; }\nvoid (*f)(void *) = (void (*)(void *))set;\n"
    + b"char in[4] = { 7, 7, 7, 7 };\nint main(void) { f(in); return on((void *)in); }\n",
    "on the stack, before": ON + b"int main(void) { struct req own; return on(&own); }\n",
    "on the stack, before, but for one": ON
    + b"int main(void) { struct req own; own.type = 1; return on(&own); }\n",
    "on the stack, where one way sets it": ON
    + b"int main(int n) { struct req own; if (n) own.value = 0; return on(&own); }\n",
    "on the heap": ON
    + b"void *malloc(unsigned);\nint main(void) { struct req *own = malloc(4); return on(own); }\n",
    "in an object that isn't here": ON + b"extern struct req own;\n" + MAIN.replace(b"@", b""),
    "when it jumps into it": ON
    + b"int main(int n) { switch (n) { struct req own = { 0 }; case 1: return on(&own); } }\n",
    "by a pointer of a typedef's name": OWN
    + b"typedef char *cp;\n"
    + MAIN.replace(b"@", b"cp c = (cp)&own; c[2] = 7;"),
    "through the address of another member": OWN
    + b"typedef unsigned word;\n"
    + MAIN.replace(b"@", b"*(unsigned short *)((word)&own.type + 2) = 7;"),
    "by what a stack had before, on one way": OWN
    + MAIN.replace(b"@", b"struct req a; if (on(&own)) { a.type = 1; a.value = 4; } on(&a);"),
    "by what a stack had before, before a loop": OWN
    + MAIN.replace(b"@", b"struct req a; while (on(&a)) { a.value = 4; }"),
    "by what a stack had before, behind a label": OWN
    + MAIN.replace(
        b"@", b"struct req a; if (on(&own)) goto z; a.type = 1; a.value = 4; z: on(&a);"
    ),
    "by code that isn't here": OWN + b"void poke(void);\n" + MAIN.replace(b"@", b"poke();"),
    "by a register": ON
    + b'int main(void) { register struct req *own asm("r4"); return on(own); }\n',
}
OTHER_FILES = {
    "an asm label": b'extern unsigned short raw[2] __asm__("own");\nvoid k(void) { raw[1] = 7; }\n',
    "another type": b"extern unsigned short own[2];\nvoid k(void) { own[1] = 7; }\n",
    "another prototype": b"void k(unsigned short *own) { own[1] = 7; }\n",
    "another struct of that name": b"struct req { unsigned char t; unsigned short v; };\n"
    b"struct req own;\nvoid k(struct req *r) { r->v = 7; }\n",
    "a pointer to it": TYPE + b"extern struct req own;\nstruct req *p = &own;\n"
    b"void k(struct req *r) { p->value = 7; }\n",
}
STAYS = {
    "nothing sets it": MAIN.replace(b"@", b"own.type = 7;"),
    "a macro sets another value": b"#define SET(p, f, v) ((p)->f = (v))\n"
    + MAIN.replace(b"@", b"SET(&own, value, 5);"),
    "a list gives another value": b"struct req table[] = { { 2, 4 }, [3] = { .value = 8 } };\n"
    + MAIN.replace(b"@", b"on(table + 1);"),
    "a function of the project gets it": b"void k(struct req *r) { r->value = 1; }\n"
    + MAIN.replace(b"@", b"k(&own);"),
    "it is copied": b"struct req make(void) { struct req it = { 1, 4 }; return it; }\n"
    + MAIN.replace(b"@", b"struct req a = make(); own = a; struct req *p = &own; on(p);"),
    "it is cleared": b"void *memset(void *, int, unsigned);\n"
    + MAIN.replace(b"@", b"memset(&own, 0, sizeof(own));"),
    "a local is set before it is used": MAIN.replace(
        b"@", b"struct req a; int i = 0; a.type = 2; i++; a.value = 4; on(&a);"
    ),
    "a local is set on each way to where it is used": MAIN.replace(
        b"@",
        b"struct req a; if (on(&own)) { a.type = 2; a.value = 4; on(&a); }"
        b" for (int i = 0; i < 2; i++)"
        b" { a.type = 1; if (i) a.value = 1; else a.value = 5; on(&a); }",
    ),
    "other types are bytes": b"struct raw { int n; } raw; void fill(void *p) { *(char *)p = 7; }\n"
    + MAIN.replace(b"@", b"fill(&raw);"),
    "it is in a section that is filled": b'__attribute__((aligned(4))) struct req two = { 1, 4 };\n'
    + MAIN.replace(b"@", b"on(&two);"),
}  # fmt: skip


PUT_TOGETHER = {
    "assembler's macro": b".macro go a, b\n ldr r0, =\\a\\b\n.endm\npoke:\n go ow, n\n bx lr\n",
    "the preprocessor": b"#define CAT(a, b) a##b\npoke:\n ldr r0, =CAT(ow, n)\n bx lr\n",
}


@pytest.mark.parametrize("name", PUT_TOGETHER)
def test_a_branch_may_run_where_assembler_puts_the_name_together(name: str, tmp_path: Path) -> None:
    main = OWN + b"void poke(void);\n" + MAIN.replace(b"@", b"poke();")
    code = b".syntax unified\n.thumb\n.global poke\n.thumb_func\n"
    assert set_in(tmp_path, {"f0.c": main, "poke.S": code + PUT_TOGETHER[name]})
    assert not set_in(tmp_path / "other", {"f0.c": main, "poke.S": code + b"poke:\n bx lr\n"})


@pytest.mark.parametrize(
    ("inputs", "is_set"), [("*f0.o(.bss*)", True), ("*(.bss.own)", True), ("*(.bss.two)", False)]
)
def test_a_branch_may_run_where_a_script_keeps_memory(
    inputs: str, is_set: bool, tmp_path: Path
) -> None:
    script = f"SECTIONS {{ .keep (NOLOAD) : {{ {inputs} }} > RAM }}\n".encode()
    files = {"f0.c": OWN + MAIN.replace(b"@", b""), "chip.ld": script}
    assert set_in(tmp_path, files, "-T chip.ld") is is_set


def test_a_branch_may_run_where_the_linker_has_another_name(tmp_path: Path) -> None:
    files = {"f0.c": OWN + b"extern char raw[4];\n" + MAIN.replace(b"@", b"raw[2] = 7;")}
    assert set_in(tmp_path, files, "-Wl,--defsym=raw=own")


def set_in(folder: Path, files: dict[str, bytes], options: str = "") -> bool:
    """Whether the branch of a project that is linked may run."""
    sources = [it for it in files if not it.endswith(".ld")]
    call = "\tarm-none-eabi-gcc -mcpu=cortex-m4 -mthumb"
    make = "all: fw.elf\nfw.elf:\n" + "".join(f"{call} -c {it}\n" for it in sources)
    objects = " ".join(f"{Path(it).stem}.o" for it in sources)
    make += f"{call} -nostdlib {options} {objects} -o fw.elf\n"
    folder.mkdir(exist_ok=True)
    result = port_files(folder, {"Makefile": make.encode(), **files}, DOMAIN)
    return any("stack pointers belong to the context switch" in it for it in escalations(result))


def port(folder: Path, *files: bytes) -> list[str]:
    """What needs a person in a project of these C files."""
    names = [f"f{index}.c" for index in range(len(files))]
    make = "all:\n" + "".join(
        f"\tarm-none-eabi-gcc -mcpu=cortex-m4 -mthumb '-DSETV=own.value=7' -c {it}\n"
        for it in names
    )
    written = {"Makefile": make.encode(), **dict(zip(names, files, strict=True))}
    return escalations(port_files(folder, written, DOMAIN))


@pytest.mark.parametrize("name", CHANGES)
def test_a_branch_may_run_where_its_member_changes(name: str, tmp_path: Path) -> None:
    found = port(tmp_path, CHANGES[name])
    assert any("stack pointers belong to the context switch" in it for it in found)


@pytest.mark.parametrize("name", OTHER_FILES)
def test_a_branch_may_run_where_another_file_has_the_object(name: str, tmp_path: Path) -> None:
    main = b"void k();\n" + OWN + MAIN.replace(b"@", b"k(&own);")
    if "prototype" in name or "pointer" in name or "struct" in name:
        main = main.replace(b"void k();", b"struct req; void k(struct req *);")
    else:
        main = main.replace(b"k(&own)", b"k()").replace(b"void k()", b"void k(void)")
    found = port(tmp_path, main, OTHER_FILES[name])
    assert any("stack pointers belong to the context switch" in it for it in found)


@pytest.mark.parametrize("name", STAYS)
def test_a_branch_that_never_runs_stays(name: str, tmp_path: Path) -> None:
    assert port(tmp_path, OWN + STAYS[name]) == []


@pytest.mark.parametrize(
    ("member", "given", "asked"),
    [
        ("signed char", "-1", "< 0"),
        ("int", "-1", "< 1"),
        ("unsigned char", "0x102", "== 2"),
        ("_Bool", "2", "== 1"),
        ("unsigned char", "200", "- 201 < 0"),
        ("unsigned", "1", "- 2 > 5"),
        ("long long", "0x100000002", "> 0xFFFFFFFF"),
    ],
)
def test_a_value_is_what_the_member_holds(
    member: str, given: str, asked: str, tmp_path: Path
) -> None:
    text = f"struct s {{ {member} m; }} s;\nint main(void) {{ s.m = {given};\n"
    text += f"    if (s.m && (s.m {asked})) {{ __set_MSP(4); }} return 0; }}\n"
    assert len(port(tmp_path, text.encode())) == 1
