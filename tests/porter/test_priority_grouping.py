"""Priorities that code computes from how they are grouped."""

from __future__ import annotations

from pathlib import Path

from tests.porter.helpers import escalations, port_files

_REGISTERS = b"""\
#define AIRCR (*(volatile unsigned *)0xE000ED0C)
#define IP ((volatile unsigned char *)0xE000E400)
"""
_GROUP = b"void group(unsigned bits) { AIRCR = 0x05FA0000 | bits; }\n"
_LEVEL = b"""\
void level(int line, unsigned char pre)
{
    unsigned char sub = (0x700 - ((AIRCR) & 0x700)) >> 8;
    IP[line] = (pre << (4 - sub)) << 4;
}
"""
_MAIN = b"int main(void) { group(0x300); level(37, 1); for (;;) { } }\n"


def test_a_priority_is_computed_from_what_was_written(tmp_path: Path) -> None:
    result = port_files(tmp_path, {"misc.c": _REGISTERS + _GROUP + _LEVEL + _MAIN})
    assert escalations(result) == []
    (port,) = result.files
    assert b"virt_aircr_set(0x05FA0000 | bits);" in port.ported
    assert b"virt_aircr() & 0x700" in port.ported


def test_where_another_file_groups_them_a_person_looks(tmp_path: Path) -> None:
    files = {
        "misc.c": _REGISTERS + _LEVEL,
        "group.c": _REGISTERS + _GROUP + b"void level(int, unsigned char);\n" + _MAIN,
    }
    (found,) = escalations(port_files(tmp_path, files))
    assert found.startswith("AIRCR: SCB->AIRCR is read")


def test_who_only_groups_them_keeps_nothing(tmp_path: Path) -> None:
    text = _REGISTERS + _GROUP + b"int main(void) { group(0x300); for (;;) { } }\n"
    result = port_files(tmp_path, {"main.c": text})
    assert escalations(result) == []
    assert b"virt_aircr" not in result.files[0].ported
