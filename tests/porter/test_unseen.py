"""Headers and functions that a project uses and doesn't have are told, and the status says so."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from porter.port import port_project
from porter.program.unseen import Unseen
from porter.project.request import Request
from porter.project.toolchain import archive_symbols, header_folders, library_functions
from tests.porter.helpers import port_files


def port(project: Path, *options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "composer.cli", "port", str(project), *map(str, options)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def unseen(folder: Path, **files: str) -> Unseen:
    return port_files(folder, {_path(name): text.encode() for name, text in files.items()}).unseen


def _path(name: str) -> str:
    return name.replace("__", "/").replace("_", ".")


def headers(found: Unseen) -> list[str]:
    return [header.name for header in found.headers]


def calls(found: Unseen) -> dict[str, int]:
    return {call.name: call.count for call in found.calls}


# --- headers ------------------------------------------------------------------------------------


def test_a_header_that_nobody_has_is_told_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text(
        "#include <stdint.h>\n\n#include <lib/gpio.h>\nint main() {}\n"
    )
    run = port(tmp_path)
    assert run.returncode == 1
    assert "main.c:3:1: not found: #include lib/gpio.h\n" in run.stderr
    assert "-I DIR" in run.stderr and "1 headers not found" in run.stderr
    document = json.loads(port(tmp_path, "--json").stdout)
    (header,) = document["missing_headers"]
    assert (header["file"], header["line"], header["name"]) == ("main.c", 3, "lib/gpio.h")


def test_what_is_given_is_found_and_means_something(tmp_path: Path) -> None:
    """The macro stands in a header outside of the project, behind another one."""
    project, library = tmp_path / "project", tmp_path / "library" / "lib"
    project.mkdir()
    library.mkdir(parents=True)
    (library / "gpio.h").write_text('#include "base.h"\n')
    (library / "base.h").write_text("#define ICSR (*(volatile unsigned *)0xE000ED04)\n")
    (project / "main.c").write_text("#include <lib/gpio.h>\nvoid f(void) { ICSR = 1u << 28; }\n")
    assert port(project).returncode == 1
    run = port(project, "-I", library.parent)
    assert run.returncode == 0, run.stderr
    assert "+void f(void) { virt_yield(); }" in run.stdout
    assert "library" not in run.stdout


def test_headers_of_the_compiler_and_of_the_runtime_are_there(tmp_path: Path) -> None:
    text = (
        "#include <stdint.h>\n#include <string.h>\n#include <sys/types.h>\n#include <stdarg.h>\n"
        '#include <fvm/guest.h>\n#include "fvm_domain.h"\n'
    )
    assert not unseen(tmp_path, main_c=text)


@pytest.mark.parametrize(
    "files",
    [
        {"src__main_c": '#include "x.h"\n', "src__x_h": ""},
        {"src__main_c": '#include "../inc/x.h"\n', "inc__x_h": ""},
        {"src__main_c": "#include <lib/x.h>\n", "drivers__include__lib__x_h": ""},
        {"main_c": '#define H "x.h"\n#include H\n', "inc__x_h": ""},
    ],
)
def test_headers_of_the_tree_are_found_without_a_build(
    tmp_path: Path, files: dict[str, str]
) -> None:
    assert headers(unseen(tmp_path, **files)) == []


@pytest.mark.parametrize(
    ("condition", "missing"),
    [
        ("#ifdef __ICCARM__", []),
        ("#if defined(__AVR__) || defined(ESP32) && defined(__XTENSA__)", []),
        ("#ifdef __GNUC__", ["x.h"]),
        ("#ifdef USE_X", ["x.h"]),  # nobody knows: told, and not counted
        ("#ifndef __ICCARM__", ["x.h"]),
    ],
)
def test_only_arms_that_can_be_built_need_their_headers(
    tmp_path: Path, condition: str, missing: list[str]
) -> None:
    text = f"{condition}\n#include <x.h>\n#endif\n"
    assert headers(unseen(tmp_path, main_c=text)) == missing


def test_a_header_that_is_only_missing_below_another_is_told(tmp_path: Path) -> None:
    found = unseen(tmp_path, main_c='#include "a.h"\n', a_h='#include "b.h"\n')
    (header,) = found.headers
    assert (header.name, header.file.name) == ("b.h", "a.h")


def test_a_header_of_units_that_cannot_be_preprocessed_is_part_of_the_build(tmp_path: Path) -> None:
    """What the compiler stops at must not take the project's own headers out of the port."""
    files = {
        "Makefile": b"main.o: main.c\n\tarm-none-eabi-gcc -mthumb -c main.c\n",
        "main.c": b'#include <lib/nvic.h>\n#include "own.h"\nint main(void) { off(); }\n',
        "own.h": b"static inline void off(void) { __disable_irq(); }\n",
        "other.h": b"static inline void old(void) { __disable_irq(); }\n",
    }
    result = port_files(tmp_path, files)
    found = {port.file.name: port.verdicts[0] for port in result.files}
    assert found["own.h"].status.value == "rewritten"
    assert result.unread == ("other.h",)
    assert headers(result.unseen) == ["lib/nvic.h"]


