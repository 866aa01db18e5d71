"""`fvmkit scan` as a gate in CI: several outputs of one run, totals, filters, settings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from scanner.cli import scan
from scanner.scan import scan_file
from tests.scanner.conftest import Build

MASKS = ".thumb_func\n_start: cpsid i\n bx lr\n"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(scan, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def good(build: Build) -> Path:
    return build(".thumb_func\n_start: bx lr\n")


@pytest.fixture(scope="module")
def bad(build: Build) -> Path:
    return build(MASKS)


@pytest.fixture(scope="module")
def warned(build: Build) -> Path:
    return build(".thumb_func\n_start: wfi\n bx lr\n")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_one_run_writes_every_form(good: Path, bad: Path, tmp_path: Path) -> None:
    files = {form: tmp_path / form for form in ("sarif", "html", "comment")}
    options = [part for form, file in files.items() for part in (f"--{form}", file)]
    result = run(*options, "--github", "-o", tmp_path / "text", good, bad)
    assert result.exit_code == 1
    assert result.stdout.startswith("::error file=")
    assert "reject cps" in (tmp_path / "text").read_text()
    log = json.loads(files["sarif"].read_text())
    assert [one["ruleId"] for one in log["runs"][0]["results"]] == ["cps"]
    assert "<html" in files["html"].read_text()
    assert "**reject** | cps |" in files["comment"].read_text()


def test_several_programs_come_to_a_total(good: Path, bad: Path, warned: Path) -> None:
    last = run(good, bad, warned).stdout.splitlines()[-1]
    assert last == (
        "3 programs: 1 accepted, 1 accepted with warnings, 1 rejected; findings: 1 cps, 1 wfx"
    )


def test_many_findings_of_a_kind_are_grouped(build: Build) -> None:
    elf = build(".thumb_func\n_start:\n .rept 700\n cpsid i\n .endr\n bx lr\n")
    lines = run(elf).stdout.splitlines()
    assert len(lines) == 12
    assert lines[-2] == f"{elf}: reject cps: 690 more, in _start (690); --all lists them"
    assert len(run("--all", elf).stdout.splitlines()) == 701


@pytest.mark.parametrize(
    ("level", "statuses"),
    [("reject", (0, 0, 1)), ("warn", (0, 1, 1)), ("never", (0, 0, 0))],
)
def test_what_fails(
    good: Path, warned: Path, bad: Path, level: str, statuses: tuple[int, ...]
) -> None:
    ended = [run("--fail-on", level, file) for file in (good, warned, bad)]
    assert tuple(one.exit_code for one in ended) == statuses
    assert ("no failure by --fail-on never" in ended[-1].stderr) == (level == "never")


def test_quiet_prints_what_fails(good: Path, warned: Path, bad: Path) -> None:
    assert run("-q", good, warned).output == ""
    lines = run("-q", good, warned, bad).output.splitlines()
    assert [str(bad) in line for line in lines] == [True, True, False]
    assert len(run("-q", "--fail-on", "warn", good, warned).output.splitlines()) == 3


def test_rules_and_paths_are_left_out_and_counted(bad: Path, warned: Path) -> None:
    result = run("--ignore-rule", "cps", bad)
    assert result.exit_code == 0
    assert "; 1 left out by filters — " in result.stdout
    (file,) = json.loads(run("--json", "--ignore-path", f"{bad.stem}.*", bad).stdout)["files"]
    assert [one["by"] for one in file["waived"]] == ["filter"]
    assert run("--path", "drivers", bad).exit_code == 0
    assert run("--path", "*.s", bad).exit_code == 1
    assert run("--rule", "wfx", bad).exit_code == 0
    assert "leaves nothing out: --ignore-rule cps" in run("--ignore-rule", "cps", warned).stderr
    assert run("--rule", "cpsid", bad).exit_code == 2


def test_wanted_rules_accept_no_file_that_can_not_be_trusted(tmp_path: Path) -> None:
    (tmp_path / "cut.elf").write_bytes(b"\x7fELF\1\1\1")
    assert run("--rule", "wfx", "--path", "src", tmp_path / "cut.elf").exit_code == 1


@pytest.mark.parametrize(
    "options",
    [
        ("--json", "--format", "sarif"),
        ("--quiet", "--json"),
        ("--all", "--quiet"),
        ("--github", "--json"),
        ("--github", "--format", "github"),
        ("--sarif", "x", "--html", "./x"),
        ("--rule", "cps", "--ignore-rule", "cps"),
        ("--baseline", "x", "--write-baseline", "y"),
    ],
)
def test_contradictory_options_are_an_error(
    good: Path, project: Path, options: tuple[str, ...]
) -> None:
    assert run(*options, good).exit_code == 2
    assert not list(project.glob("x"))


def test_no_report_replaces_a_program(good: Path, bad: Path) -> None:
    before = bad.read_bytes()
    assert run("-o", good, good).exit_code == 2
    assert run("--html", bad, good).exit_code == 2
    assert bad.read_bytes() == before


def test_a_report_that_can_not_be_written(good: Path, tmp_path: Path) -> None:
    result = run("--sarif", tmp_path / "none" / "x", good)
    assert result.exception is not None
    assert "none/x: can't write" in str(result.exception)


def test_settings_of_a_project(project: Path, bad: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.fvmkit.scan]\nignore-rule = ["cps"]\n')
    (project / "sub").mkdir()
    result = run(bad)
    assert result.exit_code == 0
    assert "settings from " in result.stderr
    assert run("--no-config", bad).exit_code == 1
    assert run("--ignore-rule", "wfx", bad).exit_code == 1, "the command line wins"
    assert run("--no-config", "--config", "pyproject.toml", bad).exit_code == 2
    (project / ".fvmkit.toml").write_text("[scan]\n")
    assert run(bad).exit_code == 2, "two files of settings"


def test_settings_name_files_from_their_folder(
    project: Path, bad: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / ".fvmkit.toml").write_text(
        f'[scan]\nfiles = ["{bad}"]\nsarif = "scan.sarif"\nfail-on = "never"\nbase = 0x08000000\n'
    )
    (project / "sub").mkdir()
    monkeypatch.chdir(project / "sub")
    assert run().exit_code == 0
    assert (project / "scan.sarif").exists()
    baseline = project / "new.json"
    (project / ".fvmkit.toml").write_text('[scan]\nbaseline = "old.json"\n')
    assert run("--write-baseline", baseline, bad).exit_code == 0
    assert baseline.exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[scan]\nfail_on = 'warn'\n", "unknown key 'fail_on'; do you mean 'fail-on'?"),
        ("strict = true\n", "unknown key 'strict'; options of scan stand in 'scan'"),
        ("[scan]\nstrict = 'yes'\n", "'strict' is true or false"),
        ("[scan]\nrule = 'cps'\n", "'rule' is a list"),
        ("[scan]\nsarif = true\n", "'sarif' holds what is no text"),
        ("[scan]\nfail-on = 'all'\n", "'all' is not one of"),
        ("[scan\n", "not TOML"),
    ],
)
def test_wrong_settings_are_errors(project: Path, good: Path, text: str, message: str) -> None:
    (project / ".fvmkit.toml").write_text(text)
    result = run(good)
    assert result.exit_code == 2
    assert message in result.stderr


def test_the_comment_tells_new_from_known(bad: Path, build: Build, tmp_path: Path) -> None:
    baseline, comment = tmp_path / "baseline.json", tmp_path / "comment.md"
    run("--write-baseline", baseline, bad)
    run("--baseline", baseline, "--comment", comment, bad)
    assert "Nothing new." in comment.read_text()
    assert "| accepted | 0 | 1 | 0 |" in comment.read_text()
    other = build(".thumb_func\n_start: cpsid f\n bx lr\n")
    run("--baseline", baseline, "--comment", comment, bad, other)
    text = comment.read_text()
    assert f"{other.stem}.s:6 in \\_start | cpsid f" in text
    assert "cpsid i" not in text


def test_a_policy_that_is_strict(build: Build, tmp_path: Path) -> None:
    elf = build(".thumb_func\n_start: ldr r0, =0x1234b672\n bx lr\n")
    domain = {
        "schema": 1, "name": "x", "arch": "armv7em", "fpu": False, "wfi": False, "svc": [],
        "grants": [{"name": "f", "kind": "code", "base": 0x08000000, "size": 4096}],
    }  # fmt: skip
    policy = tmp_path / "x.domain.json"
    for strict, verdict in ((False, "warn"), (True, "reject")):
        policy.write_text(json.dumps({**domain, "strict": strict}))
        assert scan_file(elf, policy).verdict == verdict
        assert run("--policy", policy, elf).exit_code == int(strict)


def test_the_toolchain_is_told(build: Build) -> None:
    elf = build("void _start(void) { }", c=True)
    (file,) = json.loads(run("--json", elf).stdout)["files"]
    assert file["toolchain"][0].startswith("GCC: (")
