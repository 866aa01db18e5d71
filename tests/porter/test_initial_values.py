"""What another file, or assembler, may write isn't taken as what its declaration says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.porter.helpers import escalations, port_files

LOCK = b'void lock(void) { __asm volatile ("msr basepri, %0" :: "r"(level)); }\n'
HELD = b"virt_int_restore(VIRT_BASEPRI, level);"
CLOSED = b"virt_int_mask(VIRT_BASEPRI);"


def locked(folder: Path, declaration: bytes, others: dict[str, bytes] | None = None) -> bytes:
    """A file that masks by `level`, ported."""
    result = port_files(folder, {"main.c": declaration + LOCK, **(others or {})})
    return next(port.ported for port in result.files if port.file.name == "main.c")


@pytest.mark.parametrize(
    ("declaration", "others"),
    [
        (b"unsigned level = 0x40;\n", {}),
        (b"unsigned level = 0;\n", {"b.c": b"extern unsigned level;\nvoid f(void){level=9;}\n"}),
        (b"unsigned level = 0;\n", {"b.s": b"f: ldr r1, =level\n str r0, [r1]\n bx lr\n"}),
        (b"volatile unsigned level = 0;\n", {}),
        (b"static volatile unsigned level = 0;\n", {}),
        (b"static __IO unsigned level = 0;\n", {}),
        (b"const volatile unsigned level = 0;\n", {}),
        (b"unsigned *const at = 0, level = 0;\n", {}),
        (b'static unsigned level = 0;\n#include "set.inc"\n', {"set.inc": b"level = 0x40;\n"}),
        (b"static unsigned level = 0;\nvoid f(unsigned *);\nvoid g(void) { f(&level); }\n", {}),
        (b'static unsigned level = 0;\nvoid f(void) { asm("ldr r1,\\tlevel\\n\\t"); }\n', {}),
        (b'#define F asm("ldr r1, =level")\nstatic unsigned level = 0;\nvoid f(void) { F; }\n', {}),
        (b"static unsigned level = 0;\n__asm void f(void) { IMPORT level\n bx lr\n}\n", {}),
    ],
)
def test_a_threshold_that_may_change_is_restored(
    tmp_path: Path, declaration: bytes, others: dict[str, bytes]
) -> None:
    assert HELD in locked(tmp_path, declaration, others)


@pytest.mark.parametrize(
    "declaration",
    [
        b"static unsigned level = 0x40;\n",
        b"const unsigned level = 0x40;\n",
        b"static const unsigned level = 0x40;\n",
        b"enum { level = 0x40 };\n",
    ],
)
def test_one_that_can_not_is_a_constant(tmp_path: Path, declaration: bytes) -> None:
    assert CLOSED in locked(tmp_path, declaration)


@pytest.mark.parametrize(
    "declaration",
    [
        b"static unsigned level = 0;\n",
        b"__attribute__((used)) static unsigned level = 0;\n",
    ],
)
def test_a_static_that_assembler_names_is_not_removed(tmp_path: Path, declaration: bytes) -> None:
    set_level = (
        b'__attribute__((naked)) void f(void) { asm("ldr r1, =level\\n str r0, [r1]\\n bx lr"); }\n'
    )
    after = locked(tmp_path, set_level + declaration)
    assert declaration in after
    assert HELD in after


@pytest.mark.parametrize(
    "declaration",
    [
        "static volatile unsigned *const icsr = (volatile unsigned *)0xE000ED04;\n",
        "volatile unsigned *icsr = (volatile unsigned *)0xE000ED04;\n",
        "volatile unsigned *volatile icsr = (volatile unsigned *)0xE000ED04;\n",
    ],
)
def test_an_access_through_a_pointer_that_may_change_is_found(
    tmp_path: Path, declaration: str
) -> None:
    text = declaration + "void f(void) { *icsr = 1u << 28; }\nvoid g(unsigned x) { *icsr = x; }\n"
    result = port_files(tmp_path, {"main.c": text.encode()})
    assert b"void f(void) { virt_yield(); }" in result.files[0].ported
    assert any("ICSR" in reason for reason in escalations(result))


@pytest.mark.parametrize("declaration", ["unsigned", "static volatile unsigned"])
def test_so_is_one_by_an_address_kept_as_a_number(tmp_path: Path, declaration: str) -> None:
    text = (
        f"{declaration} scb = 0xE000ED00;\n"
        "void f(void) { *(volatile unsigned *)(scb + 4) = 1u << 28; }\n"
    )
    result = port_files(tmp_path, {"main.c": text.encode()})
    assert b"void f(void) { virt_yield(); }" in result.files[0].ported


@pytest.mark.parametrize(("other", "after"), [("0x40", "mask"), ("0", "unmask")])
def test_a_name_of_two_blocks_has_the_value_of_each(tmp_path: Path, other: str, after: str) -> None:
    use = "__set_BASEPRI(level);"
    text = (
        "void f(int a)\n{\n"
        f"    if (a) {{ unsigned level = 0; {use} }}\n"
        f"    else {{ unsigned level = {other}; {use} }}\n}}\n"
    )
    ported = port_files(tmp_path, {"main.c": text.encode()}).files[0].ported.decode()
    first, second = ported.split("else")
    assert "virt_int_unmask(VIRT_BASEPRI)" in first and f"virt_int_{after}(VIRT_BASEPRI)" in second


def test_a_request_that_may_change_is_not_taken_as_it_begins(tmp_path: Path) -> None:
    text = (
        b"unsigned request = 1u << 28;\n"
        b"void f(void) { *(volatile unsigned *)0xE000ED04 = request; }\n"
    )
    result = port_files(tmp_path, {"main.c": text})
    assert any("isn't one known request" in reason for reason in escalations(result))
