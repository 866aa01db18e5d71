"""The counting plugin against a program whose counts are known, and against the machine's timer."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.counting import Image, measure
from benchmarks.machines import NETDUINO
from benchmarks.operations import LINE, OUTSIDE, Operation
from benchmarks.samples import Figures
from benchmarks.symbols import Symbols
from composer.simulate.machine import QEMU
from scanner.report.errors import FvmError

SOURCE = Path(__file__).with_name("truth.S")
SCRIPT = Path(__file__).parents[2] / "benchmarks" / "application" / "startup" / "bare.ld"
BLOCK = Operation("block", "", "block_start", "block_stop", "block")
HANDLER = Operation("handler", "", LINE, "handler", "block")
LEAVES = Operation("leaves", "", LINE, OUTSIDE, "block")
INSTRUCTIONS = 4 + 3 * 40 + 1 + 2
SVC, LINE_37 = 11, 16 + 37


def built(elf: Path, *defined: str) -> Image:
    command = ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-nostdlib", f"-Wl,-T,{SCRIPT}", *defined]
    command += ["-Wl,--defsym=FLASH=0x08000000,--entry=reset", "-o", str(elf), str(SOURCE)]
    subprocess.run(command, check=True, capture_output=True)
    symbols = Symbols([("truth", elf)])
    svc, line = (symbols.objects["truth", f"{name}_handler"] & ~1 for name in ("svc", "line"))
    return Image(elf, symbols, {svc: SVC, line: LINE_37}, range(line, line + 10))


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    return built(tmp_path_factory.mktemp("truth") / "truth.elf")


def figures(image: Image, operation: Operation, folder: Path) -> Figures:
    found = measure(NETDUINO, image, [operation], 20, folder)[operation.name].figures
    assert found is not None
    return found


def test_instructions_words_and_exceptions_are_those_of_the_program(
    image: Image, tmp_path: Path
) -> None:
    found = figures(image, BLOCK, tmp_path)
    assert (found.least, found.mean, found.most) == (INSTRUCTIONS,) * 3
    assert found.words == 2 + 3
    assert found.exceptions == 1
    assert found.est_cycles == INSTRUCTIONS + 5 + 12 + 10
    assert (found.count, found.disturbed) == (20, 0)


def test_words_that_the_processor_stores_for_the_fpu_are_counted(tmp_path: Path) -> None:
    """S0-S15 and FPSCR, when the handler stores others of the FPU; at its return, where it loads
    others."""
    found = figures(built(tmp_path / "truth.elf", "-DFPU"), BLOCK, tmp_path)
    assert found.mean == INSTRUCTIONS + 2
    assert found.words == (2 + 2 + 17) + (3 + 2 + 17)


def test_the_timer_of_the_machine_agrees(image: Image) -> None:
    command = [QEMU, "-M", NETDUINO.qemu, "-display", "none", "-monitor", "none", "-serial", "null"]
    command += ["-semihosting-config", "enable=on,target=native", "-kernel", str(image.elf)]
    command += ["-icount", "shift=4,sleep=off"]
    assert subprocess.run(command, check=False, timeout=120).returncode == INSTRUCTIONS


def test_a_span_begins_at_the_entry_of_a_line_and_ends_where_other_code_runs(
    image: Image, tmp_path: Path
) -> None:
    assert figures(image, HANDLER, tmp_path).mean == 3
    whole = figures(image, LEAVES, tmp_path)
    assert (whole.mean, whole.exceptions) == (5, 1)


def test_the_paths_are_the_addresses_between_the_marks(image: Image, tmp_path: Path) -> None:
    span = measure(NETDUINO, image, [HANDLER], 20, tmp_path)["handler"]
    line = image.symbols.objects["truth", "line_handler"] & ~1
    assert span.typical == span.slowest == (line, line + 2, line + 4)


def test_an_operation_that_never_ends_is_an_error(image: Image, tmp_path: Path) -> None:
    stuck = replace(BLOCK, stop="never")
    with pytest.raises(FvmError, match="has no mark 'never'"):
        measure(NETDUINO, image, [stuck], 20, tmp_path)
    image.symbols.marks["never"] = {0x0800_F000}
    with pytest.raises(FvmError, match="didn't get to the end of block"):
        measure(NETDUINO, image, [stuck], 20, tmp_path)
