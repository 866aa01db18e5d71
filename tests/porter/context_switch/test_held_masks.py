"""BASEPRI written under PRIMASK is a store; anywhere else it looks at what waited for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.context_switch.proof import Model, NotProved
from porter.context_switch.proof.compare import compare
from porter.context_switch.proof.link import link_pair
from tests.porter.context_switch.test_proof import COMMAND, objects
from tests.porter.context_switch.trees import fixture

TEXT = """#include <stdint.h>
void level(uint32_t value);
__attribute__((naked)) void level(uint32_t value)
{{
    __asm volatile("{text}");
}}
"""
PORT = """#include <fvm/guest.h>
void level(uint32_t value);
void level(uint32_t value) {{ {text} }}
"""
HELD = "cpsid i\\n msr basepri, r0\\n dsb\\n isb\\n cpsie i\\n bx lr"


@pytest.mark.parametrize(
    ("text", "is_store"),
    [
        (HELD, True),
        ("msr basepri, r0\\n bx lr", False),
        ("cpsid i\\n cpsie i\\n msr basepri, r0\\n bx lr", False),
        ("msr primask, r0\\n msr basepri, r0\\n cpsie i\\n bx lr", False),
    ],
)
def test_only_under_primask_it_is_a_store(text: str, is_store: bool, tmp_path: Path) -> None:
    ports = fixture(tmp_path, TEXT.format(text=text)).port()
    (port,) = [it for it in ports if it.name == "level"]
    assert port.status == "rewritten", port.reason
    assert (b"virt_int_set_base(" in port.replacement) == is_store
    assert (b"virt_int_restore(VIRT_BASEPRI" in port.replacement) != is_store


@pytest.mark.parametrize(
    ("ported", "caught"),
    [
        ("virt_int_restore(VIRT_BASEPRI, value);", False),
        ("virt_int_set_base(value);", True),
        ("virt_int_mask(VIRT_PRIMASK); virt_int_set_base(value); "
         "virt_int_unmask(VIRT_PRIMASK);", False),
    ],
)  # fmt: skip
def test_a_port_that_leaves_what_waited_is_caught(
    ported: str, caught: bool, tmp_path: Path
) -> None:
    original, port = objects(
        tmp_path,
        TEXT.format(text=HELD if "PRIMASK" in ported else "msr basepri, r0\\n bx lr"),
        PORT.format(text=ported),
    )
    images = link_pair(original, port, ("level", "level"), {"level": 1}, COMMAND)
    model = Model("other")
    if caught:
        with pytest.raises(NotProved, match="leaves what waited"):
            compare(*images, model)
    else:
        assert compare(*images, model)[0].states > 100
