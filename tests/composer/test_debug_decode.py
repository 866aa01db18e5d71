"""`fvmkit decode`: what a user pasted, in words, however it got there."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from composer.debug.decode import decode_record, decode_registers, describe
from composer.debug.dump import MARK, as_text, find
from composer.image.composed import read_composed
from composer.simulate.log import parse
from composer.simulate.places import Places
from composer.simulate.sentences import writing
from tests.composer import tiny_system

FVMKIT = [sys.executable, "-m", "composer.cli"]


@pytest.fixture(scope="module")
def crash(built: Path) -> int:
    """Address of alpha's store."""
    return tiny_system.symbol(built / "alpha" / "alpha.elf", "crash_cmd") + 2


@pytest.fixture(scope="module")
def record(crash: int) -> str:
    return (
        f"fvm: fault domain=alpha cause=memory cfsr=0x00000082 address=0x20008000 pc=0x{crash:08x}"
        ' lr=none thread=usr restarts=1 tick=4711 task="console"'
    )


SENTENCE = 'alpha rebooted (1): write to 0x20008000 [beta RAM], crash_cmd main.c:5, task "console"'


def decode(
    text: str | bytes, *words: str | Path, cwd: Path, status: int = 0
) -> subprocess.CompletedProcess[bytes]:
    """Runs the command with a dump on its standard input."""
    done = subprocess.run(
        [*FVMKIT, "decode", "-", *map(str, words)], cwd=cwd, check=False, capture_output=True,
        input=text if isinstance(text, bytes) else text.encode(),
    )  # fmt: skip
    assert done.returncode == status, done.stderr.decode()
    return done


def first_line(text: str | bytes, folder: Path) -> str:
    out = decode(text, "--system", folder, cwd=folder).stdout.decode()
    return out.splitlines()[0]


