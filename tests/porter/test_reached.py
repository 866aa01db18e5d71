"""Which functions of a project are in the program: what nothing uses is left as it is."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from porter.judging.verdict import Status
from porter.result import PortResult
from tests.porter.helpers import port_files

MAIN = b"int main(void) { return 0; }\n"
BODY = b" { __set_MSP(4); }\n"


def is_left(result: PortResult) -> bool:
    (verdict,) = (
        it for port in result.files for it in port.verdicts if it.site.what == "__set_MSP"
    )
    return verdict.status is Status.LEFT


@pytest.mark.parametrize(
    ("function", "left"),
    [
        (b"static void unused(void)", True),
        (b"int _write(int file, char *text, int length)", False),
        (b"void __malloc_lock(void *reent)", False),
        (b"void *memcpy(void *to, const void *from, unsigned size)", False),
        (b"__attribute__((used)) void kept(void)", False),
        (b"void UART_IRQHandler(void)", False),
        (b"void entered(void)", False),
    ],
)
def test_libraries_and_linker_scripts_use_functions_too(
    tmp_path: Path, function: bytes, left: bool
) -> None:
    script = b"ENTRY(entered) /* unused */\nSECTIONS { .text : { *(.text*) } }\n"
    result = port_files(tmp_path, {"main.c": MAIN + function + BODY, "chip.ld": script}, None)
    assert is_left(result) is left


TABLE = b"static void kept(void)" + BODY + b"typedef struct { void (*f)(void); } ops;\n"
GETTER = b"static const ops *get(void) { return &table; }\n"


@pytest.mark.parametrize(
    ("table", "left"),
    [
        (b"static const ops table = { kept };\n" + GETTER, True),
        (b"#define LOCAL static\nLOCAL ops table[] = { { .f = kept } };\n"
         b"static ops *get(void) { return table; }\n", True),
        (b"static struct s { ops *o; } table = { kept };\n" + GETTER, False),  # what is it of?
        (b"struct s { void (*f)(void); } ;\nstruct s table[2][2] = { { { kept } } };\n", True),
        (b"static ops table = { kept };\nops *next = &table;\n", True),
        (b"static ops table = { kept };\n" + GETTER.replace(b"static", b"", 1), False),  # callable
        (b"static const ops table = { kept };\n" + GETTER.replace(b"static const ops *get",
                                                                  b"const ops *SysTick_Handler"),
         False),
        (b"__attribute__((used)) static ops table = { kept };\n", False),
        (b"static ops table __attribute__((section(\".hooks\"))) = { kept };\n", False),
        (b"#define HOOK __attribute__((section(\".hooks\")))\nHOOK ops table = { kept };\n", False),
        (b"SOMEBODYS_HOOK ops table = { kept };\n", False),
        (b"void (*table)(void) = kept;\n", False),
        (b"static ops a, table = { kept };\n", False),
    ],
)  # fmt: skip
def test_what_a_table_names_is_used_with_it(tmp_path: Path, table: bytes, left: bool) -> None:
    assert is_left(port_files(tmp_path, {"main.c": MAIN + TABLE + table}, None)) is left


@pytest.mark.parametrize(
    ("code", "left"),
    [
        (b"#define OWN 0\nvoid SysTick_Handler(void)\n{\n#if OWN\n    kept();\n#endif\n}\n", True),
        (b"#define OWN 1\nvoid SysTick_Handler(void)\n{\n#if OWN\n    kept();\n#endif\n}\n", False),
        (b"#define OWN 0\n#if OWN\nvoid (*hook)(void) = kept;\n#endif\n", True),
        (b"#define OWN 0\n#if !OWN\nvoid (*hook)(void) = kept;\n#endif\n", False),
        (b"void SysTick_Handler(void)\n{\n#ifdef OTHER\n#else\n    kept();\n#endif\n}\n", False),
    ],
)  # fmt: skip
def test_arms_that_arent_compiled_use_nothing(tmp_path: Path, code: bytes, left: bool) -> None:
    main = MAIN + b"static void kept(void)" + BODY + code
    command = {
        "directory": str(tmp_path),
        "file": "main.c",
        "arguments": ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-c", "main.c"],
    }
    files = {"main.c": main, "compile_commands.json": json.dumps([command]).encode()}
    assert is_left(port_files(tmp_path, files, None)) is left


@pytest.mark.parametrize(
    ("code", "part", "text", "left"),
    [
        (b'ops table = {\n#define E(x) x,\n#include "t.def"\n};\n', "t.def", b"E(kept)\n", False),
        (b'ops table = {\n#define E(x) ke##x,\n#include "t.def"\n};\n', "t.def", b"E(pt)\n",
         False),
        (b'ops table = {\n#define E(x) x,\n#include "t.def"\n};\n', "t.def", b"E(other)\n", True),
        (b'#include "outer.x"\n', "inner.def", b"void (*hook)(void) = kept;\n", False),
        (b'#define WHICH "b.inc"\n#include WHICH\n', "b.inc", b"void user(void) { kept(); }\n",
         False),
        (b'#include "b.inc"\n', "b.inc", b"void user(void) { kept(); }\n", False),
        (b'#include "b.inc"\n', "b.inc", b"static void user(void) { kept(); }\n", True),
    ],
)  # fmt: skip
def test_what_an_included_file_names_is_used(
    tmp_path: Path, code: bytes, part: str, text: bytes, left: bool
) -> None:
    (tmp_path / "outer.x").write_bytes(b'#include "inner.def"\n')
    (tmp_path / part).write_bytes(text)
    files = {"main.c": MAIN + TABLE + b"static void other(void) { }\n" + code, part: text}
    assert is_left(port_files(tmp_path, files, None)) is left


ASSEMBLER = b""".syntax unified
.thumb
.macro go first, second
    bl \\first\\()_\\second
