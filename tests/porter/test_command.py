"""`fvmkit port` as a user meets it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.porter.example_domains import ROOT, SENSOR, copy_project, write_domain

LEGACY = b"void f(void)\n{\n    __disable_irq();\n    (void)0;\n    __enable_irq();\n}\n"


def fvmkit(*arguments: object) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "composer.cli", "port", *map(str, arguments)],
        cwd=ROOT, capture_output=True, check=False,
    )  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "a legacy project"
    folder.mkdir()
    (folder / "main.c").write_bytes(LEGACY)
    return folder


def test_the_diff_goes_to_standard_output_and_the_report_to_standard_error(project: Path) -> None:
    run = fvmkit(project)
    assert run.returncode == 0
    assert run.stdout.startswith(b"diff --git a/main.c b/main.c\n")
    last = run.stderr.splitlines()[-1]  # behind what is told of work that takes long
    assert last == b"fvmkit port: 2 found, 2 rewritten, 0 left, 0 escalated"
    assert (project / "main.c").read_bytes() == LEGACY


def test_an_escalated_site_is_exit_1_and_the_diff_is_still_written(project: Path) -> None:
    (project / "more.c").write_bytes(b"void h(unsigned x) { __set_MSP(x); }\n")
    run = fvmkit(project, "-o", project.parent / "x.diff")
    assert run.returncode == 1
    assert b"virt_int_mask" in (project.parent / "x.diff").read_bytes()
    assert b"more.c:1:22: escalated __set_MSP [system-call]: " in run.stderr
    assert b"3 found, 2 rewritten, 0 left, 1 escalated" in run.stderr


def test_check_writes_nothing_and_fails_when_something_would_change(project: Path) -> None:
    run = fvmkit(project, "--check")
    assert (run.returncode, run.stdout) == (1, b"")
    assert fvmkit(project, "--in-place").returncode == 0
    assert fvmkit(project, "--check").returncode == 0


def test_in_place_edits_the_files(project: Path) -> None:
    run = fvmkit(project, "--in-place")
    assert (run.returncode, run.stdout) == (0, b"")
    assert b"virt_int_mask(VIRT_PRIMASK);" in (project / "main.c").read_bytes()
    assert (project / "main.c.orig").read_bytes() == LEGACY


def test_json_is_one_document(project: Path) -> None:
    run = fvmkit(project, "--json")
    report = json.loads(run.stdout)
    assert report["schema"] == 1
    assert (report["found"], report["rewritten"]) == (2, 2)
    site = report["sites"][0]
    assert (site["file"], site["line"], site["column"]) == ("main.c", 3, 5)
    assert (site["rule"], site["status"]) == ("mask-intrinsic", "rewritten")


def test_out_writes_a_copy_and_leaves_the_project(project: Path) -> None:
    (project / "Makefile").write_text("all:\n")
    out = project.parent / "ported"
    assert fvmkit(project, "--out", out).returncode == 0
    assert b"virt_int_mask" in (out / "main.c").read_bytes()
    assert (out / "Makefile").read_text() == "all:\n"
    assert (project / "main.c").read_bytes() == LEGACY
    (project / "main.c").write_bytes(LEGACY + b"/* more */\n")
    assert fvmkit(project, "--out", out).returncode == 0
    assert (out / "main.c").read_bytes().endswith(b"/* more */\n")


def test_out_may_lie_in_the_project(project: Path) -> None:
    """Neither it nor an older copy beside it is copied, or ported a second time."""
    (project / "lib").mkdir()
    (project / "lib" / "part.c").write_bytes(LEGACY)
    for out in ("ported", "ported", "lib/again"):
        run = fvmkit(project, "--out", project / out)
        assert (run.returncode, run.stderr) == (
            0, b"fvmkit port: 4 found, 4 rewritten, 0 left, 0 escalated\n",
        )  # fmt: skip
        copied = sorted(path.name for path in (project / out).rglob("*") if path.is_file())
        assert copied == [".fvm-port.json", "main.c", "part.c"]
    assert sorted(path.name for path in project.iterdir()) == ["lib", "main.c", "ported"]
    diff = fvmkit(project)
    last = diff.stderr.splitlines()[-1]
    assert last == b"fvmkit port: 4 found, 4 rewritten, 0 left, 0 escalated"


def test_out_refuses_what_it_did_not_make(project: Path) -> None:
    out = project.parent / "ported"
    out.mkdir()
    (out / "mine.txt").write_text("precious")
    run = fvmkit(project, "--out", out)
    assert run.returncode == 1
    assert b"was not made by this command" in run.stderr
    assert [path.name for path in out.iterdir()] == ["mine.txt"]


def test_out_refuses_to_overwrite_an_edited_file(project: Path) -> None:
    out = project.parent / "ported"
    assert fvmkit(project, "--out", out).returncode == 0
    (out / "main.c").write_text("by hand")
    run = fvmkit(project, "--out", out)
    assert run.returncode == 1
    assert b"was edited since it was ported" in run.stderr
    assert (out / "main.c").read_text() == "by hand"
    assert fvmkit(project, "--out", out, "--force").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["/nowhere/at all"], 2, b"/nowhere/at all: no such project folder"),
        (["{p}", "--domain", "/nowhere.json"], 2, b"/nowhere.json: can't be opened"),
        (["{p}", "--domain", "{p}/main.c"], 1, b"is no JSON"),
        (["{p}", "--in-place", "--check"], 2, b"exclude each other"),
        ([], 2, b"Missing argument"),
    ],
)
def test_bad_input_is_one_clear_line(
    project: Path, arguments: list[str], status: int, message: bytes
) -> None:
    run = fvmkit(*(word.replace("{p}", str(project)) for word in arguments))
    assert run.returncode == status
    assert message in run.stderr
    assert b"Traceback" not in run.stderr
    assert run.stdout == b""


def test_without_a_domain_what_needs_a_virt_id_is_escalated(tmp_path: Path) -> None:
    project = copy_project(SENSOR, tmp_path)
    run = fvmkit(project, "-v")
    assert run.returncode == 1
    assert b"needs a virt_id: give the domain file" in run.stderr
    assert b"left USART2_IRQHandler [vectors]: a virtual vector of the machine" in run.stderr
    domain = write_domain(tmp_path, SENSOR)
    assert fvmkit(project, "--domain", domain).returncode == 0


def test_a_linked_source_is_edited_in_the_copy_only(project: Path) -> None:
    elsewhere = project.parent / "shared.c"
    elsewhere.write_bytes(LEGACY)
    (project / "linked.c").symlink_to(elsewhere)
    assert fvmkit(project, "--out", project.parent / "ported").returncode == 0
    assert elsewhere.read_bytes() == LEGACY
    assert b"virt_int_mask" in (project.parent / "ported" / "linked.c").read_bytes()


def test_a_linked_folder_is_ported_into_the_copy_only(project: Path) -> None:
    sdk = project.parent / "sdk"
    sdk.mkdir()
    (sdk / "extra.c").write_bytes(LEGACY)
    (sdk / "back").symlink_to(sdk)  # in a circle
    (sdk / "home").symlink_to(project)
    (project / "lib").symlink_to("../sdk")
    (project / "again").symlink_to(project / "main.c")
    (project / "loop").symlink_to("loop")
    (project / "up").symlink_to("..")
    out = project.parent / "deeper" / "ported"
    run = fvmkit(project, "--out", out)
    assert (run.returncode, run.stderr) == (
        0, b"fvmkit port: 4 found, 4 rewritten, 0 left, 0 escalated\n",
    )  # fmt: skip
    assert b"virt_int_mask" in (out / "lib" / "extra.c").read_bytes()
    assert not (out / "lib").is_symlink()
    assert (out / "again").resolve() == out / "main.c"
    assert (out / "lib" / "home").resolve() == out
    assert (sdk / "extra.c").read_bytes() == LEGACY
    refused = fvmkit(project, "--in-place")
    assert refused.returncode == 1
    assert b"leads out of the project" in refused.stderr
    assert (project / "main.c").read_bytes() == LEGACY
