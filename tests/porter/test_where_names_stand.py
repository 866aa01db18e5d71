"""A name means what it means where it stands: in a block, before a macro is defined anew, and for
each file and each set of options that read a place. What can't be one thing is a person's."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.judging.verdict import Status
from porter.result import PortResult
from tests.porter.helpers import port_files

REG = "#define REG (*(volatile unsigned *)0xE000E100)\n"
HOLD = '__asm volatile("msr basepri, %0" :: "r"(LEVEL))'
IDLE = "for (;;) { }"


def ported(folder: Path, files: dict[str, str], compiles: list[str] | None = None) -> PortResult:
    """Built by make, so that the compiler's preprocessor is asked."""
    sources = compiles or [f"-c {name}" for name in files if name.endswith(".c")]
    rules = "".join(f"\tarm-none-eabi-gcc -mcpu=cortex-m4 -mthumb {it}\n" for it in sources)
    given = {**files, "Makefile": f"all:\n{rules}"}
    return port_files(folder, {name: text.encode() for name, text in given.items()}, None)


def became(result: PortResult, name: str) -> str:
    """A file without white space."""
    (port,) = [it for it in result.files if it.file.path.name == name]
    return "".join(port.ported.decode().split())


def ambiguous(result: PortResult) -> list[str]:
    verdicts = [verdict for port in result.files for verdict in port.verdicts]
    return [
        it.reason for it in verdicts if it.status is Status.ESCALATED and it.rule == "ambiguous"
    ]


BLOCKS = {
    "a constant": ("{ const int irq = 6; REG = 1u << irq; } REG = 1u << irq;", "65"),
    "an enumerator": ("{ enum { irq = 6 }; REG = 1u << irq; } REG = 1u << irq;", "65"),
    "the next enumerator": ("enum { first = 6, irq }; REG = 1u << irq;", "7"),
    "in a loop": ("for (const int irq = 4; ; ) { REG = 1u << irq; }", "4"),
    "nested": (
        "{ const int irq = 6; { const int irq = 7; REG = 1u << irq; } REG = 1u << irq; }", "76"),
}  # fmt: skip


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_hides_what_is_around(tmp_path: Path, name: str) -> None:
    body, lines = BLOCKS[name]
    text = f"{REG}static const int irq = 5;\nint main(void) {{ {body} {IDLE} }}\n"
    found = became(ported(tmp_path, {"main.c": text}), "main.c")
    assert [it[0] for it in found.split("hyp_irq_ena(")[1:]] == list(lines)


def test_a_local_pointer_hides_the_files(tmp_path: Path) -> None:
    text = """extern unsigned ram[];
static volatile unsigned *const reg = (volatile unsigned *)0xE000E100;
#define ENABLED (*reg)
void f(void) { { volatile unsigned *reg = ram; *reg = 8; } *reg = 1u << 5; }
void g(void) { { volatile unsigned *reg = ram; ENABLED = 8; } }
void h(void) { ENABLED = 1u << 6; }
int main(void) { f(); g(); h(); for (;;) { } }
"""
    found = became(ported(tmp_path, {"main.c": text}), "main.c")
    assert "*reg=8;}hyp_irq_ena(5);" in found
    assert "ENABLED=8;" in found  # it may not become an operation on a line
    assert "voidh(void){hyp_irq_ena(6);}" in found


@pytest.mark.parametrize("through", ["", "#define ON() (REG = 1u << LINE)\n"])
def test_a_macro_that_is_defined_anew_is_two(tmp_path: Path, through: str) -> None:
    on = "ON()" if through else "REG = 1u << LINE"
    text = (
        f"{REG}{through}#define LINE 5\n#define LEVEL 0\nvoid f(void) {{ {on}; {HOLD}; }}\n"
        f"#undef LINE\n#undef LEVEL\n#define LINE 6\n#define LEVEL 0x40\n"
        f"void g(void) {{ {on}; {HOLD}; }}\nint main(void) {{ f(); g(); {IDLE} }}\n"
    )
    result = ported(tmp_path, {"main.c": text})
    assert len(ambiguous(result)) == (3 if through else 4)
    assert (
        "'hyp_irq_ena(5)' as main.c before LEVEL and LINE is defined anew" in ambiguous(result)[0]
    )
    assert "hyp_irq_ena(" not in became(result, "main.c")


