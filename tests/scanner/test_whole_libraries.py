"""All that the compilers' libraries hold, compared with what objdump shows: a megabyte a core."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from benchmarks.scanner.programs import CORES, whole_libraries
from scanner import scan_file
from scanner.image.elf import load_elf

ARM = [name for name, core in CORES.items() if core.arch.startswith("arm")]
FORBIDDEN = re.compile(
    r"(cps|msr|mrs|svc|bkpt|wfi|wfe|sev|setend|mcr|mrc|mcrr|mrrc|ldc|stc|cdp|ldf|stf|lfm|sfm|smc|hvc|rfe|srs"
    r"|b?l?xns|sg$|tta?t?$|vlldm|vlstm)"
)
LINE = re.compile(r"^ *([0-9a-f]+):\t[0-9a-f ]+\t(\S+)\t?([^@;]*)")


FLOATING = re.compile(r"v|fldm|fstm")
WITHOUT_FPU = ("armv6m", "armv7m")


def shown_by_objdump(elf: Path, arch: str) -> set[int]:
    """Addresses of forbidden instructions in a linear disassembly."""
    command = ["arm-none-eabi-objdump", "-d", elf.name]
    listing = subprocess.run(command, cwd=elf.parent, check=True, capture_output=True, text=True)
    found = set()
    for match in filter(None, map(LINE.match, listing.stdout.splitlines())):
        forbidden = FORBIDDEN.match(match[2]) and "APSR" not in match[3]
        if forbidden or (arch in WITHOUT_FPU and FLOATING.match(match[2])):
            found.add(int(match[1], 16))
    return found


def inside_functions(elf: Path, addresses: set[int]) -> set[int]:
    """Those that no linear disassembly can have taken from data between functions."""
    image = load_elf(elf.read_bytes())
    assert image.symbols is not None
    starts, sizes = image.symbols.functions()
    order = np.argsort(starts)
    starts, ends = starts[order] & ~np.uint32(1), (starts + sizes)[order]
    places = np.array(sorted(addresses), dtype=np.int64)
    holders = np.searchsorted(starts, places, "right") - 1
    return set(places[(holders >= 0) & (places < ends[holders])].tolist())


@pytest.mark.parametrize("name", ARM)
def test_certain_findings_are_those_that_objdump_shows(tmp_path: Path, name: str) -> None:
    elf = whole_libraries(CORES[name], tmp_path)
    report = scan_file(elf)
    rules = {f.rule for f in report.findings if f.certainty == "certain"} - {"ppb", "mmio"}
    certain = {f.address for f in report.findings if f.certainty == "certain" and f.rule in rules}
    shown = shown_by_objdump(elf, CORES[name].arch)
    assert inside_functions(elf, shown) <= certain
    assert certain <= shown
    assert report.arch == CORES[name].arch