TAKEN_IN = {
    "of GNU's": ("f.s", '    .syntax unified\n.include "inc/regs.s"\n', ".include inc/regs.s"),
    "of Arm's": ("f.s", "  AREA c, CODE\n  GET inc\\regs.s ; names\n  END\n", "GET inc\\regs.s"),
    "in small letters": ("f.s", "  AREA c, CODE\n  include regs.s\n  END\n", "include regs.s"),
    "of IAR's": ("f.s", '  SECTION c:CODE\n#include "regs.s"\n  END\n', "#include regs.s"),
    "of the preprocessor": ("f.S", '#include "regs.s"\n    .syntax unified\n', "#include regs.s"),
}


@pytest.mark.parametrize("how", TAKEN_IN)
def test_what_an_assembler_file_takes_in_is_told_too(how: str, tmp_path: Path) -> None:
    name, text, told = TAKEN_IN[how]
    (tmp_path / "main.c").write_text("int main(void) { for (;;) ; }\n")
    (tmp_path / name).write_text(text)
    run = port(tmp_path)
    assert run.returncode == 1 and f"not found: {told}\n" in run.stderr
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "regs.s").write_text("")
    assert port(tmp_path).returncode == 0


@pytest.mark.parametrize(
    "text",
    [
        '    .syntax unified\n@ .include "x.s"\n/*\n.include "y.s"\n*/\n',
        '    .syntax unified\n#ifdef __ICCARM__\n    .include "x.s"\n#endif\n',
        "  AREA c, CODE\n; GET x.s\nget\n  B get\n  END\n",
    ],
)
def test_what_no_assembler_takes_in_is_not_told(text: str, tmp_path: Path) -> None:
    assert not unseen(tmp_path, f_s=text).headers


@pytest.mark.parametrize(
    "text",
    [
        '    .syntax unified\n.ifdef FAST\n    .include "x.s"\n.endif\n',
        '    .syntax unified\n.macro take\n    .include "x.s"\n.endm\n',
        "  AREA c, CODE\n  IF :DEF:FAST\n  GET x.s\n  ENDIF\n  END\n",
    ],
)
def test_what_an_assembler_decides_may_be_missing(text: str, tmp_path: Path) -> None:
    found = unseen(tmp_path, f_s=text)
    assert headers(found) == ["x.s"] and not found.certain


# --- functions ----------------------------------------------------------------------------------


