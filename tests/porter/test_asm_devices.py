"""Assembler that reaches blocks which no machine owns is told, whatever says their addresses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from porter.judging.verdict import Status, Verdict
from tests.porter.helpers import DOMAIN, escalations, port_files

HEAD = ".syntax unified\n.thumb\n.text\n.global on\n.thumb_func\non:\n"
TAIL = "    ldr r1, [r0]\n    orr r1, r1, #16\n    str r1, [r0]\n    bx lr\n"
CALLS = b"void on(void);\nint main(void) { on(); for (;;) { } }\n"
CHIP = (
    b"typedef struct { volatile unsigned CR, r[11], AHB1ENR; } RCC_TypeDef;\n"
    b"#define RCC_BASE 0x40023800UL\n#define RCC ((RCC_TypeDef *)RCC_BASE)\n"
)
FORMS = {
    "a name": ".equ RCC_APB2ENR, 0x40021018\n{head}ldr r0, =RCC_APB2ENR\n{tail}",
    "a sum": ".equ RCC, 0x40023800\n.set ENABLE, RCC + 0x30\n{head}ldr r0, =(RCC + 0x30)\n{tail}",
    "an assignment": "GPIOC_CRH = 0x40011004\n{head}ldr r0, =GPIOC_CRH\n{tail}",
    "halves": ".equ RCC_CR, 0x40023800\n{head}movw r0, #:lower16:RCC_CR\n"
    "movt r0, #:upper16:RCC_CR\n{tail}",
    "another vendor's": ".equ SYSCTL_RCC_R, 0x400FE060\n{head}ldr r0, =SYSCTL_RCC_R\n{tail}",
}  # fmt: skip
BY_HEADERS = {
    "a number": "{head}ldr r0, =0x40023830\n{tail}",
    "a word": "{head}ldr r0, [pc, #4]\n{tail}.word 0x40023830\n",
    "halves of a number": "{head}movw r0, #0x3830\nmovt r0, #0x4002\n{tail}",
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_by_its_name(form: str, tmp_path: Path) -> None:
    text = form.format(head=HEAD, tail=TAIL)
    found = escalations(port_files(tmp_path, {"on.s": text.encode(), "main.c": CALLS}, None))
    assert len([it for it in found if "which no machine owns" in it]) == 1, found


@pytest.mark.parametrize("form", BY_HEADERS.values(), ids=BY_HEADERS)
def test_by_what_headers_say(form: str, tmp_path: Path) -> None:
    files = {"on.s": form.format(head=HEAD, tail=TAIL).encode(), "main.c": CALLS, "chip.h": CHIP}
    found = escalations(port_files(tmp_path, files, None))
    assert len([it for it in found if "which no machine owns" in it]) == 1, found


def test_a_machines_own_device_is_its_own(tmp_path: Path) -> None:
    text = f".equ USART2_DR, 0x40004404\n{HEAD}ldr r0, =USART2_DR\nldr r2, =0x44344444\n{TAIL}"
    files = {"on.s": text.encode(), "main.c": CALLS, "chip.h": CHIP}
    assert escalations(port_files(tmp_path, files, None)) == []


def test_names_come_from_what_is_taken_in(tmp_path: Path) -> None:
    files = {
        "lib/names.s": b"SCS EQU 0xE000E000\nSYST_RVR EQU SCS + 0x14\n",
        "main.s": b"    GET lib\\names.s\n    AREA M, CODE\non PROC\n    LDR R0, =SYST_RVR\n"
        b"    STR R1, [R0]\n    BX LR\n    ENDP\n    END\n",
        "main.c": CALLS,
    }
    found = escalations(port_files(tmp_path, files, None))
    assert any("SysTick->LOAD (0xE000E014), which no machine owns" in it for it in found), found


def test_what_a_built_file_takes_in_is_built(tmp_path: Path) -> None:
    project = (
        '<Project><Targets><Target><TargetOption><TargetCommonOption><Cpu>CPUTYPE("Cortex-M3")'
        "</Cpu></TargetCommonOption><TargetArmAds/></TargetOption><Groups><Group><Files><File>"
        "<FileType>2</FileType><FilePath>main.s</FilePath></File></Files></Group></Groups>"
        "</Target></Targets></Project>"
    )
    files = {
        "p.uvprojx": project.encode(),
        "lib/cps.s": b"    CPSID I\n",
        "spare.s": b"    CPSID I\n",
        "main.s": b"    AREA M, CODE\nmain PROC\n    INCLUDE lib/cps.s\n"
        b"    BX LR\n    ENDP\n    END\n",
    }
    result = port_files(tmp_path, files, None)
    (taken,) = (it for it in result.files if it.file.name == "lib/cps.s")
    assert taken.verdicts and result.unread == ("spare.s",)
    started = port_files(tmp_path / "q", files, replace(DOMAIN, startup=("spare.s",)))
    assert not started.unread, "what the description has as start-up is looked at, too"


def test_an_asm_statement_with_such_a_number_stays(tmp_path: Path) -> None:
    code = b'void f(void) { __asm volatile ("ldr r0, =0x40023830\\n str r1, [r0]" ::: "r0"); }\n'
    result = port_files(tmp_path, {"main.c": CHIP + code}, None)
    assert any("ldr r0, =0x40023830" in it for it in escalations(result)), escalations(result)


@pytest.mark.parametrize(
    "code",
    [
        "__attribute__((naked)) void f(void) { __asm volatile ("
        '"movw r0, #0x3800\\n movt r0, #0x4002\\n str r1, [r0]\\n bx lr"); }',
        'void f(void) { __asm volatile ("str %0, [%1]" :: "r"(1), "r"(0x40023800)); }',
    ],
)
def test_an_asm_statement_that_makes_the_address_stays(code: str, tmp_path: Path) -> None:
    result = port_files(tmp_path, {"main.c": CHIP + code.encode() + b"\n"}, None)
    assert escalations(result) and not any(port.edits for port in result.files)


@pytest.mark.parametrize(
    "text", ["movw r4, #0xA500\\n movt r4, #0x57A7", "ldr r4, =0x57A7A500", "mov r4, #0x57A7A500"]
)
@pytest.mark.parametrize("use", ["add r1, r4, #1\\n cmp r1, r0", "ldr r0, [r2, r4]"])
def test_a_number_that_no_access_goes_by_is_no_address(text: str, use: str, tmp_path: Path) -> None:
    code = (
        f'__attribute__((naked)) void f(void) {{ __asm volatile ("{text}\\n {use}\\n bx lr"); }}\n'
    )
    given = replace(DOMAIN, grants=())
    found = escalations(port_files(tmp_path, {"main.c": CHIP + code.encode()}, given))
    assert bool(found) == ("[" in use), found


@pytest.mark.parametrize(
    "code",
    [
        'asm("ldr r0, =0x57A7A500"); asm("str r1, [r0]");',
        'asm("movw r0, #0xA500");\n asm("movt r0, #0x57A7");\n asm("str r1, [r0]");',
        'asm("ldr r0, =0x57A7A500\\n bl write");',
    ],
)
def test_an_access_may_be_in_the_next_statement(code: str, tmp_path: Path) -> None:
    text = f"void f(void) {{ {code} }}\n".encode()
    assert escalations(port_files(tmp_path, {"main.c": text}, replace(DOMAIN, grants=())))


NAMES = b"""\
#define RCU_BASE 0x40021000
#define RCU_CTL 0x40021000
#define FMC_BASE 0x40022000
#define DBG_KEY 0x4B5A6978
"""
MACROS = b"""\
#include "names.h"
    .macro entry name
    .weak \\name\\()_Handler
