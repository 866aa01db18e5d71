"""What a report says, where it once misled."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.output.port_report import assumptions
from porter.port import port_project
from tests.porter.helpers import escalations, port_files

MASK = b"void f(void) { __set_BASEPRI(0x18); }\n"
GPIO = b"""\
typedef struct { volatile unsigned MODER, OTYPER, OSPEEDR, PUPDR, IDR, ODR;
                 volatile unsigned short BSRRL, BSRRH; } GPIO_TypeDef;
#define GPIOC ((GPIO_TypeDef *)0x40020800)
"""
PROJECT = """\
<?xml version="1.0"?><Project><Targets><Target><TargetName>t</TargetName><TargetOption>
<TargetCommonOption><Device>STM32F407VGTx</Device></TargetCommonOption></TargetOption><Groups>
<Group><GroupName>g</GroupName><Files>
<File><FileName>main.c</FileName><FileType>1</FileType><FilePath>.\\main.c</FilePath></File>
<File><FileName>gone.c</FileName><FileType>1</FileType><FilePath>.\\gone.c</FilePath></File>
</Files></Group></Groups></Target></Targets></Project>
"""


@pytest.mark.parametrize(("other", "open_"), [(b"3", 0), (b"(0x3)", 0), (b"4", 1)])
def test_a_number_spelt_in_two_ways_is_no_conflict(
    tmp_path: Path, other: bytes, open_: int
) -> None:
    files = {
        "one.h": b"#define __NVIC_PRIO_BITS 3U\n",
        "two.h": b"#define __NVIC_PRIO_BITS %s\n" % other,
        "main.c": b'#include "one.h"\n#include "two.h"\n' + MASK,
    }
    result = port_files(tmp_path, files, None)
    assert len(escalations(result)) == open_
    if not open_:  # of three bits 0x18 leaves none
        assert b"virt_int_unmask(VIRT_BASEPRI)" in result.files[0].ported


def test_a_naked_task_is_called_no_handler(tmp_path: Path) -> None:
    call = b'__attribute__((naked)) void task(void) { __asm volatile ("mrs r0, psp\\n svc 0"); }\n'
    loop = b'__attribute__((naked)) void idle(void) { __asm volatile ("1: wfi\\n b 1b\\n"); }\n'
    told = "\n".join(escalations(port_files(tmp_path, {"main.c": call + loop}, None)))
    assert "calls a supervisor in a naked function that isn't known to be a handler" in told
    assert "from a handler" not in told
    assert "the handler calls" not in told


@pytest.mark.parametrize("makefile", ["", "include nowhere.mk\n"])
def test_a_file_that_a_project_file_lacks_is_no_error_of_make(
    tmp_path: Path, makefile: str
) -> None:
    (tmp_path / "p.uvprojx").write_text(PROJECT)
    (tmp_path / "main.c").write_text("int main(void) { __disable_irq(); for (;;); }\n")
    if makefile:
        (tmp_path / "Makefile").write_text(makefile)
    said = list(assumptions(port_project(tmp_path)))
    told = "(project file) takes in aren't there, or can't be read: gone.c;"
    assert any(told in it for it in said)
    assert not any("make" in it.split(":")[0] for it in said)


@pytest.mark.parametrize(
    ("code", "also"),
    [
        (b"unsigned h(void) { return GPIOC->BSRRL = 4; }\n", "take its value from a variable"),
        (b"void i(void) { GPIOC->BSRRL++; }\n", ""),
    ],
)
def test_what_cannot_be_told_of_a_pin_has_a_remedy(tmp_path: Path, code: bytes, also: str) -> None:
    (told,) = escalations(port_files(tmp_path, {"main.c": GPIO + code}, None))
    assert "what happens to GPIOC->BSRR can't be told: " in told
    assert "make it a statement that stores a value" in told
    assert "hyp_pin_set(port, mask, levels)" in told
    assert also in told
