"""What the kernel takes of its stack at most, from the code of finished kernels."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.support.built import Built

GUARD = 16  # bytes that stay untouched: tests/support/invariants.py
FRAME = 104 + 4  # with FPU registers, aligned
OWN = ("fault_stub", "call_stub", "deferred_stub", "reset_entry")
NESTED = ("timer_stub", "line_stub")  # may come at the end of the deferred work
WORDS = {"d": 8}


@dataclass
class Function:
    takes: int = 0
    calls: set[str] = field(default_factory=set)
    jumps: set[str] = field(default_factory=set)


def pushed(registers: str) -> int:
    count = 0
    for part in registers.strip("{} ").split(","):
        first, _, last = part.strip().partition("-")
        size = WORDS.get(first[0], 4)
        count += size * (int(last[1:]) - int(first[1:]) + 1 if last else 1)
    return count


def taken(operation: str, arguments: str) -> int:
    """By one instruction."""
    if operation in ("push", "vpush") or arguments.startswith("sp!, {"):
        return pushed(arguments[arguments.index("{") :]) if "ld" not in operation else 0
    found = re.match(r"sp, (?:sp, )?#(\d+)", arguments) if operation.startswith("sub") else None
    found = found or re.search(r"\[sp, #-(\d+)\]!", arguments)
    return int(found[1]) if found else 0


def functions(elf: Path) -> dict[str, Function]:
    command = ["arm-none-eabi-objdump", "-d", "--no-show-raw-insn", str(elf)]
    listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found: dict[str, Function] = {}
    for line in listing.splitlines():
        if name := re.match(r"[0-9a-f]+ <(.+)>:", line):
            function = found[name[1]] = Function()
        elif instruction := re.match(r"\s*[0-9a-f]+:\t(\S+)\s*(.*)", line):
            operation, arguments = instruction[1], instruction[2]
            function.takes += taken(operation, arguments)
            if operation.startswith(("b", "cb")) and (to := re.search(r"<([^>+]+)", arguments)):
                (function.calls if operation == "bl" else function.jumps).add(to[1])
            if operation == "blx":
                function.calls.add("a call")
    return found


def depth(code: Mapping[str, Function], name: str, above: tuple[str, ...] = ()) -> int:
    if name == "a call":  # any function of the tables of calls
        return max(depth(code, n, above) for n in code if n not in above and "stub" not in n)
    function, above = code[name], (*above, name)
    assert not function.calls.intersection(above), f"recursion: {above}"
    next_ones = function.calls | function.jumps.difference(above)
    return function.takes + max((depth(code, n, above) for n in next_ones), default=0)


@pytest.mark.parametrize(
    "name", ["lines", "rights", "minimal", "invocation", "threads", "run-time", "asleep"]
)
def test_the_deepest_path_leaves_the_guard(system: Callable[[str], Built], name: str) -> None:
    built = system(name)
    code = functions(built.folder / "kernel" / "kernel.elf")
    room = built.symbol("kernel", "kernel_stack_top") - built.symbol("kernel", "kernel_stack_limit")
    nested = [n for n in code if n in NESTED or re.fullmatch(r"line_\d+", n)]
    own = max(depth(code, n) for n in OWN if n in code)
    assert 0 < max(own, FRAME + max(depth(code, n) for n in nested)) <= room - GUARD