def test_the_same_again_is_one(tmp_path: Path) -> None:
    text = (
        f"{REG}#define LINE 5\nvoid f(void) {{ REG = 1u << LINE; }}\n#undef LINE\n#define LINE 5\n"
    )
    result = ported(tmp_path, {"main.c": f"{text}int main(void) {{ f(); {IDLE} }}\n"})
    assert not ambiguous(result) and "hyp_irq_ena(" in became(result, "main.c")


def test_a_base_that_is_defined_anew_is_two_devices(tmp_path: Path) -> None:
    text = """#define BASE 0x40004404
void f(void) { *(volatile unsigned *)BASE = 1u << 5; }
#undef BASE
#define BASE 0xE000E100
void g(void) { *(volatile unsigned *)BASE = 1u << 5; }
int main(void) { f(); g(); for (;;) { } }
"""
    assert len(ambiguous(ported(tmp_path, {"main.c": text}))) == 2


def test_a_file_that_is_compiled_twice_must_say_the_same(tmp_path: Path) -> None:
    dual = (
        f"{REG}static void on(void) {{ REG = 1u << LINE; {HOLD}; }}\nvoid RUN(void) {{ on(); }}\n"
    )
    main = f"void one(void), two(void);\nint main(void) {{ one(); two(); {IDLE} }}\n"
    compiles = ["-c main.c", "-DRUN=one -DLINE=5 -DLEVEL=0 -o 1.o -c dual.c"]
    for line, count in (("6", 1), ("5", 0)):
        again = f"-DRUN=two -DLINE={line} -DLEVEL=0 -o 2.o -c dual.c"
        folder = tmp_path / line
        folder.mkdir()
        result = ported(folder, {"main.c": main, "dual.c": dual}, [*compiles, again])
        assert len(ambiguous(result)) == count
        assert ("hyp_irq_ena(" in became(result, "dual.c")) == (not count)


@pytest.mark.parametrize("other", [5, 6])
def test_a_header_must_say_the_same_to_all_that_include_it(tmp_path: Path, other: int) -> None:
    header = f"{REG}static inline void on(void) {{ REG = 1u << LINE; {HOLD}; }}\n"
    files = {"on.h": header}
    for name, line in (("a", 5), ("b", other)):
        macros = f"#define LINE {line}\n#define LEVEL 0\n"
        files[f"{name}.c"] = f'{macros}#include "on.h"\nvoid {name}(void) {{ on(); }}\n'
    files["main.c"] = f"void a(void), b(void);\nint main(void) {{ a(); b(); {IDLE} }}\n"
    assert len(ambiguous(ported(tmp_path, files))) == (other != 5)


def test_what_is_left_to_a_person_keeps_what_it_needs(tmp_path: Path) -> None:
    """A pointer goes where all that uses it is ported, and stays where something isn't."""
    header = """static inline void on(void)
{
    volatile unsigned *const reg = (volatile unsigned *)0xE000E100;
    *reg = 1u << LINE;
}
"""
    files = {"on.h": header, "main.c": f"void a(void), b(void);\nint main(void) {{ {IDLE} }}\n"}
    for name, line in (("a", 5), ("b", 6)):
        run = f"void {name}(void) {{ on(); }}\n"
        files[f"{name}.c"] = f'#define LINE {line}\n#include "on.h"\n{run}'
    files["main.c"] = files["main.c"].replace("for", "a(); b(); for")
    result = ported(tmp_path, files)
    assert len(ambiguous(result)) == 1
    assert "*constreg=(volatileunsigned*)0xE000E100;*reg=1u<<LINE;" in became(result, "on.h")


@pytest.mark.parametrize("count", [3, 40])
def test_however_often_a_macro_is_defined_anew(tmp_path: Path, count: int) -> None:
    """The last definition says what the first ones do: not all of those between."""
    lines = [*[5] * 30, *range(count), 5] if count > 3 else [*range(count), 5]
    defined = "".join(
        f"#undef LINE\n#define LINE {line}{' ' if at % 2 else ' + 0'}\n"
        f"static void f{at}(void) {{ REG = 1u << LINE; }}\n"
        for at, line in enumerate(lines)
    )
    calls = "".join(f"f{at}(); " for at in range(len(lines)))
    text = f"{REG}{defined}int main(void) {{ {calls}{IDLE} }}\n"
    result = ported(tmp_path, {"main.c": text})
    assert len(ambiguous(result)) == len(lines)
    assert "hyp_irq_ena(" not in became(result, "main.c")
