"""`fvmkit scan`: exit status, streams, formats, policy files."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from scanner.cli import scan
from scanner.policy import load_policy
from scanner.report.errors import FvmError, MissingError
from tests.scanner.conftest import Build

DOMAIN: dict[str, Any] = {
    "schema": 1,
    "system": "two",
    "name": "motor",
    "kind": "vm",
    "arch": "armv7em",
    "fpu": False,
    "wfi": False,
    "svc": [245],
    "grants": [
        {"name": "flash", "kind": "code", "base": 0x08000000, "size": 65536, "access": "rx"},
        {"name": "USART1", "kind": "device", "base": 0x40011000, "size": 1024, "access": "rw"},
    ],
}


def _grant(**other: object) -> dict[str, object]:
    return {"name": "x", "kind": "code", "base": 16, "size": 32, **other}


def run(*arguments: str | Path, **environment: str) -> Result:
    return CliRunner(env=environment).invoke(scan, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def clean(build: Build) -> Path:
    return build(".thumb_func\n_start: svc 245\n bx lr\n")


@pytest.fixture(scope="module")
def legacy(build: Build) -> Path:
    return build(".thumb_func\n_start: cpsid i\n svc 0\n bx lr\n")


def test_a_line_says_all(legacy: Path) -> None:
    result = run(legacy)
    assert result.exit_code == 1
    reject, warn, summary = result.stdout.splitlines()
    place = f"{legacy}: 0x08000000 _start {legacy.stem}.s:6: reject cps: cpsid i — "
    assert reject.startswith(place)
    assert "; use virt_int_mask and virt_int_unmask" in reject
    assert ": warn svc: svc #0 — " in warn
    assert summary == (
        f"{legacy}: rejected (armv7em): 1 finding and 1 warning — from 1 entry and 1 function "
        "6 of 6 bytes reached; executable segments alone, without a policy"
    )
    assert result.stderr == ""


def test_exit_status(clean: Path, legacy: Path, build: Build, tmp_path: Path) -> None:
    warned = build(".thumb_func\n_start: wfi\n bx lr\n")
    (tmp_path / "text.elf").write_text("not a program")
    assert run(clean).exit_code == 0
    assert run(warned).exit_code == 0
    assert run(legacy, clean).exit_code == 1
    assert run(tmp_path / "text.elf").exit_code == 1
    assert run(tmp_path / "none.elf").exit_code == 2
    assert run(clean, "--no-such-option").exit_code == 2
    assert run().exit_code == 2


def test_a_missing_file_does_not_hide_the_others(legacy: Path, tmp_path: Path) -> None:
    result = run(tmp_path / "none.elf", legacy)
    assert result.exit_code == 2
    assert "none.elf: can't open" in result.stderr
    assert "reject cps" in result.stdout


def test_a_full_disk_is_no_internal_error(legacy: Path) -> None:
    command = [sys.executable, "-m", "composer.cli", "scan", str(legacy)]
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (ended.returncode, ended.stderr) == (
        2, "fvmkit: can't write the output: No space left on device\n",
    )  # fmt: skip


def test_strict(build: Build) -> None:
    elf = build(".thumb_func\n_start: ldr r0, =0x1234b672\n bx lr\n")
    assert run(elf).exit_code == 0
    assert ": warn cps (possible): " in run(elf).stdout
    assert "no known path leads here" in run(elf).stdout
    assert run("--strict", elf).exit_code == 1
    assert ": reject cps (possible): " in run("--strict", elf).stdout


@pytest.mark.parametrize("option", [("--json",), ("--format", "json")])
def test_json(clean: Path, legacy: Path, option: tuple[str, ...]) -> None:
    result = run(*option, legacy, clean)
    document = json.loads(result.stdout)
    assert document["schema"] == 1
    rejected, accepted = document["files"]
    evidence, (compiler,) = accepted.pop("evidence"), accepted.pop("toolchain", ("GCC",))
    assert accepted == {
        "file": str(clean), "arch": "armv7em", "verdict": "accept", "findings": [],
        "sha256": hashlib.sha256(clean.read_bytes()).hexdigest(),
    }  # fmt: skip
    assert compiler.startswith("GCC")
    assert document["totals"] == {
        "files": 2, "accept": 1, "warn": 0, "reject": 1, "rules": {"cps": 1, "svc": 1},
    }  # fmt: skip
    assert (evidence["entries"], evidence["by_policy"]) == (1, False)
    assert rejected["verdict"] == "reject"
    finding = rejected["findings"][0]
    assert list(finding) == [
        "rule", "address", "offset", "function", "source", "severity", "certainty", "text", "fix",
    ]  # fmt: skip
    assert finding["address"] == 0x08000000
    assert legacy.read_bytes()[finding["offset"] :][:2] == b"\x72\xb6"
    assert (finding["severity"], finding["certainty"]) == ("silent", "certain")


def test_json_of_a_file_that_cannot_be_trusted(tmp_path: Path) -> None:
    (tmp_path / "cut.elf").write_bytes(b"\x7fELF\1\1\1")
    (file,) = json.loads(run("--json", tmp_path / "cut.elf").stdout)["files"]
    assert (file["arch"], file["verdict"]) == ("unknown", "reject")
    assert file["findings"][0]["address"] is None


def test_policy_file(build: Build, tmp_path: Path) -> None:
    elf = build(
        ".thumb_func\n_start: vadd.f32 s0, s0, s1\n ldr r0, =0x40004400\n ldr r1, [r0]\n bx lr\n",
        "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16",
    )  # fmt: skip
    policy = tmp_path / "motor.domain.json"
    policy.write_text(json.dumps(DOMAIN))
    (accepted,) = run(elf).stdout.splitlines()
    assert accepted.startswith(f"{elf}: accepted (armv7em) — ")
    text = run("--policy", policy, elf).stdout
    assert "warn coproc: vadd.f32 s0, s0, s1 — the domain has no FPU" in text
    assert "warn mmio: read of 0x40004400, not granted to motor" in text
    policy.write_text(json.dumps({**DOMAIN, "fpu": True}))
    assert "coproc" not in run("--policy", policy, elf).stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ("[]", "'schema' is missing"),
        ('{"schema": 2}', "'schema' is not 1"),
        (json.dumps({**DOMAIN, "fpu": "yes"}), "'fpu' is not of type bool"),
        (json.dumps({**DOMAIN, "svc": ["245"]}), "'svc' is not a list of numbers"),
        (json.dumps({**DOMAIN, "svc": [-1]}), "'svc' is not a list of numbers from 0 to 255"),
        (json.dumps({**DOMAIN, "grants": [{"name": "x"}]}), "'kind' is missing"),
        (json.dumps({**DOMAIN, "grants": [_grant(kind="Code")]}), "'x' is none of code, ram"),
        (json.dumps({**DOMAIN, "grants": [_grant(base=-4)]}), "'x' is not a range of 32-bit"),
        (json.dumps({**DOMAIN, "grants": [_grant(size=1 << 32)]}), "'x' is not a range of 32-bit"),
        ("[" * 100000, "nested too deeply"),
    ],
)
def test_bad_policy(tmp_path: Path, text: str, message: str) -> None:
    policy = tmp_path / "bad.domain.json"
    policy.write_text(text)
    with pytest.raises(FvmError, match=message) as caught:
        load_policy(policy)
    assert caught.value.exit_code == 1
    assert str(caught.value).startswith(f"{policy}:")


@pytest.mark.parametrize("form", ["text", "json", "sarif", "html", "github"])
def test_names_in_a_policy_cannot_drive_a_terminal(build: Build, tmp_path: Path, form: str) -> None:
    elf = build(".thumb_func\n_start: ldr r0, =0x40004400\n ldr r1, [r0]\n bx lr\n")
    policy = tmp_path / "odd.domain.json"
    for field in ("name", "arch"):
        policy.write_text(json.dumps({**DOMAIN, field: "m\x1b[2J\ud800"}))
        result = run("--policy", policy, "--format", form, elf)
        assert result.exit_code == (field == "arch"), result.output
        assert "\x1b" not in result.output


def test_missing_policy(tmp_path: Path) -> None:
    with pytest.raises(MissingError):
        load_policy(tmp_path / "none.json")


def test_no_colour_without_a_terminal(legacy: Path) -> None:
    assert "\x1b" not in run(legacy).stdout
    assert "\x1b" not in run(legacy, NO_COLOR="1").stdout


def test_arch_option(build: Build) -> None:
    elf = build(".thumb_func\n_start: bx lr\n", cpu="cortex-m0")
    assert run(elf).stdout.startswith(f"{elf}: accepted (armv6m) — ")
    assert run("--arch", "armv7m", elf).stdout.startswith(f"{elf}: accepted (armv7m) — ")


def test_a_guessed_core_is_told_and_can_be_refused(build: Build, tmp_path: Path) -> None:
    elf = build(".thumb_func\n_start: bx lr\n", cpu="cortex-m4")
    raw = tmp_path / "code.bin"
    raw.write_bytes(b"\x70\x47\x70\x47")
    here = ("--base", "0x08000000", "--entry", "0x08000000")
    others = "judged for armv6m, armv7m, armv8m.main too"
    assert f"{raw}: accepted (armv7em, guessed, {others}) — " in run(*here, raw).stdout
    assert f"{raw}: accepted (armv6m) — " in run(*here, "--arch", "armv6m", raw).stdout
    both = run(*here, "--no-guess", elf, raw)
    assert both.exit_code == 1
    assert f"{elf}: accepted (armv7em) — " in both.stdout
    assert f"{raw}: reject unknown-core: nothing says which core it is for" in both.stdout
    assert run(*here, "--no-guess", "--chip", "stm32f405", raw).exit_code == 0
    files = json.loads(run(*here, "--json", elf, raw).stdout)["files"]
    assert [one.get("guessed") for one in files] == [None, True]


def test_chip_option(build: Build) -> None:
    elf = build(".thumb_func\n_start: bx lr\n", cpu="cortex-m4")
    assert f"{elf}: accepted (armv7em) — " in run("--chip", "STM32F405RG", elf).stdout
    assert "built for armv7em; the chip is armv7m" in run("--chip", "mps2-an385", elf).stdout
    assert run("--chip", "mps2-an385", elf).exit_code == 1
    assert run("--chip", "acme1", elf).exit_code == 2


def test_a_core_without_unprivileged_mode_is_no_host(build: Build) -> None:
    elf = build(".thumb_func\n_start: bx lr\n", cpu="cortex-m0")
    refused = run("--chip", "stm32f030", elf)
    assert refused.exit_code == 1
    assert "no unprivileged mode" in refused.stdout
    assert run("--chip", "stm32g071", elf).exit_code == 0


def test_addresses_of_a_raw_binary(tmp_path: Path) -> None:
    path = tmp_path / "firmware.bin"
    path.write_bytes(b"\xff\xff\xff\xff\x72\xb6\x70\x47")
    assert run(path).exit_code == 1
    assert ": reject unknown-format: " in run(path).stdout
    assert ": 0x08000004: warn cps (possible): " in run("--base", "0x08000000", path).stdout
    result = run("--base", "0x08000000", "--entry", "0x08000004", path)
    assert (result.exit_code, ": 0x08000004: reject cps: " in result.stdout) == (1, True)
    both = run("--base", "0x08000000", "--entry", "0x08000000", "--entry", "0x08000004", path)
    assert ": 0x08000004: reject cps: " in both.stdout
    assert run("--base", "0x08000000", "--entry", "0x08000008", path).exit_code == 1
    assert run("--entry", "flash", path).exit_code == 2
    for wrong in ("flash", "-1", "0x100000000"):
        assert run("--base", wrong, path).exit_code == 2


@pytest.fixture
def folder(clean: Path, legacy: Path, tmp_path: Path) -> Path:
    """A build folder: programs at two depths among other files, a link, a hidden folder."""
    inner = tmp_path / "out" / "deep"
    inner.mkdir(parents=True)
    (inner / "legacy.elf").write_bytes(legacy.read_bytes())
    (tmp_path / "out" / "clean").write_bytes(clean.read_bytes())
    (tmp_path / "out" / "notes.txt").write_text("not a program")
    (tmp_path / "out" / "part.o").write_bytes(clean.read_bytes()[:16] + b"\1\0" + bytes(40))
    (tmp_path / "out" / "flash.bin").write_bytes(b"\x72\xb6")
    (tmp_path / "out" / "again").symlink_to(inner)
    (tmp_path / "out" / ".git").mkdir()
    return tmp_path / "out"


def test_a_folder(folder: Path) -> None:
    result = run("--json", folder)
    files = {Path(file["file"]).name: file for file in json.loads(result.stdout)["files"]}
    assert {name: file["verdict"] for name, file in files.items()} == {
        "clean": "accept", "legacy.elf": "reject",
    }  # fmt: skip
    assert result.exit_code == 1
    assert sorted(result.stderr.splitlines()) == [
        f"fvmkit: not scanned, a hidden folder: {folder / '.git'}",
        f"fvmkit: not scanned, a link to a folder: {folder / 'again'}",
        f"fvmkit: not scanned, an object file that is not linked yet: {folder / 'part.o'}",
        f"fvmkit: not scanned, no program: {folder / 'flash.bin'}, {folder / 'notes.txt'}",
    ]
    raw = run("--base", "0x08000000", "--json", folder)
    assert [Path(file["file"]).name for file in json.loads(raw.stdout)["files"]] == [
        "clean", "flash.bin", "legacy.elf",
    ]  # fmt: skip


def test_a_folder_without_programs_is_no_success(tmp_path: Path, clean: Path) -> None:
    (tmp_path / "notes.txt").write_text("not a program")
    result = run(tmp_path, clean)
    assert result.exit_code == 2
    assert "no program in this folder" in result.stderr
    assert "accepted" in result.stdout


@pytest.mark.parametrize("form", ["text", "json", "sarif", "html", "github"])
def test_names_that_are_no_text(legacy: Path, tmp_path: Path, form: str) -> None:
    """A name may be any bytes; none of them ends the scan or reaches the terminal."""
    name = os.fsdecode(b"\xff\x1b[2J\n.elf")
    (tmp_path / name).write_bytes(legacy.read_bytes())
    (tmp_path / os.fsdecode(b"\xfe.txt")).write_text("not a program")
    result = run("--format", form, "--write-baseline", tmp_path / "b.json", tmp_path)
    assert (result.exit_code, result.exception) == (0, None)
    assert "\x1b" not in result.stdout + result.stderr
    result = run("--format", form, tmp_path / "none", tmp_path)
    assert result.exit_code == 2
    if form == "json":
        (report,) = json.loads(result.stdout)["files"]
        assert report["file"] == str(tmp_path / name)