def test_functions_that_nobody_defines_are_counted_by_name(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text(
        "void led_on(void);\nint main(void) {\n    led_on();\n    led_on();\n    pump(3);\n}\n"
    )
    run = port(tmp_path)
    assert run.returncode == 1
    assert "3 calls of 2 functions that aren't in the tree: led_on (2), pump (1)" in run.stderr
    assert "0 escalated, 2 functions unknown\n" in run.stderr
    document = json.loads(port(tmp_path, "--json").stdout)
    assert document["unknown_calls"][1] == {
        "file": "main.c", "line": 5, "column": 5, "name": "pump", "count": 1,
    }  # fmt: skip
    assert port(tmp_path, "--known", "led_*", "--known", "pump").returncode == 0
    assert port(tmp_path, "--known", "led_*").returncode == 1


ARMS = """\
static void check(int a) {
#ifdef UPWARD
    if (a > more(1) ||
#else
    if (a > less(1) ||
#endif
        a == 0) { }
}
#ifdef UPWARD
static void second(long a,
#else
static void second(int a,
#endif
              int b) { check(a + b); }
static void last(int a) { check(a
#ifdef UPWARD
    + 1);
#else
    + 2);
#endif
}
int main(void) { check(1); second(1, 2); last(3); }
"""


def test_arms_may_each_open_or_close_a_parenthesis(tmp_path: Path) -> None:
    """What stands behind them is no part of it, and what stands before it in each is a call."""
    (tmp_path / "main.c").write_text(ARMS)
    said = port(tmp_path).stderr
    assert "2 calls of 2 functions that aren't in the tree: less (1), more (1)" in said


@pytest.mark.parametrize(
    "code",
    [
        "static void g(int a) { }\nint main(void) { g(1); }\n",
        "#define g(a) ((a) + 1)\nint main(void) { return g(1); }\n",
        "#include <string.h>\nint main(void) { memset(0, 0, 0); return (int)strlen(0); }\n",
        "#include <stdarg.h>\nvoid f(int a, ...) { va_list l; va_start(l, a); va_end(l); }\n",
        "#include <assert.h>\nvoid f(int a) { assert(a); }\n",
        "void f(void) { __builtin_trap(); __sync_synchronize(); }\n",
        "void f(void (*done)(int)) { done(1); (*done)(2); }\n",
        "typedef void (*hook)(int);\nstatic hook run;\nvoid f(void) { run(1); }\n",
        "struct s { void (*go)(int); };\nvoid f(struct s *p) { p->go(1); }\n",
        "void f(void) { int a = sizeof(int); if (a) return; while (a) switch (a) { } }\n",
        '__attribute__((section(".x"), aligned(4))) int a;\nvoid f(void) { asm("nop" : : ); }\n',
        "void f(void) { __DSB(); __NOP(); __ISB(); }\n",
        "void g(int);\nvoid f(void) { }\n",
        "void dead(void) { gone(); }\nint main(void) { }\n",
        "#ifdef __ICCARM__\nvoid f(void) { gone(); }\n#endif\n",
        "#define UNUSED() gone()\nint main(void) { }\n",
        "void f(int a) { hyp_irq_ena(a); virt_int_mask(VIRT_PRIMASK); }\n",
    ],
)
def test_what_is_defined_somewhere_is_known(tmp_path: Path, code: str) -> None:
    assert calls(unseen(tmp_path, main_c=code)) == {}


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("#define RUN() gone(1)\nint main(void) { RUN(); }\n", "gone"),
        ("int a = 0;\nISR(TIMER0_vect) { a++; }\n", "ISR"),
        ("K_THREAD_DEFINE(a, b, c);\n", "K_THREAD_DEFINE"),
        ("int a(void) { return gone(); }\n", "gone"),
        ("void f(void) { (void)gone(); }\n", "gone"),
        ("#ifdef MAYBE\nvoid f(void) { gone(); }\n#endif\n", "gone"),
    ],
)
def test_what_may_run_and_is_nowhere_is_unknown(tmp_path: Path, code: str, name: str) -> None:
    assert calls(unseen(tmp_path, main_c=code)) == {name: 1}


