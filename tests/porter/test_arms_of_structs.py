"""Where fields are that stand behind an #if, in a project of which nobody knows the build."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.judging.verdict import Status
from tests.porter.helpers import port_files

CORE = b"""\
#include <stdint.h>
typedef struct {
  volatile uint32_t CPUID, ICSR;
#if (__VTOR_PRESENT == 1U)
%s
#else
%s
#endif
  volatile uint32_t AIRCR, SCR, CCR;
} SCB_Type;
#define SCB ((SCB_Type *)0xE000ED00)
"""
CHIP = b'#define __VTOR_PRESENT 1\n#include "core.h"\n'
MAIN = b'#include "chip.h"\nint main(void) { SCB->AIRCR = 0x05FA0004; for (;;) { } }\n'
VTOR, RESERVED = b"  volatile uint32_t VTOR;", b"  uint32_t RESERVED0;"


def ported(folder: Path, core: bytes) -> tuple[bytes, set[Status]]:
    files = {"main.c": MAIN, "chip.h": CHIP, "core.h": core}
    ports = port_files(folder, files, None).files
    (main,) = (it for it in ports if it.file.name == "main.c")
    return main.ported, {it.status for it in main.verdicts}


def test_arms_of_one_size_move_nothing(tmp_path: Path) -> None:
    text, _ = ported(tmp_path, CORE % (VTOR, RESERVED))
    assert b"hyp_reboot();" in text


@pytest.mark.parametrize(
    "core",
    [
        CORE % (VTOR + b" uint32_t more;", RESERVED),
        (CORE % (VTOR, b"")).replace(b"#else\n", b""),
        (CORE % (VTOR, RESERVED)).replace(b"#else", b"#elif defined(X)"),
    ],
)
def test_of_arms_of_other_sizes_a_person_is_asked(tmp_path: Path, core: bytes) -> None:
    text, found = ported(tmp_path, core)
    assert MAIN in text and found == {Status.ESCALATED}
