"""Lengths, expansions and control flow, against what binutils knows of them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from scanner.decode.code_space import CodeSpace, executable_pieces
from scanner.decode.instruction_set import Flow
from scanner.decode.riscv import RiscV
from scanner.decode.riscv_compressed import expanded
from scanner.image.load import load_image
from tests.scanner.riscv.conftest import Build
from tests.scanner.riscv.programs import LIBRARIES

LINE = re.compile(r"^ *([0-9a-f]+):\s+([0-9a-f]+)\s+(.*)$")
HINT = {"c.nop", "c.slli", "c.li", "c.lui", "c.mv", "c.add", "c.slli64", "c.srli64", "c.srai64"}
XW = {"fld", "fsd"}
"""Without double precision these encodings are WCH's own, as are some that stand for nothing."""

KINDS = {
    "j": Flow.JUMP, "jal": Flow.CALL, "ret": Flow.COMPUTED, "jalr": Flow.COMPUTED_CALL,
    "mret": Flow.STOP, "unimp": Flow.STOP,
}  # fmt: skip


def listed(folder: Path, data: bytes, width: int) -> dict[int, str]:
    """objdump's text of each instruction, with branch targets as distances."""
    (folder / "code.bin").write_bytes(data)
    command = ["riscv64-unknown-elf-objdump", "-D", "-z", "-b", "binary", "-m", "riscv:rv32"]
    done = subprocess.run(
        [*command, "-M", "numeric", "code.bin"],
        cwd=folder, check=True, capture_output=True, text=True,
    )  # fmt: skip
    found = {}
    for line in done.stdout.splitlines():
        if match := LINE.match(line):
            address, text = int(match[1], 16), match[3].split(" #")[0].strip()
            target = re.search(r"0x([0-9a-f]+)$", text) if text[0] in "jb" else None
            if target:
                distance = int(target[1], 16) - address & 0xFFFFFFFF
                text = f"{text[: target.start()]}{distance}"
            found[address // width] = text
    return found


def test_compressed_instructions_are_what_they_stand_for(tmp_path: Path) -> None:
    halves = np.array([h for h in range(0x10000) if h & 3 != 3], dtype="<u2")
    narrow = listed(tmp_path, halves.tobytes(), 2)
    wide = listed(tmp_path, expanded()[halves].astype("<u4").tobytes(), 4)
    compared = 0
    for number in range(len(halves)):
        text, meaning = narrow[number], wide[number]
        name = text.split()[0]
        long_shift = re.match(r"s[lr][la]\t.*,0x[23]", text)
        if name in HINT | XW or long_shift or text == "add\tx2,x2,0":
            continue
        if text.startswith(".2byte"):
            assert meaning == "unimp" or halves[number] & 0xE003 == 0x8000, hex(halves[number])
            continue
        normal = re.sub(r"^mv\t(.*),(.*)$", r"add\t\1,x0,\2", text)
        assert meaning in (text, normal, re.sub(r"^add\t(x\d+),(x\d+),0$", r"mv\t\1,\2", text))
        compared += 1
    assert compared > 30000


@pytest.mark.parametrize("arch", ["rv32imac", "rv32imafc"])
def test_lengths_and_flow_of_a_real_program(build: Build, arch: str) -> None:
    elf = build(LIBRARIES, "-O2", "-lm", c=True, arch=arch)
    space = CodeSpace(executable_pieces(load_image(elf.read_bytes()), ()))
    command = ["riscv64-unknown-elf-objdump", "-d", "-M", "numeric", elf.name]
    done = subprocess.run(command, cwd=elf.parent, check=True, capture_output=True, text=True)
    lines = re.findall(r"^ *([0-9a-f]+):\t([0-9a-f ]+)\t(\S+)\t?([^#<\n]*)", done.stdout, re.M)
    isa = RiscV()
    indices = np.array([space.index(int(line[0], 16)) for line in lines])
    flows = isa.flows(space.halfwords[indices], space.halfwords[indices + 1])
    assert len(lines) > 10000
    for row, (address, code, name, operands) in enumerate(lines):
        is_wide = isa.wide[space.halfwords[indices[row]]]
        assert is_wide == (len(code.replace(" ", "")) == 8), address
        kind = flows.kind[row]
        if name in KINDS and not operands.startswith("x0"):
            assert kind == KINDS[name], (address, name)
        if name.startswith("b") and name not in ("bseti", "binv"):
            assert kind == Flow.BRANCH, (address, name)
        if kind in (Flow.JUMP, Flow.CALL, Flow.BRANCH):
            target = int(operands.split(",")[-1], 16)
            assert int(address, 16) + 2 * int(flows.distance[row]) == target, address
        assert kind == Flow.NEXT or not isa.ordinary[space.halfwords[indices[row]]], address