def test_names_that_a_macro_puts_together_are_calls_too(tmp_path: Path) -> None:
    text = (
        "#include <libopencm3/cm3/nvic.h>\n#define LINE(what, n) nvic_##what##_irq(n)\n"
        "#define OWN(n) own_##n()\nvoid own_1(void) {}\n"
        "void f(void) { LINE(enable, 37); OWN(1); OWN(2); }\n"
    )
    assert calls(unseen(tmp_path, main_c=text)) == {"nvic_enable_irq": 1, "own_2": 1}


def test_a_cast_by_a_types_name_is_no_call(tmp_path: Path) -> None:
    text = (
        "#include <stdint.h>\ntypedef uint32_t word;\n"
        "word f(int v) { return uint32_t(v) + word(/* as it is */ v) + float(v); }\n"
    )
    assert calls(unseen(tmp_path, a_cpp=text)) == {}


def test_what_a_constructor_initialises_is_no_call(tmp_path: Path) -> None:
    header = "class A { public: A(int n); void go(); private: int pin; };\n"
    text = '#include "a.h"\nA::A(int n) : pin(n) { go(); }\nvoid A::go() { gone(pin); A b(1); }\n'
    assert calls(unseen(tmp_path, a_cpp=text, a_h=header)) == {"gone": 1}


TEMPLATES = """
template <class T> class Field {
public:
    constexpr Field(int high, int low) : high_(high), low_(low), other(gone()) {}
    T mask() const { return (2u << high_) - (1u << low_); }
    Field<T> turned(int by) const;
private:
    int high_, low_;
    T other;
};
struct Led { int on; };
namespace bits {
constexpr Field<unsigned short> hold(7, 7), set(2, 0);
}
"""


@pytest.mark.parametrize(
    "code",
    [
        "Field<Led> local(1, 2); return local.mask();",
        "static const Field<unsigned short> &same(bits::hold); return same.mask();",
        "Led *shown(&led); return shown->on;",
    ],
)
def test_what_is_constructed_is_no_call(tmp_path: Path, code: str) -> None:
    text = f"{TEMPLATES}Led led;\nint main() {{ {code} }}\n"
    assert calls(unseen(tmp_path, main_cpp=text)) == {"gone": 1}


@pytest.mark.parametrize(
    "code",
    [
        "return a > missing(2);",
        "return a & missing(2);",
        "return a * missing(2);",
        "a * missing(2);",
        "Led *shown(missing(2)); return shown->on;",
        "Field<Led> local(missing(2), 1); return local.mask();",
    ],
)
def test_a_call_behind_an_operator_stays_one(tmp_path: Path, code: str) -> None:
    text = f"{TEMPLATES}int a;\nint main() {{ {code} }}\n"
    assert calls(unseen(tmp_path, main_cpp=text)) == {"gone": 1, "missing": 1}


def test_a_base_that_is_constructed_is_a_call(tmp_path: Path) -> None:
    text = "class A : public Missing {\npublic:\n    A() : Missing(1), n(2) {}\n    int m, n;\n};\n"
    assert calls(unseen(tmp_path, main_cpp=text)) == {"Missing": 1}


def test_labels_of_assembler_files_define_functions_and_archives_hide_them(tmp_path: Path) -> None:
    code = "void a(void), b(void), c(void);\nvoid f(void) { a(); b(); c(); }\n"
    assembler = ".global a\na:\n    bl d\n    bx lr\n.thumb_set b, a\n"
    (tmp_path / "c.c").write_text("void c(void) {}\n")
    subprocess.run(["arm-none-eabi-gcc", "-c", "c.c"], cwd=tmp_path, check=True)
    subprocess.run(["arm-none-eabi-ar", "rcs", "libc3.a", "c.o"], cwd=tmp_path, check=True)
    (tmp_path / "c.c").unlink()
    assert archive_symbols(tmp_path / "libc3.a") == {"c"}
    found = unseen(tmp_path, main_c=code, start_s=assembler)
    assert calls(found) == {"c": 1, "d": 1}  # nobody has read what the archive does
    assert {it.name: it.archive for it in found.calls} == {"c": "libc3.a", "d": ""}