.endm
.global entry
.type entry, %function
entry:
    push {lr}
    go NAMES
    pop {pc}
"""


@pytest.mark.parametrize(("names", "left"), [(b"set, msp", False), (b"other, msp", True)])
def test_what_macros_of_the_assembler_name_is_used(
    tmp_path: Path, names: bytes, left: bool
) -> None:
    code = b"void entry(void);\nvoid other_msp(void) { }\nvoid set_msp(void)" + BODY
    main = b"int main(void) { entry(); return 0; }\n"
    files = {"main.c": code + main, "entry.S": ASSEMBLER.replace(b"NAMES", names)}
    files["set.h"] = b"void set_msp(void);\n"
    assert is_left(port_files(tmp_path, files, None)) is left


@pytest.mark.parametrize(
    ("code", "left"),
    [
        (b'void go(void) { __asm volatile("bl set_" "msp" ::: "lr"); }\n', False),
        (b'__asm(".global go\\n.thumb_func\\ngo: b set_" "msp"); void go(void);\n', False),
        (b"void go(void);\n#pragma weak go = set_msp\n", False),
        (b'void go(void) { __asm volatile("nop" "\\n"); }\n', True),
    ],
)
def test_what_a_text_of_several_strings_names_is_used(
    tmp_path: Path, code: bytes, left: bool
) -> None:
    main = b"int main(void) { go(); return 0; }\n"
    files = {"main.c": code + main, "msp.c": b"void set_msp(void)" + BODY}
    files["set.h"] = b"void set_msp(void);\n"
    assert is_left(port_files(tmp_path, files, None)) is left


def test_a_table_is_used_by_other_files_too(tmp_path: Path) -> None:
    table = TABLE + b"const ops table = { kept };\n"
    for name, user in (
        ("user.c", b"extern const void *table; void SysTick_Handler(void) { table = 0; }\n"),
        ("user.S", b" .word table\n"),
        ("user.cpp", b"extern int table; int other = table;\n"),
    ):
        folder = tmp_path / name.rpartition(".")[2]
        folder.mkdir()
        assert not is_left(port_files(folder, {"main.c": MAIN + table, name: user}, None))


def test_what_cplusplus_begins_with_runs(tmp_path: Path) -> None:
    code = MAIN + b"static int kept(void) { __set_MSP(4); return 0; }\nstatic int one = kept();\n"
    assert not is_left(port_files(tmp_path, {"main.cpp": code}, None))


def test_an_archive_in_the_tree_calls_back(tmp_path: Path) -> None:
    (tmp_path / "stack.c").write_text("void on_event(int); void run(void) { on_event(1); }\n")
    for command in (
        ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-c", "stack.c", "-o", "stack.o"],
        ["arm-none-eabi-ar", "rcs", "libstack.a", "stack.o"],
    ):
        subprocess.run(command, cwd=tmp_path, check=True)
    (tmp_path / "stack.c").unlink()
    result = port_files(tmp_path, {"main.c": MAIN + b"void on_event(int what)" + BODY}, None)
    assert not is_left(result)


ARMS = {
    "alike": "#if A\n if (a > 1) {\n#else\n if (a > 2) {\n#endif\n n = 0; }",
    "nested": "#if A\n if (a > 1) {\n#elif B\n#ifdef C\n if (a) {\n#else\n if (n) {\n#endif\n"
    "#else\n while (n--) {\n#endif\n n = 0; }",
    "closed": " do { if (n) {\n#if A\n n++; } } while (n > 1);\n"
    "#else\n n--; } } while (n > 2);\n#endif\n",
    "with else": " if (n) {\n#if A\n n++; } else {\n#else\n n--; } else if (a) {\n#endif\n"
    " n = 3; }",
    "unlike": "#if A\n if (a > 1) {\n#else\n if (a > 2) { if (n) {\n#endif\n n = 0; }\n"
    "#if !(A)\n }\n#endif\n",
}


@pytest.mark.parametrize("arms", ARMS.values(), ids=ARMS)
def test_what_stands_behind_arms_with_half_a_block_is_in_the_program(
    tmp_path: Path, arms: str
) -> None:
    """Each arm opens or closes a block: counted together they would hide what follows."""
    step = f"static int n;\nstatic void step(int a)\n{{\n{arms}\n}}\n"
    rest = "static void work(void) { set(); }\nint main(void) { step(1); work(); }\n"
    files = {"main.c": f"void set(void);\n{step}{rest}".encode(), "set.c": b"void set(void)" + BODY}
    assert not is_left(port_files(tmp_path, files, None))


@pytest.mark.parametrize(
    "text",
    [
        b"#define PIN(name) static void name##_on(void) { __set_MSP(4); }\nPIN(led)\n"
        b"static int f(int i) { return i; }\nint main(void) { led_on(); return f(1); }\n",
        b'#define INIT(f) static const char f##_name[] __attribute__((section(".init"))) = #f\n'
        b"void set(void) { __set_MSP(4); }\nINIT(set);\nint main(void) { return 0; }\n",
    ],
)
def test_what_a_macro_outside_of_functions_names_is_in_the_program(
    tmp_path: Path, text: bytes
) -> None:
    files = {"main.c": text, "other/chip.h": b"void set(void);\n"}
    assert not is_left(port_files(tmp_path, files))


KEYS = b"\n#define KEYS (*(volatile unsigned *)0x40023C04)\n"


def is_asked(folder: Path, files: dict[str, bytes]) -> bool:
    """Whether a person hears of the flash's key."""
    result = port_files(folder, files)
    return any(
        it.status is Status.ESCALATED for port in result.files for it in port.verdicts
        if it.site.what == "KEYS"
    )  # fmt: skip


