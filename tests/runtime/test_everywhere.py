"""A task switch in user mode may be interrupted at every instruction: nothing is lost, whether the
interrupt asks for another switch or not, with FPU state and without."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.support.built import Built, build, change, once
from tests.support.counted import Board, Transcript, run

pytestmark = pytest.mark.campaign

DESCRIPTION = Path(__file__).parent / "systems" / "everywhere.xml"
TESTS = DESCRIPTION.parents[2]
BOARD = Board("mps2-an386", 5, 1, 5)
FIRED = 2 * 3 * 599 + 2 * 10 * 299  # passes, shifts, ticks; and twice in the third pass
LINE = re.compile(r"^ *([0-9a-f]+):\t(\S+)", re.M)
WITH_FPU = "with FPU state"

# What no mask covers, by mnemonics: entry of a yield, its end, and a preempted task that goes on.
OPEN = {
    "without FPU": (
        ("mov", "stmdb", "strb.w"),
        ("ldr.w", "cbnz", "ldmia.w"),
        ("clrex", "ldr", "msr", "ldmia.w", "ldmia.w", "ldr.w"),
    ),
    WITH_FPU: (
        ("mrs", "lsls", "bmi.n"),
        ("cmp", "bne.w", "strb.w", "ldrb.w"),
        ("ldmia.w", "pop", "vmsr", "vpop", "bx"),
    ),
}


@pytest.fixture(scope="module", params=list(OPEN))
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def system(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Built:
    def make(room: Path) -> Built:
        text = DESCRIPTION.read_text("utf-8").replace('path="../.."', f'path="{TESTS}"')
        if kind == WITH_FPU:
            text = change(text, 'fpu="no"', 'fpu="yes"')
            text = change(text, "TEST_NO_FPU", "TEST_FPU")
        room.with_suffix(".in.xml").write_text(text, "utf-8")
        return build(room.with_suffix(".in.xml"), room)

    return once(tmp_path_factory, f"everywhere {kind}", make)


@pytest.fixture(scope="module")
def transcript(system: Built) -> Transcript:
    return run(system.elf, {"everywhere": 2}, 1000, board=BOARD)


def test_no_interrupt_and_no_register_is_lost(transcript: Transcript) -> None:
    assert [record.kind for record in transcript.log].count("boot") == 1
    values = transcript.values("everywhere")
    assert values["done"] == 1, values
    assert values["fired"] == FIRED
    assert (values["lost"], values["bad.0"], values["bad.1"]) == (0, 0, 0)
    assert values["rounds.1"] > FIRED


def test_what_no_mask_covers_was_interrupted_everywhere(
    system: Built, transcript: Transcript, kind: str
) -> None:
    words = [
        int(line.split("=")[1], 16)
        for line in transcript.lines("everywhere")
        if line.startswith("place=")
    ]
    code = instructions(system)
    first = code[0][0]
    seen = [(words[(a - first) // 64] >> ((a - first) // 2 % 32) & 1) != 0 for a, _ in code]
    names = [name for _, name in code]
    for run_of in OPEN[kind]:
        size = len(run_of)
        places = [i for i in range(len(names)) if tuple(names[i : i + size]) == run_of]
        assert any(all(seen[i : i + size]) for i in places), run_of


def instructions(system: Built) -> list[tuple[int, str]]:
    """Addresses and mnemonics of the library's switch."""
    start = system.symbol("everywhere", "virt_unmask_pending")
    stop = start + 2 * 512
    elf = system.folder / "everywhere" / "everywhere.elf"
    listing = subprocess.run(
        ["arm-none-eabi-objdump", "-d", "--no-show-raw-insn", f"--start-address={start}",
         f"--stop-address={stop}", elf],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    return [(int(address, 16), name) for address, name in LINE.findall(listing)]
