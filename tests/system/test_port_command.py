"""`fvmkit port` on the example's projects, as a user runs it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.example import CONSOLES, MOTOR, SENSOR
from tests.system.road import Road, digests, fvmkit

# A port of the one with the kernel takes a third of a minute.
ONE_NOW = [SENSOR, pytest.param(MOTOR, marks=pytest.mark.campaign)]
RECORD = ".fvm-port.json"  # what port remembers of a copy that it wrote
PORT_LAYER = "FreeRTOS-Kernel/portable/GCC/ARM_CM4F/"


def without_record(folder: Path) -> dict[str, str]:
    """Content of a ported copy."""
    return {name: digest for name, digest in digests(folder).items() if name != RECORD}


def changed_files(road: Road, name: str) -> set[str]:
    """Files that differ between a project and its ported copy."""
    before, after = digests(road.checkout / name), without_record(road.ported(name))
    assert before.keys() == after.keys()
    return {file for file in before if before[file] != after[file]}


@pytest.mark.parametrize("name", CONSOLES)
def test_every_site_is_accounted_for_and_none_escalated(road: Road, name: str) -> None:
    summary = re.search(
        r"(\d+) found, (\d+) rewritten, (\d+) left, 0 escalated", road.said[f"port {name}"].err
    )
    assert summary, road.said[f"port {name}"].err
    found, rewritten, left = map(int, summary.groups())
    assert found == rewritten + left
    assert rewritten > 0
    document = json.loads(road.said[f"report {name}"].out)
    assert len(document["sites"]) == document["found"] == found
    assert all(site["reason"] for site in document["sites"] if site["status"] == "left")


@pytest.mark.parametrize("name", ONE_NOW)
def test_a_second_time_nothing_is_left_to_do(road: Road, name: str) -> None:
    ported, policy = road.ported(name), road.policy(name)
    before = digests(ported)
    diff = fvmkit("port", ported, "--domain", policy, cwd=road.room)
    assert (diff.status, diff.out) == (0, "")
    assert fvmkit("port", ported, "--domain", policy, "--check", cwd=road.room).status == 0
    assert digests(ported) == before


@pytest.mark.parametrize("name", ONE_NOW)
def test_git_applies_the_diff_to_the_same_tree(road: Road, name: str, tmp_path: Path) -> None:
    project = tmp_path / "a project"
    shutil.copytree(road.checkout / name, project)
    words = ("port", "a project", "--domain", road.policy(name))
    said = fvmkit(*words, cwd=tmp_path)
    assert said.status == 0
    diff = tmp_path / "port.diff"
    diff.write_text(said.out)
    git = ["git", "-c", "core.autocrlf=false", "-C", str(project)]
    subprocess.run([*git, "init", "--quiet"], check=True)
    applied = subprocess.run(
        [*git, "apply", str(diff)], capture_output=True, text=True, check=False
    )
    assert (applied.returncode, applied.stderr) == (0, "")
    shutil.rmtree(project / ".git")
    assert digests(project) == without_record(road.ported(name))
    named = set(re.findall(r"^\+\+\+ b/(.*)$", said.out, re.MULTILINE))
    assert named == changed_files(road, name)


@pytest.mark.parametrize("name", ONE_NOW)
def test_in_place_gives_the_same_tree(road: Road, name: str, tmp_path: Path) -> None:
    project = tmp_path / "a project"
    shutil.copytree(road.checkout / name, project)
    git = ["git", "-C", str(project), "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (("init", "--quiet"), ("add", "-A"), ("commit", "--quiet", "-m", "as it was")):
        subprocess.run([*git, *words], check=True)
    words_of_port = ("port", project, "--domain", road.policy(name), "--in-place")
    assert fvmkit(*words_of_port, cwd=tmp_path).status == 0
    shutil.rmtree(project / ".git")
    assert without_record(project) == without_record(road.ported(name))


def test_freertos_outside_its_port_layer_stays_as_it_is(road: Road) -> None:
    changed = {file for file in changed_files(road, MOTOR) if file.startswith("FreeRTOS-Kernel/")}
    assert changed == {PORT_LAYER + "port.c", PORT_LAYER + "portmacro.h"}