@pytest.mark.parametrize(
    "code",
    [
        b"#define USARTx_IRQHandler USART3_IRQHandler\nvoid USARTx_IRQHandler(void) { KEYS = 1; }\n"
        b"int main(void) { for (;;); }\n",
        b"#define foo foo_v2\nvoid foo(void) { KEYS = 1; }\nint main(void) { foo(); }\n",
        # The macro is another compiler's.
        b"#ifdef __ICCARM__\n#define foo __foo\n#endif\n"
        b"static inline void foo(void) { KEYS = 1; }\n#define BAR() (foo(), 1)\n"
        b"int main(void) { return BAR(); }\n",
        b"void begin(int x);\n#if OWN\nstatic void own(int x)\n#else\nvoid begin(int x)\n#endif\n"
        b"{ KEYS = 1; }\nint main(void) { begin(1); }\n",
    ],
)
def test_a_body_has_every_name_that_it_may_have(tmp_path: Path, code: bytes) -> None:
    assert is_asked(tmp_path, {"main.c": KEYS + code})


def test_one_that_nothing_names_stays_out(tmp_path: Path) -> None:
    code = (
        b"#if OWN\nstatic void own(int x)\n#else\nstatic void begin(int x)\n#endif\n{ KEYS = 1; }\n"
    )
    assert not is_asked(tmp_path, {"main.c": KEYS + code + b"int main(void) { for (;;); }\n"})


