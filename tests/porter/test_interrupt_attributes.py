"""Interrupt handlers of RISC-V by attribute: they end in mret, which a guest can't run."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.port import port_project
from porter.result import PortResult
from tests.porter.helpers import escalations, port_files

_RV32 = ("-march=rv32imac_zicsr", "-mabi=ilp32")


def _on_riscv(folder: Path, text: str, name: str = "main.c") -> PortResult:
    (folder / name).write_text(text)
    return port_project(folder, cpu=_RV32)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("__attribute__((interrupt)) void f(void) { g(); }", "void f(void) { g(); }"),
        ('__attribute__((interrupt("machine"))) void f(void) {}', "void f(void) {}"),
        ("__attribute((__interrupt__)) void f(void) {}", "void f(void) {}"),
        ("void __attribute__ ( ( interrupt ) ) f(void) {}", "void f(void) {}"),
        ("void f(void) __attribute__((interrupt));", "void f(void);"),
        ("void f(void)__attribute__((interrupt));", "void f(void);"),
        ("void/**/__attribute__((interrupt))f(void) {}", "void/**/ f(void) {}"),
        ("static\n__attribute__((interrupt))\nvoid f(void) {}", "static\nvoid f(void) {}"),
        ("void f(void)\n    __attribute__((interrupt));", "void f(void)\n;"),
        (
            "__attribute__((interrupt, aligned(4))) void f(void) {}",
            "__attribute__((aligned(4))) void f(void) {}",
        ),
        (
            '__attribute__((weak, interrupt("machine"))) void f(void) {}',
            "__attribute__((weak)) void f(void) {}",
        ),
        (
            '__attribute__((used, interrupt("supervisor"), weak)) void f(void) {}',
            "__attribute__((used, weak)) void f(void) {}",
        ),
        (
            "__attribute__((interrupt, used, __interrupt__, weak)) void f(void) {}",
            "__attribute__((used, weak)) void f(void) {}",
        ),
        (
            "__attribute__((weak)) __attribute__((interrupt)) void f(void) {}",
            "__attribute__((weak)) void f(void) {}",
        ),
        (
            "#define ISR __attribute__((interrupt))\nISR void f(void) {}",
            "#define ISR\nISR void f(void) {}",
        ),
        (
            "#define ISR(n) void n(void) __attribute__((interrupt)); void n(void)\nISR(f) {}",
            "#define ISR(n) void n(void); void n(void)\nISR(f) {}",
        ),
        (
            "#define ISR \\\n    __attribute__((interrupt))\nISR void f(void) {}",
            "#define ISR \\\n\nISR void f(void) {}",
        ),
        (
            '#define FAST(m) __attribute__((interrupt(m), used))\nFAST("machine") void f(void) {}',
            '#define FAST(m) __attribute__((used))\nFAST("machine") void f(void) {}',
        ),
    ],
)
def test_the_attribute_is_taken_out(tmp_path: Path, before: str, after: str) -> None:
    result = _on_riscv(tmp_path, before + "\n")
    assert escalations(result) == []
    assert result.files[0].ported.decode() == after + "\n"


@pytest.mark.parametrize(
    "text",
    [
        "#define MODE interrupt\n__attribute__((MODE)) void f(void) {}\n",
        '#define IRQ(m) interrupt(m)\n__attribute__((IRQ("machine"))) void f(void) {}\n',
        "#define ATTR(x) __attribute__((x))\nATTR(interrupt) void f(void) {}\n",
        "#define ATTR(x) __attribute__((x))\n#define TO(x) ATTR(x)\nTO(interrupt) void f();\n",
        "#define ATTR(x) __attribute__((x))\n#define ISR ATTR(interrupt)\nISR void f(void) {}\n",
        "[[gnu::interrupt]] void f(void) {}\n",
        "__attribute__((\n#if FAST\ninterrupt,\n#endif\nused)) void f(void) {}\n",
    ],
)
def test_what_cannot_be_edited_exactly_needs_a_person(tmp_path: Path, text: str) -> None:
    (told,) = escalations(_on_riscv(tmp_path, text))
    assert "mret" in told


def test_a_header_and_cplusplus(tmp_path: Path) -> None:
    (tmp_path / "isr.h").write_text("void f(void) __attribute__((interrupt));\n")
    result = _on_riscv(
        tmp_path, '#include "isr.h"\n__attribute__((interrupt)) void f() {}\n', "main.cpp"
    )
    assert escalations(result) == []
    ported = {file.file.name: file.ported for file in result.files}
    assert ported == {"isr.h": b"void f(void);\n", "main.cpp": b'#include "isr.h"\nvoid f() {}\n'}


@pytest.mark.parametrize(
    "text",
    [
        "void interrupt(void);\nvoid f(void) { interrupt(); }\n",
        '__attribute__((section("interrupt"))) void f(void) {}\n',
        "struct s { int interrupt; };\nint f(struct s *s) { return s->interrupt; }\n",
    ],
)
def test_other_uses_of_the_word_are_none(tmp_path: Path, text: str) -> None:
    assert not any(file.verdicts for file in _on_riscv(tmp_path, text).files)


def test_on_cortex_m_it_stays(tmp_path: Path) -> None:
    text = b'__attribute__((interrupt("IRQ"))) void TIM2_IRQHandler(void) {}\n'
    result = port_files(tmp_path, {"main.c": text})
    assert all(b"interrupt" in file.ported for file in result.files)
    assert escalations(result) == []
