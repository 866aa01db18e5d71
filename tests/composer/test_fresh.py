"""`fvmkit link` takes no part that changed since it was built."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from composer.image.link import link
from scanner.report.errors import FvmError
from tests.composer import systems
from tests.composer.test_compose import fvmkit


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Description, projects and built system; read-only."""
    folder = tmp_path_factory.mktemp("fresh parts")
    compose(systems.write(folder))
    result = fvmkit("build", folder / "out")
    assert result.returncode == 0, result.stderr
    return folder


@pytest.fixture
def copy(made: Path) -> Path:
    """Its own copy beside it, so relative paths to the runtime stay right."""
    folder = made.parent / "copy of it"
    shutil.rmtree(folder, ignore_errors=True)
    return shutil.copytree(made, folder)


def compose(description: Path) -> None:
    result = fvmkit("compose", description, "--out", description.parent / "out")
    assert result.returncode == 0, result.stderr


def refused(folder: Path, *names: str) -> None:
    """link names the parts and the command, and writes nothing."""
    result = fvmkit("link", folder / "out")
    assert result.returncode == 1, result.stdout
    (line,) = result.stderr.splitlines()
    assert f"{', '.join(names)} changed since the last build" in line
    assert f"run: fvmkit build '{folder}/out'" in line
    assert not (folder / "out" / "image").exists()


def test_what_was_just_built_is_linked_again_and_again(copy: Path) -> None:
    for _ in range(2):
        result = fvmkit("link", copy / "out")
        assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('<kernel console="USART6"/>', '<kernel console="USART6" protection="off"/>'),
        ('ram="16K"', 'ram="32K"'),
    ],
)
def test_a_changed_description_needs_a_build(copy: Path, old: str, new: str) -> None:
    compose(systems.write(copy, (old, new)))
    refused(copy, "'kernel'", "'hypervisor'", "'beater'", "'one'", "'two'")
    assert fvmkit("build", copy / "out").returncode == 0
    result = fvmkit("link", copy / "out")
    assert result.returncode == 0
    assert ("every domain can write every other" in result.stderr) == ("protection" in new)


def test_an_edited_source_needs_a_build(copy: Path) -> None:
    source = copy / "two" / "main.c"
    source.write_text(source.read_text() + "int more;\n")
    refused(copy, "'two'")


def test_without_sources_the_generated_files_of_the_build_decide(copy: Path) -> None:
    shutil.rmtree(copy / "one")
    assert fvmkit("link", copy / "out").returncode == 0
    shutil.rmtree(copy / "out" / "image")
    header = copy / "out" / "one" / "fvm_domain.h"
    header.write_text(header.read_text() + "\n")
    refused(copy, "'one'")


def test_an_elf_put_over_a_built_one_reaches_the_other_checks(copy: Path) -> None:
    elf = copy / "out" / "two" / "two.elf"
    elf.write_bytes(elf.read_bytes()[:200])
    with pytest.raises(FvmError, match=r"two\.elf: .*truncated"):
        link(copy / "out", copy / "image")
    shutil.copyfile(copy / "out" / "one" / "one.elf", elf)
    with pytest.raises(FvmError, match=r"two\.elf: segment .* outside the"):
        link(copy / "out", copy / "image")
