"""The definitions for pre-commit and GitHub: well-formed, and their commands do what they say."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from scanner.cli import scan
from tests.scanner.conftest import Build

ROOT = Path(__file__).resolve().parents[2]
INPUT = re.compile(r"\$\{\{ inputs\.([\w-]+) \}\}")


def shell(script: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """What a runner does with a step whose shell is bash."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    return subprocess.run(
        command, cwd=folder, env={**os.environ, "PATH": path, **variables},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def action() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
    return loaded


@pytest.fixture(scope="module")
def hook() -> dict[str, Any]:
    (loaded,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    found: dict[str, Any] = loaded
    return found


def test_the_hook_has_what_pre_commit_asks_for(hook: dict[str, Any]) -> None:
    assert {"id", "name", "entry", "language", "files"} <= set(hook)
    assert hook["language"] == "python"
    files = re.compile(hook["files"])
    for name in ("a/firmware.elf", "F.HEX", "x.s19", "x.uf2", "x.axf"):
        assert files.search(name)
    for name in ("a/elf.c", "firmware.elf.txt", "x.bin", "hex"):
        assert not files.search(name)


def test_the_command_of_the_hook(hook: dict[str, Any], build: Build, tmp_path: Path) -> None:
    good = build(".thumb_func\n_start: bx lr\n")
    bad = build(".thumb_func\n_start: cpsid i\n bx lr\n")
    assert shell(f"{hook['entry']} {shlex.quote(str(good))}", tmp_path).returncode == 0
    result = shell(f"{hook['entry']} {shlex.quote(str(good))} {shlex.quote(str(bad))}", tmp_path)
    assert result.returncode == 1
    assert "reject cps" in result.stdout


def test_the_action_is_well_formed(action: dict[str, Any]) -> None:
    assert {"name", "description", "inputs", "runs"} <= set(action)
    assert action["runs"]["using"] == "composite"
    for step in action["runs"]["steps"]:
        assert ("uses" in step) != ("run" in step)
        if "run" in step:
            assert step["shell"] == "bash"
            assert "${{" not in step["run"], "an input in a script could be a command"
    named = set(INPUT.findall((ROOT / "action.yml").read_text()))
    assert named | {"upload"} == set(action["inputs"])
    assert all("required" in one or "default" in one for one in action["inputs"].values())


def scan_step(action: dict[str, Any], folder: Path, **inputs: str) -> tuple[str, dict[str, Any]]:
    """Run the step called Scan with these inputs: the status it sets, and the log."""
    (step,) = [step for step in action["runs"]["steps"] if step.get("id") == "scan"]
    values = {name: one.get("default", "") for name, one in action["inputs"].items()} | inputs
    variables = {
        variable: INPUT.sub(lambda match: values[match[1]], text)
        for variable, text in step["env"].items()
    }
    output = folder / "output"
    result = shell(step["run"], folder, GITHUB_OUTPUT=str(output), **variables)
    assert result.returncode == 0, result.stderr
    log: dict[str, Any] = json.loads((folder / values["sarif"]).read_text() or "{}")
    return output.read_text().splitlines()[-1], log


def test_the_scan_of_the_action(action: dict[str, Any], build: Build, tmp_path: Path) -> None:
    good = build(".thumb_func\n_start: bx lr\n")
    bad = build(".thumb_func\n_start: cpsid i\n bx lr\n")
    status, log = scan_step(action, tmp_path, files=f"{good}\n\n{bad}\n")
    assert status == "status=1"
    (step,) = [step for step in action["runs"]["steps"] if step.get("id") == "scan"]
    assert step["run"].count("fvmkit scan") == 1, "each program is scanned once"
    assert "**rejected**" in (tmp_path / "fvmkit-scan.md").read_text()
    assert [result["ruleId"] for result in log["runs"][0]["results"]] == ["cps"]
    status, log = scan_step(action, tmp_path, files=str(good), strict="true", chip="stm32f405")
    assert status == "status=0"
    assert log["runs"][0]["results"] == []
    (tmp_path / "code.bin").write_bytes(b"\x72\xb6\x70\x47")
    addresses = {"base": "0x08000000", "entry": "0x08000000"}
    assert scan_step(action, tmp_path, files="code.bin", **addresses)[0] == "status=1"
    (tmp_path / "code.bin").write_bytes(b"\x70\x47\x70\x47\x72\xb6\x70\x47")
    for entry, status in (("0x08000000", 0), ("0x08000000\n0x08000004", 1), ("* 8", 2)):
        addresses = {"base": "0x08000000", "entry": entry}
        assert scan_step(action, tmp_path, files="code.bin", **addresses)[0] == f"status={status}"
    assert scan_step(action, tmp_path, files="$(touch broken)")[0] == "status=2"
    names = "none_such\n  0x08000000-0x08000004\n"
    status, log = scan_step(action, tmp_path, files=str(bad), privileged=names)
    assert (status, log["runs"][0]["results"][0]["ruleId"]) == ("status=1", "no-guest")
    status, log = scan_step(action, tmp_path, files=str(bad), why="true")
    assert "codeFlows" in log["runs"][0]["results"][0]
    (tmp_path / "policy.json").write_text("{")
    for wrong in ({"policy": "policy.json"}, {"waivers": "policy.json"}):
        assert scan_step(action, tmp_path, files="code.bin", base="0", **wrong)[0] == "status=2"
    assert scan_step(action, tmp_path, files=f"  {good}  ")[0] == "status=0"
    assert not (tmp_path / "broken").exists()


def test_every_option_of_the_action_is_one_of_scan(action: dict[str, Any]) -> None:
    options = {option for one in scan.params for option in one.opts}
    own = {"files", "upload"}
    assert {f"--{name}" for name in set(action["inputs"]) - own} <= options
