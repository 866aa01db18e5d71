"""Handlers whose attributes are macros of the project."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.porter.context_switch.trees import M3, fixture

MACROS = """\
#define NAKED __attribute__((naked))
#define ATTR(x) __attribute__((x))
#define OPTIMIZE(x) ATTR(optimize(x))
#define NAKED_FAST __attribute__((naked, optimize("O3")))
"""
SWITCH = """\
#include <stdint.h>
uint32_t *choose(uint32_t *stack);
HEAD
{
    __asm volatile("mrs r0, psp\\n stmdb r0!, {r4-r11, lr}\\n bl choose\\n"
                   "ldmia r0!, {r4-r11, lr}\\n msr psp, r0\\n bx lr");
}
"""
CHOOSE = """
uint32_t *stacks[2];
uint32_t *choose(uint32_t *stack) { stacks[0] = stack; return stacks[1]; }
"""


def text_of(head: str) -> str:
    return MACROS + SWITCH.replace("HEAD", head) + CHOOSE


@pytest.mark.parametrize(
    ("head", "ported"),
    [
        ("void NAKED PendSV_Handler(void)", "void PendSV_Handler(void)"),
        ("NAKED void PendSV_Handler(void)", "void PendSV_Handler(void)"),
        (
            'void NAKED OPTIMIZE ("Os") PendSV_Handler(void)',
            'void OPTIMIZE ("Os") PendSV_Handler(void)',
        ),
        (
            'OPTIMIZE("Os")\nvoid NAKED PendSV_Handler(void)',
            'OPTIMIZE("Os")\nvoid PendSV_Handler(void)',
        ),
    ],
)
def test_a_macro_that_says_naked_goes(head: str, ported: str, tmp_path: Path) -> None:
    ports = fixture(tmp_path, text_of(head), M3).port()
    (handler,) = [port for port in ports if port.name == "PendSV_Handler"]
    assert handler.proof is not None, handler.reason
    assert handler.replacement.decode().strip().startswith(ported + "\n{")


def test_so_it_does_from_prototypes(tmp_path: Path) -> None:
    header = MACROS + 'void NAKED OPTIMIZE("Os") PendSV_Handler(void);\n'
    head = '#include "os.h"\nvoid PendSV_Handler(void)'
    tree = fixture(tmp_path, SWITCH.replace("HEAD", head) + CHOOSE, M3)
    (tmp_path / "os.h").write_text(header)
    ports = {
        port.file.name: port
        for port in replace(tree, files=(*tree.files, tmp_path / "os.h")).port()
        if port.name == "PendSV_Handler"
    }
    assert ports["os.h"].replacement == b'void OPTIMIZE("Os") PendSV_Handler(void);'
    assert {port.status for port in ports.values()} == {"rewritten"}


@pytest.mark.parametrize("attribute", ["__attribute__((naked))", "__attribute ((naked))", "NAKED"])
def test_an_attribute_between_type_and_name(attribute: str, tmp_path: Path) -> None:
    code = '__asm volatile("mrs r0, primask\\n cpsid i\\n bx lr");'
    text = f"{MACROS}#include <stdint.h>\nuint32_t {attribute} off(void) {{ {code} }}\n"
    ports = [it for it in fixture(tmp_path, text, M3).port() if it.name != "fvm/guest.h"]
    assert [(it.name, it.status) for it in ports] == [("off", "rewritten")], ports


def test_what_says_more_than_naked_stays(tmp_path: Path) -> None:
    (handler,) = fixture(tmp_path, text_of("NAKED_FAST void PendSV_Handler(void)"), M3).port()
    assert handler.name == "PendSV_Handler"
    assert handler.reason == "stays naked: another declaration or a macro says so"
