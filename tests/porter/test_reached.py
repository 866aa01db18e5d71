"""Which functions of a project are in the program: what nothing uses is left as it is."""

from __future__ import annotations

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
