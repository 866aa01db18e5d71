"""Who refers to whom is what the preprocessor leaves of a program, however it is written."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from porter.judging.verdict import Status
from porter.program.compiled_names import CompiledNames
from tests.porter.helpers import port_files

HID = '#include "hid.h"\nvoid hidden(void) { __asm volatile ("cpsid i" ::: "memory"); }\n'
HEADER = "void hidden(void);\nvoid go(void);\n"
IDLE = '#include "hid.h"\nint main(void) { for (;;) { } }\n'
MAIN = '#include "hid.h"\n%s\nint main(void) { %s for (;;) { } }\n'
MAKEFILE = """\
all:
\tarm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -Os {options} -c main.c
\tarm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -Os -c hid.c
\tarm-none-eabi-gcc -T chip.ld main.o hid.o -o fw.elf
"""
SCRIPT = "ENTRY(main)\nSECTIONS { .text : { KEEP(*(.isr_vector)) %s *(.text*) } }\n"


def is_left(
    folder: Path,
    main: str = IDLE,
    hid: str = HID,
    header: str = HEADER,
    options: str = "",
    script: str = "",
) -> bool:
    """Whether hidden() is said to be dropped."""
    files = {"main.c": main, "hid.c": hid, "hid.h": header, "chip.ld": SCRIPT % script}
    files["Makefile"] = MAKEFILE.format(options=options)
    result = port_files(folder, {name: text.encode() for name, text in files.items()})
    verdicts = [it for file in result.files for it in file.verdicts if it.site.what == "cpsid i"]
    return [it.rule for it in verdicts] == ["dropped"]


def test_what_nothing_refers_to_is_left(tmp_path: Path) -> None:
    assert is_left(tmp_path)


@pytest.mark.parametrize(
    ("outside", "inside", "options"),
    [
        ("", "IDLE;", "-DIDLE='hidden()'"),
        ("#define HOOK hidden\nvoid a(void) { HOOK(); }\n#undef HOOK\n#define HOOK go", "a();", ""),
        ("#define LIST X(a) X(hid)\n#define X(n) n##den();\nvoid aden(void) { }", "LIST", ""),
        ("#define RUN(f) f()\n#define OWN 1", "RUN(\n#if OWN\nhidden\n#else\ngo\n#endif\n);", ""),
        ("#line 900\n#if 1\n", "hidden();\n#endif\n", ""),
        ("#define ASM __asm volatile", 'ASM ("bl hidden");', ""),
        ("#define JUMP(s) __asm volatile (\"bl \" s)", 'JUMP("hidden");', ""),
        ("#define S_(x) #x\n#define S(x) S_(x)\n#define H hid", '__asm ("bl " S(H) "den");', ""),
        ('__asm(".macro to a, b\\n bl \\\\a\\\\b\\n.endm\\n");', '__asm ("to hid, den");', ""),
        ("%:define GO() hidden()", "GO();", ""),
    ],
    ids=["option", "again", "list", "arm", "line", "asm-word", "asm-argument", "asm-made",
         "asm-macro", "digraph"],
)  # fmt: skip
def test_however_it_is_called(tmp_path: Path, outside: str, inside: str, options: str) -> None:
    assert not is_left(tmp_path, MAIN % (outside, inside), options=options)


@pytest.mark.parametrize(
    "declaration",
    [
        "void hidden(void) __attribute__((constructor));",
        "void hidden(void) __attribute__((__destructor__(101)));",
        "__attribute__((used)) extern void hidden(void);",
        'void hidden(void) __attribute__((section("calls")));',
        'void hidden(void) __attribute__((section(".init_array.hook")));',
    ],
)
def test_a_declaration_elsewhere_may_keep_it(tmp_path: Path, declaration: str) -> None:
    assert not is_left(tmp_path, header=declaration + "\n")


def test_a_section_that_nobody_keeps_keeps_nothing(tmp_path: Path) -> None:
    assert is_left(tmp_path, header='void hidden(void) __attribute__((section(".ramfunc")));\n')


def test_a_table_is_kept_by_its_first_declaration(tmp_path: Path) -> None:
    header = (
        HEADER
        + 'typedef void (*fn)(void);\nextern const fn first __attribute__((section("calls")));\n'
    )
    assert not is_left(tmp_path, hid=HID + "const fn first = hidden;\n", header=header)
    plain = header.replace(' __attribute__((section("calls")))', "")
    assert is_left(tmp_path, hid=HID + "const fn first = hidden;\n", header=plain)


def test_a_function_may_have_another_name_for_the_linker(tmp_path: Path) -> None:
    other = "__attribute__((weak)) void go(void) { }\n"
    header = 'void go(void);\nvoid hidden(void) __asm__("go");\n'
    assert not is_left(tmp_path, MAIN % (other, "go();"), header=header)


@pytest.mark.parametrize(
    "script", ["KEEP(*(.text.hidden))", "KEEP(*(SORT(.text.hid*)))", "KEEP(*hid.o(.text*))"]
)
def test_a_linker_script_may_keep_it(tmp_path: Path, script: str) -> None:
    assert not is_left(tmp_path, script=script)
    assert is_left(tmp_path, script="KEEP(*(.text.other))")


@pytest.mark.parametrize(
    "name", ["puts", "memcpy", "__atomic_load_8", "__stack_chk_fail", "__popcountsi2"]
)
def test_compilers_call_some_without_a_word(tmp_path: Path, name: str) -> None:
    hid, header = (text.replace("hidden", name) for text in (HID, HEADER))
    assert not is_left(tmp_path, hid=hid, header=header)


def test_compilers_call_no_static_function_without_a_word(tmp_path: Path) -> None:
    hid = HID.replace("void hidden", "static void __set_level")
    assert is_left(tmp_path, hid=hid, header="void go(void);\n")


@pytest.mark.parametrize(
    "body",
    [
        "#define RUN(x) x\nint main(void) { RUN(\n#if 1\n%s\n#endif\n) for (;;) { } }\n",
        "#define RUN(x) x\nint main(void) { RUN({ ;\n#if 1\n%s\n#endif\n}) for (;;) { } }\n",
        "#line 900\nint main(void) {\n#if 1\n%s\n#endif\nfor (;;) { } }\n",
    ],
    ids=["argument", "statements", "line"],
)
def test_an_arm_whose_lines_cannot_be_told_is_compiled(tmp_path: Path, body: str) -> None:
    files = {"main.c": body % '__asm volatile ("msr msp, r0");', "hid.c": HID, "hid.h": HEADER}
    files["Makefile"] = MAKEFILE.format(options="")
    result = port_files(tmp_path, {name: text.encode() for name, text in files.items()})
    (site,) = (it for file in result.files for it in file.verdicts if "msr" in it.site.what)
    assert site.status == Status.ESCALATED


def test_items_of_preprocessed_text() -> None:
    names = CompiledNames()
    names.add(
        b"""# 1 "a.c"
#define X hidden
typedef struct __attribute__((packed)) { int a; } t;
struct s { void (*run)(void); };
enum e { ONE = 1, TWO };
static const struct s table = { .run = first };
extern "C" { void second(void) { third("};{"); } }
namespace deep { int fourth(int a = 3) { return fifth(a); } }
struct s *make(void) { char c = '}'; return &sixth; }
X &operator=(const X &o) { return seventh(o); }
__asm("b eighth");
"""
    )
    assert names.tables == {"table": {"struct", "table", "first", "run", "s"} - {"struct"}}
    assert names.edges["second"] == {"third"}
    assert names.edges["fourth"] == {"fifth", "a"}
    assert "sixth" in names.edges["make"]
    assert "eighth" in names.roots
    assert any("seventh" in them for them in (*names.edges.values(), names.roots))


def test_a_flood_of_parentheses_ends() -> None:
    begun = time.process_time()
    for text in (b"(" * 50_000, b"__attribute__((" * 5_000, b"int a[] = {" * 20_000, b'"' * 50_001):
        CompiledNames().add(text + b" f(void) { }")
    assert time.process_time() - begun < 20
