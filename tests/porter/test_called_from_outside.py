"""Functions that something calls which isn't in the tree, or no longer takes part."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from porter.judging.verdict import Status
from tests.porter.helpers import DOMAIN, port_files

KEYS = b"#define FLASH_KEYR (*(volatile unsigned *)0x40023C04)\n"
TABLE = b"""\
void Reset_Handler(void);
void (*const table[])(void) __attribute__((section(".isr_vector"))) = {
    0, Reset_Handler, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
"""
OPEN = b"int HAL_UART_Init(void *);\nint main(void) { HAL_UART_Init(0); for (;;) { } }\n"
CLOSED = TABLE + b"int main(void) { for (;;) { } }\n"
UNLOCK = b"(void) { FLASH_KEYR = 0x45670123; }\n"


def flash(folder: Path, files: dict[str, bytes]) -> Status:
    ports = port_files(folder, files, None).files
    (verdict,) = (it for port in ports for it in port.verdicts if "FLASH" in it.site.what)
    return verdict.status


@pytest.mark.parametrize("name", [b"void HAL_UART_MspInit", b"void tim2_isr"])
def test_a_library_that_is_missing_may_call_what_nobody_else_does(
    tmp_path: Path, name: bytes
) -> None:
    assert flash(tmp_path, {"main.c": KEYS + name + UNLOCK + OPEN}) is Status.ESCALATED
    assert flash(tmp_path, {"main.c": KEYS + name + UNLOCK + OPEN + TABLE}) is Status.ESCALATED


@pytest.mark.parametrize(
    "files",
    [
        {"main.c": KEYS + b"static void old" + UNLOCK + OPEN},
        {"main.c": KEYS + b"void old" + UNLOCK + OPEN, "old.h": b"void old(void);\n"},
        {"main.c": KEYS + b"void old" + UNLOCK + CLOSED},
    ],
)
def test_what_nobody_can_call_is_not_linked(tmp_path: Path, files: dict[str, bytes]) -> None:
    assert flash(tmp_path, files) is Status.LEFT


START_UP = b"""\
 .syntax unified
 .thumb
Reset_Handler:
 bl SystemInit
 bl board_early_init
 ldr r0, =early
 blx r0
 bl main
 bl __libc_init_array
 .word _estack, Reset_Handler, NMI_Handler, HardFault_Handler, 0, 0, 0, 0, 0, 0, 0
 .word SVC_Handler, 0, 0, PendSV_Handler, SysTick_Handler
"""


def test_what_the_start_up_file_calls_is_called_no_more(tmp_path: Path) -> None:
    text = b"void board_early_init(void) { }\nvoid early(void) { }\nvoid SystemInit(void) { }\n"
    files = {"main.c": text + b"int main(void) { for (;;) { } }\n", "startup.s": START_UP}
    ports = port_files(tmp_path, files, None).files
    told = [it for port in ports for it in port.verdicts if it.status is Status.ESCALATED]
    assert [it.site.what for it in told] == ["board_early_init", "early"]
    assert all("isn't called any more" in it.reason for it in told)


def test_so_is_what_one_in_c_calls(tmp_path: Path) -> None:
    code = b"void early(void);\nvoid main(void);\nvoid Reset_Handler(void) { early(); main(); }\n"
    text = b"void early(void) { }\nint main(void) { for (;;) { } }\n"
    domain = replace(DOMAIN, startup=("startup.c",))
    ports = port_files(tmp_path, {"main.c": text, "startup.c": code + TABLE}, domain).files
    told = [it.site.what for port in ports for it in port.verdicts if it.rule == "start-up"]
    assert told == ["early"]


ANOTHER = START_UP.replace(b" bl main\n", b" bl entry\n")
BEGINS = (
    KEYS
    + b"""\
void board_early_init(void) { }
void early(void) { }
int main(void) { return 0; }
static void unlock(void) { FLASH_KEYR = 0x45670123; }
void entry(void) { unlock(); for (;;) { } }
"""
)


def test_a_program_may_begin_elsewhere_as_the_description_says(tmp_path: Path) -> None:
    domain = replace(DOMAIN, startup=("startup.s",), entry="entry")
    ports = port_files(tmp_path, {"main.c": BEGINS, "startup.s": ANOTHER}, domain).files
    told = [it for port in ports for it in port.verdicts if it.status is Status.ESCALATED]
    assert [it.site.what for it in told if "isn't called any more" in it.reason] == [
        "board_early_init", "early"
    ]  # fmt: skip
    assert any("FLASH" in it.reason for it in told)  # nobody but the entry leads there


def test_without_that_the_last_call_says_what_to_write(tmp_path: Path) -> None:
    domain = replace(DOMAIN, startup=("startup.s",))
    ports = port_files(tmp_path, {"main.c": BEGINS, "startup.s": ANOTHER}, domain).files
    advice = {it.site.what: 'entry="entry"' in it.reason for port in ports for it in port.verdicts}
    assert advice["entry"]
    assert not advice["early"]