def test_a_weak_name_that_nobody_defines_is_called_by_nobody(tmp_path: Path) -> None:
    start = b"_start:\n    bl SystemInit\n    bl main\n    bl late\n    .weak SystemInit\n"
    files = {"start.s": b"    .syntax unified\n    .thumb\n" + start, "main.c": b"int main() {}\n"}
    assert calls(port_files(tmp_path, files).unseen) == {"late": 1}
    for number, weak in enumerate(
        ("extern int put(int) __attribute__((weak));", "#pragma weak put\nint put(int);")
    ):
        main = weak + "\nint get(int);\nint main(void) { put(1); return get(2); }\n"
        assert calls(unseen(tmp_path / str(number), main_c=main)) == {"get": 1}


def test_a_compiler_is_asked_for_what_it_brings() -> None:
    assert any((folder / "stdint.h").is_file() for folder in header_folders("arm-none-eabi-gcc"))
    assert {"memcpy", "printf", "sinf", "__aeabi_idiv"} <= library_functions("arm-none-eabi-gcc")
    assert header_folders("no-such-compiler") == () and not library_functions("no-such-compiler")


@pytest.mark.parametrize("data", [b"", b"!<arch>\n", b"!<arch>\n" + b"/" * 60 + b"x", b"\0" * 200])
def test_an_archive_that_is_none_has_no_names(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x.a").write_bytes(data)
    assert archive_symbols(tmp_path / "x.a") == frozenset()


def test_a_library_beside_the_project_defines_nothing_of_it(tmp_path: Path) -> None:
    """An inline function of a header outside is not ported: what is known of it counts."""
    project, library = tmp_path / "project", tmp_path / "library" / "libopencm3" / "cm3"
    project.mkdir()
    library.mkdir(parents=True)
    (library / "cortex.h").write_text(
        'static inline void cm_disable_interrupts(void) { __asm__ volatile ("CPSID I"); }\n'
    )
    (project / "main.c").write_text(
        "#include <libopencm3/cm3/cortex.h>\nvoid f(void) { cm_disable_interrupts(); }\n"
    )
    result = port_project(project, request=Request((tmp_path / "library",)))
    (port_of_main,) = result.files
    assert b"{ virt_int_mask(VIRT_PRIMASK); }" in port_of_main.ported
    assert not result.unseen


def test_headers_that_only_an_unknown_condition_needs_are_told_and_not_counted(
    tmp_path: Path,
) -> None:
    """A complete project would never come to an end otherwise."""
    (tmp_path / "main.c").write_text(
        '#ifdef USE_X\n#include "x.h"\n#endif\n#include "own.h"\nint main(void) {}\n'
    )
    (tmp_path / "own.h").write_text("#ifdef __GNUC__\n#include <y.h>\n#endif\n")
    run = port(tmp_path)
    assert "own.h:2:1: not found: #include y.h" in run.stderr and run.returncode == 1
    assert "1 more headers, x.h for one, may be missing" in run.stderr
    assert (
        "main.c:2:1: not found: #include x.h (under defined(USE_X))" in port(tmp_path, "-v").stderr
    )
    (tmp_path / "y.h").touch()
    assert port(tmp_path).returncode == 0


def test_headers_of_the_cplusplus_library_are_there(tmp_path: Path) -> None:
    text = "#include <string>\n#include <cstdint>\n#include <strings>\n"
    assert headers(unseen(tmp_path, main_cpp=text)) == ["strings"]


def test_what_cannot_be_read_is_told_as_it_is_written(tmp_path: Path) -> None:
    """A word that a missing header defines keeps the parser from the function around."""
    text = (
        b'#include "chip.h"\nvoid f(void)\n{\n    SCB->CCR |= 1;\n    __SYNC volatile("dsb");\n}\n'
    )
    result = port_files(tmp_path, {"main.c": text}, None)
    (verdict,) = [it for port in result.files for it in port.verdicts]
    assert "SCB->CCR" in verdict.reason and "is a header missing?" in verdict.reason


@pytest.mark.parametrize(
    ("macro", "use", "function"),
    [
        ("PIN(n) static inline void Pin##n##_set(void) { }", "PIN(3)", "Pin3_set"),
        ("LOG(name, on) static inline void name(void) { if (on) { } }", "LOG(debug, 0)", "debug"),
        ("TASK(name) void task_##name(void)", "TASK(blink) { }", "task_blink"),
        ("NAME(name) task_##name(void)", "static void NAME(blink) { }", "task_blink"),
        ("BOTH LOG(debug) LOG(error)\n#define LOG(f) void f(void) { }", "BOTH", "error"),
    ],
)
def test_what_a_use_of_a_macro_defines_is_there(
    tmp_path: Path, macro: str, use: str, function: str
) -> None:
    text = f"#define {macro}\n{use}\nint main(void) {{ {function}(); gone(); }}\n"
    assert calls(unseen(tmp_path, main_c=text)) == {"gone": 1}
    text = text.replace(f"\n{use}\n", "\n")
    assert function in calls(unseen(tmp_path / "unused", main_c=text))


def test_what_a_use_of_a_macro_calls_is_no_definition(tmp_path: Path) -> None:
    text = "#define RUN(f) do { f(); if (f##_on()) { } } while (0)\nint main(void) { RUN(go); }\n"
    assert "go_on" in calls(unseen(tmp_path, main_c=text))


MEMBERS = """
namespace t {
class Timer { public: static unsigned since(unsigned n); static void start(); void stop(); };
inline unsigned Timer::since(unsigned n) { return n; }
template <class T> struct Box { static void open(); };
template <class T> void Box<T>::open() { }
}
using namespace t;
void Timer::start() { stop(); }
void Timer::stop() { }
"""


def test_static_members_of_the_projects_classes_are_there(tmp_path: Path) -> None:
    code = "int main() { Timer::start(); Timer::since(3); Box<int>::open(); return gone(); }\n"
    assert calls(unseen(tmp_path, main_cpp=MEMBERS + code)) == {"gone": 1}


def test_a_call_that_a_choice_makes_defines_nothing(tmp_path: Path) -> None:
    code = "int main() { return t::on() ? Lib::first() : Lib::second(); }\n"
    assert {"first", "second"} <= set(calls(unseen(tmp_path, main_cpp=code)))


@pytest.mark.parametrize("star", ["*", "* const", "*volatile"])
def test_the_type_of_a_cast_is_no_call(tmp_path: Path, star: str) -> None:
    """Nobody here has the header that defines it."""
    macro = f"#define ROM_Get ((status_t ({star})(int))table[0])\nextern unsigned table[];\n"
    code = "int main(void) { gone(status_of (*p)); return ROM_Get(3); }\n"
    assert set(calls(unseen(tmp_path, main_c=macro + code))) == {"gone", "status_of"}


MADE = {
    "the preprocessor's": "#define ENTRY(x) .global x; x:\n    .syntax unified\nENTRY(lock)\n",
    "the assembler's": "    .macro entry x\n.global \\x\n\\x:\n    .endm\n    entry lock\n",
}


@pytest.mark.parametrize("whose", MADE)
def test_a_function_that_a_macro_of_an_assembler_file_makes_is_there(
    whose: str, tmp_path: Path
) -> None:
    main = "int lock(void);\nint main(void) { return lock(); }\n"
    text = MADE[whose] + "    bx lr\n"
    assert not unseen(tmp_path / "with", main_c=main, entry_S=text).calls
    without = text.replace("ENTRY(lock)", "/* lock */").replace("entry lock", "entry other @ lock")
    found = unseen(tmp_path / "without", main_c=main, entry_S=without)
    assert calls(found) == {"lock": 1}
