"""Waivers and baselines: what they cover is set apart, said, and nothing else."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from scanner.cli import scan
from scanner.report.errors import FvmError
from scanner.waivers import load_waivers
from tests.scanner.conftest import Build
from tests.scanner.elf_writer import FLASH, Load, halfwords, write_elf


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(scan, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def elf(build: Build) -> Path:
    return build(".thumb_func\n_start: cpsid i\n cpsie i\n bx lr\n")


def waiver(elf: Path, **changed: Any) -> dict[str, Any]:
    image = hashlib.sha256(elf.read_bytes()).hexdigest()
    entry = {"image": image, "rule": "cps", "address": "0x08000000", "reason": "the boot loader's"}
    return {**entry, **changed}


def write(path: Path, *entries: dict[str, Any]) -> Path:
    path.write_text(json.dumps({"schema": 1, "waivers": list(entries)}))
    return path


def test_a_waiver_sets_one_finding_apart(elf: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "w.json", waiver(elf))
    result = run("--waivers", file, elf)
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert ": 0x08000002 " in lines[0] and ": reject cps: cpsie i" in lines[0]
    assert lines[1].endswith(": waived cps: cpsid i — the boot loader's")
    assert "rejected (armv7em): 1 finding; 1 waived — " in lines[2]
    both = write(tmp_path / "w.json", waiver(elf), waiver(elf, address=FLASH + 2))
    result = run("--waivers", both, elf)
    assert (result.exit_code, result.stderr) == (0, "")
    (report,) = json.loads(run("--waivers", both, "--json", elf).stdout)["files"]
    assert (report["verdict"], report["findings"]) == ("accept", [])
    assert [(w["address"], w["by"], w["reason"]) for w in report["waived"]] == [
        (FLASH, "waiver", "the boot loader's"), (FLASH + 2, "waiver", "the boot loader's"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [{"image": "0" * 64}, {"rule": "msr"}, {"address": FLASH + 4}, {"address": None}],
    ids=["image", "rule", "address", "file"],
)
def test_what_does_not_match_covers_nothing_and_is_told(
    elf: Path, tmp_path: Path, change: dict[str, Any]
) -> None:
    entry = waiver(elf, **change)
    result = run("--waivers", write(tmp_path / "w.json", entry), elf)
    assert result.exit_code == 1
    assert "waived" not in result.stdout
    assert "fvmkit: waiver covers nothing: " + entry["rule"] in result.stderr
    document = json.loads(run("--waivers", tmp_path / "w.json", "--json", elf).stdout)
    assert len(document["notes"]) == 1


def test_a_reason_cannot_drive_a_terminal(elf: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "w.json", waiver(elf, reason="fine\n\x1b[2J\ud800"))
    assert ": waived cps: cpsid i — fine??[2J?\n" in run("--waivers", file, elf).stdout


def test_a_rebuilt_image_ends_the_waiver(elf: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "w.json", waiver(elf), waiver(elf, address=FLASH + 2))
    other = tmp_path / "other.elf"
    other.write_bytes(elf.read_bytes() + b"\0")
    assert run("--waivers", file, elf).exit_code == 0
    assert run("--waivers", file, other).exit_code == 1


def test_findings_on_the_file_can_be_waived(tmp_path: Path) -> None:
    path = tmp_path / "wx.elf"
    loads = [Load(FLASH, halfwords(0x4770, 0x4770)), Load(FLASH + 2, halfwords(0xBF00))]
    path.write_bytes(write_elf(loads, entry=FLASH + 1))
    file = write(tmp_path / "w.json", waiver(path, rule="elf-overlap", address="0x08000002"))
    assert run(path).exit_code == 1
    assert run("--waivers", file, path).exit_code == 0


def test_findings_that_are_not_listed_cannot_be_waived(tmp_path: Path) -> None:
    path = tmp_path / "flood.bin"
    path.write_bytes(halfwords(*[0xB672] * 3000))
    options = ("--base", "0x08000000", "--entry", "0x08000000", path)
    file = write(tmp_path / "w.json", waiver(path, address=None))
    assert "waived" not in run("--waivers", file, *options).stdout
    baseline = tmp_path / "b.json"
    assert run("--write-baseline", baseline, "--strict", *options).exit_code == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"image": "abc"}, "'image' is not the SHA-256 of a file"),
        ({"reason": " "}, "'reason' is empty"),
        ({"address": "here"}, "'address' is no number"),
        ({"address": True}, "'address' is no number"),
        ({"rule": None}, "'rule' is not of type str"),
    ],
)
def test_bad_waivers(elf: Path, tmp_path: Path, change: dict[str, Any], message: str) -> None:
    file = write(tmp_path / "w.json", waiver(elf, **change))
    with pytest.raises(FvmError, match=message) as caught:
        load_waivers(file)
    assert str(caught.value).startswith(f"{file}: ")
    assert caught.value.exit_code == 1


def test_a_baseline_lets_only_new_findings_count(build: Build, tmp_path: Path) -> None:
    source = ".thumb_func\n_start: cpsid i\n svc 1\n bx lr\n.thumb_func\nother: bx lr\n"
    firmware, baseline = tmp_path / "out" / "firmware.elf", tmp_path / "baseline.json"
    firmware.parent.mkdir()
    firmware.write_bytes(build(source).read_bytes())
    written = run("--write-baseline", baseline, firmware)
    assert written.exit_code == 0
    assert written.stdout.splitlines()[-1].split(" — ")[0].endswith("accepted (armv7em); 2 waived")
    assert list(json.loads(baseline.read_text())["files"]) == ["out/firmware.elf"]
    assert run("--baseline", baseline, firmware).exit_code == 0

    moved = source.replace("_start: ", "_start: nop\n")
    firmware.write_bytes(build(moved).read_bytes())
    assert run("--baseline", baseline, firmware).exit_code == 0

    firmware.write_bytes(build(source.replace("other: ", "other: cpsid i\n")).read_bytes())
    result = run("--baseline", baseline, firmware)
    assert result.exit_code == 1
    assert [line for line in result.stdout.splitlines() if ": reject cps:" in line] == [
        line for line in result.stdout.splitlines() if " other " in line
    ]

    firmware.write_bytes(build(source.replace("svc 1", "nop")).read_bytes())
    result = run("--baseline", baseline, firmware)
    assert result.exit_code == 0
    assert result.stderr == (f"fvmkit: gone from the baseline: {firmware}: svc: svc #1 in _start\n")


def test_a_baseline_of_one_file_covers_no_other(elf: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "firmware.elf").write_bytes(elf.read_bytes())
    baseline = tmp_path / "baseline.json"
    run("--write-baseline", baseline, tmp_path / "one")
    assert run("--baseline", baseline, tmp_path / "one").exit_code == 0
    assert run("--baseline", baseline, tmp_path / "two").exit_code == 1


def test_a_baseline_never_covers_a_file_that_cannot_be_trusted(tmp_path: Path) -> None:
    path, baseline = tmp_path / "cut.hex", tmp_path / "baseline.json"
    path.write_text(":020000040800F2\n")
    assert run("--write-baseline", baseline, path).exit_code == 1
    assert run("--baseline", baseline, path).exit_code == 1


def test_a_finding_that_becomes_graver_is_new(build: Build, tmp_path: Path) -> None:
    path, baseline = tmp_path / "firmware.elf", tmp_path / "baseline.json"
    path.write_bytes(build(".thumb_func\n_start: b .\n.short 0xb672\n").read_bytes())
    assert run("--write-baseline", baseline, path).exit_code == 0
    path.write_bytes(build(".thumb_func\n_start: nop\n.short 0xb672\n b .\n").read_bytes())
    assert run("--baseline", baseline, path).exit_code == 1


def test_files_that_cannot_be_used(elf: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text('{"schema": 1, "files": {"x": {"y": 3}}}')
    assert run("--baseline", tmp_path / "none.json", elf).exception.exit_code == 2
    assert run("--baseline", tmp_path / "bad.json", elf).exception.exit_code == 1
    assert run("--waivers", "/dev/zero", elf).exception.exit_code == 1
    assert run("--write-baseline", tmp_path / "no" / "folder", elf).exception.exit_code == 2
    assert run("--baseline", "a", "--write-baseline", "b", elf).exit_code == 2


def test_a_baseline_accepts_none_of_what_is_not_listed(build: Build, tmp_path: Path) -> None:
    elf = build(".thumb_func\n_start:\n .rept 1500\n cpsid i\n .endr\n bx lr\n")
    baseline = tmp_path / "baseline.json"
    run("--write-baseline", baseline, elf)
    result = run("--baseline", baseline, elf)
    assert result.exit_code == 1
    assert "reject cps: 500 more than are listed" in result.stdout


def test_writing_a_baseline_overwrites_nothing_else(elf: Path, tmp_path: Path) -> None:
    firmware, baseline = tmp_path / "firmware.elf", tmp_path / "baseline.json"
    firmware.write_bytes(elf.read_bytes())
    refused = run("--write-baseline", firmware, firmware)
    assert refused.exit_code == 2
    assert firmware.read_bytes() == elf.read_bytes()
    for _ in range(2):  # a baseline may be written anew
        assert run("--write-baseline", baseline, firmware).exit_code == 0