def test_a_macro_of_a_library_that_isnt_here_makes_functions(tmp_path: Path) -> None:
    files = {
        "worker.h": b"THD_FUNCTION(worker, arg);\n",
        "worker.c": KEYS
        + b'#include "ch.h"\n#include "worker.h"\nvoid unlock(void) { KEYS = 1; }\n'
        b"THD_FUNCTION(worker, arg) { (void)arg; while (1) { unlock(); } }\n",
        "main.c": b'#include "ch.h"\n#include "worker.h"\n'
        b'int main(void) { chThdCreate(512, "w", 64, worker, 0); for (;;); }\n',
    }
    assert is_asked(tmp_path, files)


OBJECTS = KEYS + b"struct req { unsigned char type; unsigned short value; };\n"
USE = b"if (r->value & 2) KEYS = 1;"


@pytest.mark.parametrize(
    "code",
    [
        b"extern struct req *r;\nint main(void) { USE }\n",
        b"void lib(int (*)(struct req *));\nstatic int on(struct req *r) { USE return 1; }\n"
        b"struct req own;\nint main(void) { lib(on); on(&own); }\n",
        b"struct ops { int (*f)(struct req *); };\nstatic int on(struct req *r) { USE return 1; }\n"
        b"const struct ops ops = { .f = on };\nstruct req own;\nint main(void) { on(&own); }\n",
        b"int lib_called(struct req *r) { USE return 1; }\nstruct req own;\n"
        b"int main(void) { lib(); }\n",
    ],
)
def test_what_others_fill_may_hold_anything(tmp_path: Path, code: bytes) -> None:
    assert is_asked(tmp_path, {"main.c": OBJECTS + code.replace(b"USE", USE)})


def test_what_only_the_project_has_is_known(tmp_path: Path) -> None:
    code = b"static int on(struct req *r) { USE return 1; }\nstruct req own;\n"
    code = code.replace(b"USE", USE) + b"int main(void) { return on(&own); }\n"
    make = b"all:\n\tarm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -c main.c\n"
    assert not is_asked(tmp_path, {"main.c": OBJECTS + code, "Makefile": make})
    (tmp_path / "alone").mkdir()
    assert is_asked(tmp_path / "alone", {"main.c": OBJECTS + code}), "no compiler read its macros"


def test_calls_in_a_body_of_two_heads_are_counted_once(tmp_path: Path) -> None:
    code = b"#if OWN\nvoid own(int x)\n#else\nvoid begin(int x)\n#endif\n{ nobody_has_this(); }\n"
    code += b"int main(void) { begin(1); }\n"
    (unknown,) = port_files(tmp_path, {"main.c": code}).unseen.calls
    assert (unknown.name, unknown.count) == ("nobody_has_this", 1)