\\name\\()_Handler:
    .word \\name\\()_Handler, IRQ_\\name
    .endm
    .macro put to, value
    li t0, \\to
    sw \\value, 0(t0)
    .endm
    .text
"""


@pytest.mark.parametrize(
    "code",
    [b"    entry RCU_BASE\n", b"key:\n    li a0, DBG_KEY\n    ret\n",
     b"key:\n    li a0, DBG_KEY\n    sw a0, 4(a1)\n    ret\n"],
)  # fmt: skip
def test_a_name_or_a_number_is_no_address(code: bytes, tmp_path: Path) -> None:
    """What a macro makes names of; what no access goes by although its name begins as a block's."""
    files = {"names.h": NAMES, "start.S": MACROS + code, "main.c": CALLS}
    assert not [it for it in escalations(port_files(tmp_path, files, None)) if "no machine" in it]


@pytest.mark.parametrize(
    "code",
    [b"    put RCU_BASE, a1\n", b"    li a0, RCU_CTL\n    sw a1, 0(a0)\n    ret\n",
     b"    li a0, RCU_CTL\n    call write\n    ret\n", b"    li a0, FMC_BASE\n    ret\n",
     b"    .word RCU_CTL\n"],
)  # fmt: skip
def test_what_may_be_accessed_is_told(code: bytes, tmp_path: Path) -> None:
    files = {"names.h": NAMES, "start.S": MACROS + b"key:\n" + code, "main.c": CALLS}
    found = [it for it in escalations(port_files(tmp_path, files, None)) if "no machine" in it]
    assert len(found) == 1


GIVEN = {
    "of GNU's": "    ISER0 = 0xE000E100\n",
    "by .equ": "    .equ ISER0, 0xE000E100\n",
    "of Arm's": "ISER0   EQU 0xE000E100\n",
    "for another name": "NVIC = 0xE000E100\nISER0 = NVIC\n",
}
USE = """\
    .syntax unified
    .thumb
    .text
    .global on
    .type on, %function
on: ldr r1, =ISER0
    str r0, [r1]
    bx lr
"""


@pytest.mark.parametrize("how", GIVEN)
def test_only_the_use_of_a_name_for_a_number_is_an_access(how: str, tmp_path: Path) -> None:
    found = verdicts(tmp_path, {"names.s": GIVEN[how], "on.s": f'.include "names.s"\n{USE}'})
    assert {it.status for it in found if it.site.file == "names.s"} == {Status.LEFT}
    assert Status.ESCALATED in {it.status for it in found if it.site.file == "on.s"}


@pytest.mark.parametrize("how", ["of GNU's", "for another name"])
def test_a_name_for_a_number_is_shown_as_it_is_written(how: str, tmp_path: Path) -> None:
    found = verdicts(tmp_path, {"on.s": GIVEN[how] + USE})
    (name,) = (it for it in found if "= 0xE000E100" in it.site.what)
    assert name.status is Status.LEFT and name.site.what == GIVEN[how].splitlines()[0].strip()
    assert Status.ESCALATED in {it.status for it in found}


@pytest.mark.parametrize("use", [USE, "    .global ISER0\n", "A = ISER0 + 4\n    .word A\n"])
def test_a_name_that_its_file_uses_is_looked_at_with_it(use: str, tmp_path: Path) -> None:
    """Nobody can assemble it, so that nobody knows what it does with the name."""
    found = verdicts(tmp_path, {"on.s": f"{GIVEN['by .equ']}{use}    .broken\n"})
    assert {it.status for it in found} == {Status.ESCALATED}


def verdicts(folder: Path, files: dict[str, str]) -> list[Verdict]:
    texts = {name: text.encode() for name, text in files.items()}
    result = port_files(folder, {"main.c": b"int main(void) { for (;;) ; }\n", **texts})
    return [it for file in result.files for it in file.verdicts]