def test_a_record_in_words_with_its_bits_and_places(
    built: Path, record: str, crash: int, tmp_path: Path
) -> None:
    dump = tmp_path / "a dump.txt"
    dump.write_text(record)
    done = subprocess.run(
        [*FVMKIT, "decode", dump, "--system", built], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [
        SENTENCE,
        "    DACCVIOL     data access that the protection unit refused",
        "    MMARVALID    MMFAR holds the address",
        "    address      0x20008000 [beta RAM]",
        f"    pc           0x{crash:08x} crash_cmd main.c:5",
    ]


def test_json_has_every_field(built: Path, record: str, crash: int) -> None:
    out = decode(f"\n{record}\n", "--system", built, "--json", cwd=built).stdout
    assert json.loads(out) == {
        "schema": 1,
        "records": [
            {
                "line": 2,
                "text": SENTENCE,
                "domain": "alpha",
                "cause": "memory",
                "status": ["DACCVIOL", "MMARVALID"],
                "access": "write to",
                "address": 0x20008000,
                "owner": "beta RAM",
                "pc": {"address": crash, "text": "crash_cmd main.c:5"},
                "lr": None,
                "task": "console",
                "tick": 4711,
                "restarts": 1,
                "notes": [],
            }
        ],
    }


def test_in_the_systems_folder_no_option_is_needed(built: Path, record: str) -> None:
    assert decode(record, cwd=built).stdout.decode().startswith(SENTENCE)


def test_however_it_was_copied_it_is_one_record(built: Path, record: str) -> None:
    mailed = "Hello,\n" + textwrap.indent(textwrap.fill(record, 60), "> ") + "\nregards"
    cut = "\n".join(record[i : i + 47] for i in range(0, len(record), 47))
    for text in (
        f"[12:01:02.123] /dev/ttyUSB0: {record} and so on",
        f"\x1b[91mkernel | \x1b[0m{record}\x1b[0m\r\n",
        mailed,
        cut,
        record.encode("utf-16"),
        b"\xff\x00\xfe" + record.encode() + b"\x80",
    ):
        assert first_line(text, built) == SENTENCE, text


def test_what_a_vm_printed_is_not_taken_for_the_kernels(built: Path, record: str) -> None:
    out = decode(f"beta   | {record}", "--system", built, cwd=built).stdout.decode()
    assert "    note: the VM 'beta' printed this: it is not from the kernel's log" in out
    assert "note" not in decode(f"kernel | {record}", cwd=built).stdout.decode()


def test_doubts_are_said(built: Path, record: str, crash: int) -> None:
    cut = decode(record[: record.index("tick")], cwd=built).stdout.decode()
    assert "note: the record is cut off" in cut
    other = decode(record.replace("alpha", "gamma"), cwd=built).stdout.decode()
    assert "note: the system has no domain 'gamma'" in other
    moved = record.replace(f"{crash:08x}", f"{crash + 2:08x}")
    assert "is this the build that ran?" in decode(moved, cwd=built).stdout.decode()


def test_without_the_system_numbers_are_named(record: str, crash: int, tmp_path: Path) -> None:
    done = decode(record, cwd=tmp_path)
    assert done.stdout.decode().splitlines()[0] == (
        "alpha: data access that the protection unit refused, address 0x20008000,"
        f' pc 0x{crash:08x}, task "console"'
    )
    assert b"--system DIR" in done.stderr


def test_registers_of_another_fault_handler(built: Path, crash: int) -> None:
    dump = (
        f"HardFault!\n  CFSR: 0x00008200  HFSR = 0x40000000\n  BFAR 40001000\n"
        f"  PC = {crash:08X}, LR={crash - 1:08x}\n"
    )
    out = decode(dump, "--system", built, cwd=built).stdout.decode().splitlines()
    assert out[0] == "alpha: write to 0x40001000 [granted to nobody], crash_cmd main.c:5"
    assert [line.split()[0] for line in out[1:4]] == ["PRECISERR", "BFARVALID", "FORCED"]
    stale = dump.replace("8200", "0200")
    assert b"hold no address" in decode(stale, "--system", built, cwd=built).stdout
    twice = decode(dump + dump, "--system", built, "--json", cwd=built).stdout
    assert [record["line"] for record in json.loads(twice)["records"]] == [2, 6]


def test_nothing_to_decode_and_nothing_to_read(built: Path, tmp_path: Path) -> None:
    done = decode("all is well\n", cwd=tmp_path, status=1)
    assert re.fullmatch(rb"fvmkit: -: there is no fault record in it; .*\n", done.stderr)
    gone = subprocess.run(
        [*FVMKIT, "decode", "gone.txt"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert gone.returncode == 2
    assert gone.stderr == "fvmkit: gone.txt: can't be opened: No such file or directory\n"
    assert b"system.json" in decode("", "--system", tmp_path, cwd=built, status=2).stderr


FRAGMENTS = st.sampled_from(
    [MARK, "domain=alpha", "domain=", " cfsr=0x82", " cfsr=" + "9" * 300, ' task="', '"', "\n> ",
     "\x1b[", "pc=0x8004000", " PC 08004001", "CFSR: ffffffff", "address=0xfffffffff", " | ", "=",
     "restarts=-1", "\r", "\0"]
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.lists(FRAGMENTS | st.text(max_size=8), max_size=40).map("".join))
def test_no_dump_breaks_it(built: Path, text: str) -> None:
    places = Places(read_composed(built))
    for known in (places, None):
        records, dumps = find(as_text(text.encode("utf-8", "replace")))
        decoded = [decode_record(found, known) for found in records]
        decoded += [decode_registers(dump, known) for dump in dumps]
        for one in decoded:
            assert all(line.isprintable() for line in describe(one))
            json.dumps(one.as_json())


def test_a_large_dump_takes_bounded_time(built: Path) -> None:
    for unit in (MARK, "pc ", "\x1b[", "pc=08004000 cfsr=00000082\n", f'{MARK}x task="\n'):
        records, dumps = find(unit * (4_000_000 // len(unit)))
        assert len(records) <= 500 and len(dumps) <= 500


def test_a_record_that_a_vm_wrote_into_the_log_is_not_the_kernels(built: Path, record: str) -> None:
    forged = record.replace('"', "?")
    line = f'fvm: text domain=beta said="{forged}"'
    shown = writing(parse(line), Places(read_composed(built)))
    for text in (line, f"[12.3] {line}", f"kernel | {shown}"):
        (found,), _ = find(text)
        assert found.said_by == "beta", text
    (true,), _ = find(f'fvm: text domain=beta said="x"\n{record}')
    assert true.said_by == ""
