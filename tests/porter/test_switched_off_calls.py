"""Code that only a setting of the build calls which is off: nobody has to port it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from porter.judging.verdict import Status
from porter.result import PortResult
from tests.porter.helpers import port_files

OFF, ON = b"#define USES 0\n", b"#define USES 1\n"
CODE = b"""\
static inline void measure(void) { __set_MSP(4); }
void lock(int mask) { if (mask == 0 && USES) { measure(); } }
int main(void) { lock(1); for (;;) { } }
"""


def built(folder: Path, files: dict[str, bytes]) -> PortResult:
    """Ports a project of which the build is known."""
    commands = [
        {
            "directory": str(folder),
            "file": name,
            "arguments": ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-c", name],
        }
        for name in files
        if name.endswith(".c")
    ]
    return port_files(folder, files | {"compile_commands.json": json.dumps(commands).encode()})


def is_left(result: PortResult) -> bool:
    told = [
        it.status for port in result.files for it in port.verdicts if it.site.what == "__set_MSP"
    ]
    return bool(told) and all(status is Status.LEFT for status in told)


def test_a_function_that_only_a_setting_calls_which_is_off_is_left(tmp_path: Path) -> None:
    """RIOT counts how long interrupts are off, where MODULE_DEBUG_IRQ_DISABLE is built."""
    assert is_left(port_files(tmp_path, {"main.c": OFF + CODE}, None))


@pytest.mark.parametrize(
    ("code", "instead"),
    [
        (OFF, ON),
        (b"mask == 0 && USES", b"mask == 0 || USES"),
        (b"mask == 0 && USES", b"mask == USES"),
        (b"if (mask == 0 && USES) {", b"switch (mask) if (USES) { case 1:"),
        (b"{ measure(); }", b"{ again: measure(); } if (mask > 2) goto again;"),
        (b"lock(1);", b"lock(1); measure();"),
        (b"lock(1);", b"lock(1); void (*p)(void) = measure; p();"),
        (b"static inline", b"__attribute__((constructor)) static"),
        (b"lock(1);", b'lock(1); __asm volatile("bl measure");'),
        (b"int main", b"#define CALL(x) x##sure()\nvoid made(void) { CALL(mea); }\nint main"),
        (b"static inline void", b"void"),
    ],
)
def test_a_function_that_something_else_may_call_is_not(
    code: bytes, instead: bytes, tmp_path: Path
) -> None:
    text = OFF + CODE
    assert code in text
    assert not is_left(port_files(tmp_path, {"main.c": text.replace(code, instead)}, None))


def test_a_header_may_be_off_in_one_file_and_on_in_another(tmp_path: Path) -> None:
    header, main = CODE.split(b"int main")
    header = header.replace(b"void lock", b"static inline void lock")
    other = b'#include "lock.h"\nvoid other(void) { lock(0); }\n'
    files = {
        "lock.h": header,
        "main.c": OFF + b'#include "lock.h"\nvoid other(void);\nint main' + main,
    }
    for name, use, left in (("on", ON, False), ("off", OFF, True)):
        given = files | {
            "other.c": use + other,
            "main.c": files["main.c"].replace(b"{ lock", b"{ other(); lock"),
        }
        assert is_left(built(tmp_path / name, given)) is left


@pytest.mark.parametrize(
    ("head", "returned", "asks"),
    [
        (b"#include <stdbool.h>\nbool", b"(__get_IPSR() & 0xFF)", True),
        (b"_Bool", b"__get_IPSR()", True),
        (b"unsigned char", b"(__get_IPSR() & 0xFF)", False),
        (b"typedef unsigned char bool;\nbool", b"(__get_IPSR() & 0xFF)", False),
        (b"#define bool int\nbool", b"(__get_IPSR() & 0xFF)", False),
        (b"#include <stdbool.h>\nbool", b"(__get_IPSR() & 0xF0)", False),
        (b"#include <stdbool.h>\nbool", b"(__get_IPSR() + 1)", False),
    ],
)
def test_a_truth_value_that_is_returned_asks_only_for_zero(
    head: bytes, returned: bytes, asks: bool, tmp_path: Path
) -> None:
    """RIOT's irq_is_in()."""
    text = head + b" in(void) { return %s; }\nint main(void) { return in(); }\n" % returned
    (port,) = built(tmp_path, {"main.c": text}).files
    assert (b"return virt_in_vct();" in port.ported) is asks
