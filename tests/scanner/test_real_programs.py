"""Programs as they really are, compared with what objdump shows of them."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from scanner import scan_file
from tests.scanner.conftest import Build

LIBRARIES = """
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
int main(int argc, char **argv)
{
    char text[64];
    double x = strtod(argv[1], 0);
    snprintf(text, sizeof text, "%g %Lf %lld", pow(sin(x), atan2(x, 2)), (long double)x, 1ll);
    sscanf(text, "%lf", &x);
    __asm volatile("cpsid i\\n cpsie i");
    qsort(text, 8, 1, (int (*)(const void *, const void *))strcmp);
    __asm volatile("mrs r0, primask\\n msr basepri, r0\\n svc 3\\n bkpt 1\\n wfi" ::: "r0");
    return (int)(lgamma(x) + expm1(x) + erf(x)) + (int)mktime(localtime(&(time_t){0}));
}
void _start(void) { main(0, 0); for (;;) ; }
"""

EXAMPLE = Path(__file__).parents[2] / "examples" / "two-legacy-mcus" / "sensor-node"
FORBIDDEN = re.compile(
    r"cps|msr|mrs|svc|bkpt|wf[ie]|sev|setend|mcr|mrc|ldc|stc|cdp|smc|hvc|rfe|srs"
)
LINE = re.compile(r"^ *([0-9a-f]+):\t[0-9a-f ]+\t(\S+)\t?([^@;]*)")


def shown_by_objdump(elf: Path) -> set[int]:
    """Addresses of forbidden instructions in a linear disassembly."""
    command = ["arm-none-eabi-objdump", "-d", elf.name]
    listing = subprocess.run(command, cwd=elf.parent, check=True, capture_output=True, text=True)
    found = set()
    for line in listing.stdout.splitlines():
        if (match := LINE.match(line)) and FORBIDDEN.match(match[2]):
            is_readable = match[2] == "mrs" and "CONTROL" in match[3]
            if not is_readable and "APSR" not in match[3] and match[3].strip() != "245":
                found.add(int(match[1], 16))
    return found


@pytest.mark.parametrize(
    ("cpu", "flags"),
    [
        ("cortex-m3", ()),
        ("cortex-m4", ("-mfloat-abi=hard", "-mfpu=fpv4-sp-d16")),
        ("cortex-m7", ("-mfloat-abi=hard", "-mfpu=fpv5-d16")),
    ],
    ids=["m3", "m4f", "m7"],
)
def test_finds_what_objdump_shows_and_nothing_else_for_certain(
    build: Build, strip: Callable[[Path], Path], cpu: str, flags: tuple[str, ...]
) -> None:
    specs = ("-O2", "--specs=nosys.specs", "-lm", "-Wl,--no-warnings")
    elf = build(LIBRARIES, *flags, *specs, c=True, cpu=cpu)
    certain = {f.address for f in scan_file(elf).findings if f.certainty == "certain"}
    shown = shown_by_objdump(elf)
    assert len(shown) >= 7
    assert certain == shown
    bare = scan_file(strip(elf))
    assert bare.verdict == "reject"
    assert {f.address for f in bare.findings if f.certainty == "certain"} <= shown


def test_a_firmware_that_was_never_ported_is_rejected_place_by_place(tmp_path: Path) -> None:
    project = tmp_path / "sensor node"
    shutil.copytree(EXAMPLE, project, ignore=shutil.ignore_patterns("build"))
    subprocess.run(["make", "-s"], cwd=project, check=True)
    elf = project / "build" / "sensor-node.elf"
    report = scan_file(elf)
    assert report.verdict == "reject"
    instructions = [f for f in report.findings if f.rule in ("cps", "msr", "mrs", "wfx")]
    assert {f.address for f in instructions} == shown_by_objdump(elf)
    assert all(f.function and f.source and f.certainty == "certain" for f in instructions)
    texts = {f: re.sub(r"\br\d+", "rN", f.text.split(" (")[0]) for f in report.findings}
    where = {(f.function, text) for f, text in texts.items()}
    assert where >= {
        ("hang_cmd", "cpsid i"),
        ("sensor_get_status", "mrs rN, primask"),
        ("main", "wfi"),
        ("systick_init", "write to SysTick->CTRL"),
        ("reset_cmd", "write to SCB->AIRCR"),
    }
