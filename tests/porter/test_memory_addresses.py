"""Memory at addresses of the old chip: the machine's is elsewhere, and a person is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.judging.verdict import Status
from tests.porter.helpers import port_files

HEADER = b"""\
#include <stdint.h>
#define FLASH_BASE 0x08000000UL
#define CCM 0x10000000UL
#define EXTERNAL 0x60000000UL
#define UID ((uint32_t *)0x1FFF7A10)
struct app { uint32_t magic, size; };
#define APP ((const struct app *)0x08010000)
typedef void (*function)(void);
void copy(void *to, const void *from, unsigned size);
extern uint32_t _sdata;
"""


def told(folder: Path, code: bytes) -> list[str]:
    ports = port_files(folder, {"main.c": HEADER + code + b"\n"}, None).files
    verdicts = [verdict for port in ports for verdict in port.verdicts]
    return [it.reason for it in verdicts if it.status is not Status.LEFT]


@pytest.mark.parametrize(
    ("code", "address"),
    [
        (b"void f(uint16_t v) { *(volatile uint16_t *)(FLASH_BASE + 0xF800) = v; }", "0x0800F800"),
        (b"uint32_t f(uint32_t o) { return *(uint32_t *)(FLASH_BASE + o); }", "0x08000000"),
        (b"uint32_t f(void) { return UID[1]; }", "0x1FFF7A14"),
        (b"uint32_t f(void) { return APP->size; }", "0x08010004"),
        (b"void f(void) { *(volatile uint16_t *)EXTERNAL = 1; }", "0x60000000"),
        (b"uint8_t *f(void) { return (uint8_t *)CCM; }", "0x10000000"),
        (b"void f(void *to) { copy(to, (const void *)(FLASH_BASE + 256), 12); }", "0x08000100"),
        (b"void f(void) { uint32_t *p = (uint32_t *)CCM; for (int i = 9; i--;) *p++ = 0; }",
         "0x10000000"),
        (b"void f(void) { function g = (function)*(uint32_t *)(FLASH_BASE + 4); g(); }",
         "0x08000004"),
        (b"#define ROM ((void (*)(int))0x1FFF1FF1)\nvoid f(void) { ROM(1); }", "0x1FFF1FF1"),
        (b"void f(void) { ((function)0x1FFF1FF1)(); }", "0x1FFF1FF1"),
        (b"static const uint32_t sectors[] = {0x08000000, 0x08004000};\n"
         b"void f(int s) { *(volatile uint8_t *)(sectors[s] + 3) = 1; }", "0x08000003"),
        (b"static char *const heap = (char *)CCM;\nchar *f(void) { return heap; }", "0x10000000"),
        (b"static char *const heap = (char *)CCM;\nchar *next;\nvoid f(void) { next = heap; }",
         "0x10000000"),
        (b"void f(void) { ((volatile uint32_t *)0xF80FF040)[1] = 1; }", "0xF80FF044"),
        (b"uint8_t keys[9] __attribute__((zero_init, at(CCM)));", "0x10000000"),
        (b'uint8_t keys[9] __attribute__((section(".ARM.__at_0x20001000")));', "0x20001000"),
    ],
)  # fmt: skip
def test_a_person_is_told_of_the_address(tmp_path: Path, code: bytes, address: str) -> None:
    (reason,) = told(tmp_path, code)
    assert (address in reason and "of the old chip" in reason) or "old chip's" in reason


@pytest.mark.parametrize(
    "code",
    [
        b"void f(void) { uint32_t *p = &_sdata; *p = 1; }",
        b"int f(uint32_t at) { return at >= FLASH_BASE && at < FLASH_BASE + 0x10000; }",
        b"int f(const uint8_t *p) { return p == (const uint8_t *)0; }",
        b"unsigned f(void) { return (unsigned)&((struct app *)0)->size; }",
        b"uint32_t f(uint32_t v) { return v * 3u + (1u << 31) | 0x20000000; }",
        b"uint8_t keys[9] __attribute__((section(\".ccmram\")));",
        b"uint32_t f(uint32_t (*at)(uint32_t)) { return at(0x20001000); }",
        b"uint32_t least;\nint c(uint32_t *p) { return p == UID; }\n"
        b"void f(void) { least = 0xFFFFFFFFu; copy(&least, &least, least); }",
        b"static const uint32_t keys[] = {0x12345678, 0x23456789};\n"
        b"uint32_t f(int i, uint32_t v) { return v < keys[i] ? keys[0] ^ v : keys[i] * 3u; }",
    ],
)  # fmt: skip
def test_other_numbers_and_what_the_linker_places_are_no_sites(tmp_path: Path, code: bytes) -> None:
    assert told(tmp_path, code) == []


@pytest.mark.parametrize("ones", ["~0U", "-1", "0xFFFFFFFF", "0xFFFFFFFFUL", "UINT32_MAX"])
def test_a_pointer_of_all_ones_says_that_there_is_none(tmp_path: Path, ones: str) -> None:
    code = f"#define NONE ((struct app *)({ones}))\n".encode() + (
        b"struct app *find(int n);\nvoid use(const struct app *a);\n"
        b"struct app *f(int n) { struct app *r = find(n); if (!n) r = NONE; return r; }\n"
        b"void g(int n) { struct app *a = find(n); use(n ? a : NONE); use(NONE); }\n"
        b"int h(int n) { return find(n) == NONE; }\n"
        b"void *i(void) { return (void *)(%s); }\n" % ones.encode()
    )
    assert told(tmp_path, code) == []


@pytest.mark.parametrize(
    "code",
    [
        b"#define NONE ((uint8_t *)0xFFFFFFFF)\nvoid f(void) { *NONE = 1; }",
        b"#define LAST (*(volatile uint8_t *)~0U)\nvoid f(void) { LAST = 1; }",
        b"uint8_t *f(void) { return (uint8_t *)0xFFFFFFF0; }",
    ],
)
def test_an_access_there_is_one(tmp_path: Path, code: bytes) -> None:
    (reason,) = told(tmp_path, code)
    assert "0xFFFFFFF" in reason


def test_functions_of_a_rom_by_a_table_of_tables(tmp_path: Path) -> None:
    """The table of the ROM leads to one that leads to the function."""
    code = (
        b"#define TABLES ((uint32_t *)0x01000010)\n#define SECOND ((uint32_t *)(TABLES[14]))\n"
        b"#define OFF ((int (*)(void))SECOND[2])\nint f(void) { return OFF(); }\n"
    )
    (reason,) = told(tmp_path, code)
    assert "code memory->0x01000048" in reason
