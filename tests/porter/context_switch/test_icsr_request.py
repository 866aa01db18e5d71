"""A switch requested by setting a bit of what ICSR reads as."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.context_switch.result import SwitchPort
from tests.porter.context_switch.test_first_task import port as port_start

OTHER_BIT = "accesses SCB->ICSR, which is the kernel's"


def port(folder: Path, text: str) -> list[SwitchPort]:
    body = f"    ldr r1, =0xE000ED04\n    ldr r0, [r1]\n{text}    bx lr\n    .pool\n"
    return port_start(folder, body)


@pytest.mark.parametrize(
    "text",
    [
        "    orr r0, r0, #0x10000000\n    str r0, [r1]\n",
        "    movs r2, #1\n    lsls r2, r2, #28\n    orrs r0, r2\n    str r0, [r1]\n    dsb\n",
        "    orr r0, r0, #0x10000000\n    str r0, [r1]\n" + "    ldr r0, [r1]\n"
        "    orr r0, r0, #0x10000000\n    str r0, [r1]\n",
    ],
)
def test_setting_the_bit_is_the_request(text: str, tmp_path: Path) -> None:
    (made,) = [it for it in port(tmp_path, text) if it.file.suffix == ".c"]
    assert b"virt_yield();" in made.replacement and made.status == "rewritten"


@pytest.mark.parametrize(
    "text",
    [
        "    orr r0, r0, #0x04000000\n    str r0, [r1]\n",
        "    orr r0, r0, #0x18000000\n    str r0, [r1]\n",
        "    and r0, r0, #0x10000000\n    str r0, [r1]\n",
        "    orr r2, r0, #0x10000000\n    str r2, [r1]\n    ldr r1, =seen\n    str r0, [r1]\n",
    ],
)
def test_another_bit_or_use_isnt(text: str, tmp_path: Path) -> None:
    assert [OTHER_BIT in it.reason for it in port(tmp_path, text)] == [True]
