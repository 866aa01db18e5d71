"""`fvmkit report` on a small system: what it shows of it, and what it refuses."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

from tests.composer import systems
from tests.support.built import build, change

pytestmark = pytest.mark.campaign


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Linked, in `out`, in a path with a space; read-only."""
    folder = tmp_path_factory.mktemp("a report")
    build(systems.write(folder / "my system"), folder / "out")
    return folder


@pytest.fixture
def copy(made: Path, tmp_path: Path) -> Path:
    """Its own copy; descriptions name the projects by absolute paths, which stay."""
    return shutil.copytree(made, tmp_path / "copy of it")


def report(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """Runs the command as a user does."""
    command = [sys.executable, "-m", "composer.cli", "report", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def page_of(made: Path, file: Path, *words: str | Path) -> str:
    result = report(made / "out", "-o", file, *words)
    assert result.returncode == 0, result.stderr
    return file.read_text("utf-8")


def section(page: str, name: str) -> str:
    """The text of a section, its tags gone."""
    html = page.partition(f'<section id="{name}"')[2].partition("</section>")[0]
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", html)))


def test_what_is_special_about_a_system_is_shown(made: Path, tmp_path: Path) -> None:
    page = page_of(made, tmp_path / "page.html")
    memory = page.partition('<section id="memory"')[2].partition("</section>")[0]
    assert memory.count('fill="url(#hatch-RAM)"') == 1  # of `link`: 1000 bytes asked for
    assert 'fill="url(#hatch-Flash)"' not in memory
    assert "38K of 128K granted, 24 B of it rounding, 90K free" in section(page, "memory")
    regions = section(page, "regions")
    assert re.search(r"shared link 0x20007400 none none rw r ", regions)
    assert "hypervisor process, FPU closed" in regions and "one vm, FPU open" in regions
    assert "No project of this system was ported" in section(page, "porting")
    assert "USART1 of one Not split" in section(page, "sections")
    assert "two 3 event to-two" not in section(page, "routes")
    assert "two 4 event to-two from one event_handler" in section(page, "routes")
    assert "hypervisor 31, 2, 1, 0 the chip is reset" in section(page, "policies")
    assert "one VM 0 500 ms it is restarted; the second time within 1 s" in section(
        page, "policies"
    )


def test_a_run_of_another_image_is_no_proof(made: Path, tmp_path: Path) -> None:
    run = tmp_path / "run.json"
    document = {"schema": 1, "system": "tiny", "image": "0" * 64, "left_out": 7, "lines": []}
    run.write_text(json.dumps(document | {"stats": []}))
    page = page_of(made, tmp_path / "page.html", "--run", run)
    assert "Run no was recorded with another image than this" in section(page, "summary")
    assert "7 more lines were not recorded" in section(page, "run")
    assert "No domain was restarted" in section(page, "reboots")


def test_a_changed_description_is_refused(copy: Path, tmp_path: Path) -> None:
    description = copy / "out.xml"
    text = description.read_text("utf-8")
    description.write_text(change(text, 'flash="32K"', 'flash="40K"'), "utf-8")
    result = report(copy / "out", "-o", tmp_path / "page.html")
    assert result.returncode == 1
    assert "is not what the description says today; run fvmkit compose" in result.stderr
    assert not (tmp_path / "page.html").exists()


def test_a_changed_image_is_refused(copy: Path, tmp_path: Path) -> None:
    elf = copy / "out" / "image" / "system.elf"
    elf.write_bytes(elf.read_bytes()[:-1] + b"\x55")
    result = report(copy / "out", "-o", tmp_path / "page.html")
    assert result.returncode == 1
    assert "system.elf: changed since the image was linked" in result.stderr


def test_what_is_missing_is_named(made: Path, copy: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    for words, what in (
        ((tmp_path / "nowhere", "-o", page), "nowhere: is no folder and no image"),
        ((made / "out",), "Missing option '-o'"),
        ((made / "out", "-o", page, "--run", tmp_path / "no.json"), "no.json: can't be opened"),
        ((made / "out", "-o", page, "--ram", tmp_path / "no.bin"), "no.bin: can't be opened"),
        ((made / "out", "-o", page, "--timeline", tmp_path / "no.svg"), "no.svg: can't be"),
    ):
        result = report(*words)
        assert result.returncode == 2 and what in result.stderr, (words, result.stderr)
    shutil.rmtree(copy / "out" / "image")
    result = report(copy / "out", "-o", page)
    assert result.returncode == 2 and "holds no linked image; run fvmkit link" in result.stderr
    assert not page.exists()
