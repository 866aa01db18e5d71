"""The FreeRTOS kernel comes in whole, with LF ends and the right sums, or not at all."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from composer.setup import freertos
from scanner.report.errors import FvmError, MissingError

CONTENT = {"tasks.c": b"int a;\nint b;\n", "include/task.h": b"/* a */\n"}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout, in a path with a space, whose sums are those of CONTENT."""
    root = tmp_path / "a b"
    folder = root / freertos.FOLDER
    folder.parent.mkdir(parents=True)
    sums = (f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in CONTENT.items())
    folder.with_name("FreeRTOS-Kernel.sha256").write_text("".join(sums))
    return root


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's own kernel, with CRLF ends and a file that isn't needed."""
    folder = tmp_path / "my kernel"
    for name, data in {**CONTENT, "README.md": b"no\n"}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data.replace(b"\n", b"\r\n"))
    monkeypatch.setenv("FREERTOS_KERNEL", str(folder))
    return folder


def leftovers(root: Path) -> list[str]:
    return [path.name for path in (root / freertos.FOLDER).parent.iterdir()]


def test_a_given_kernel_is_copied_with_lf_ends_and_stays_untouched(
    checkout: Path, source: Path
) -> None:
    before = {path: path.read_bytes() for path in source.rglob("*") if path.is_file()}
    freertos.install_kernel(checkout)
    folder = checkout / freertos.FOLDER
    found = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
    assert found == CONTENT
    assert {path: path.read_bytes() for path in source.rglob("*") if path.is_file()} == before


def test_a_second_run_needs_no_source(
    checkout: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    freertos.install_kernel(checkout)
    monkeypatch.setenv("FREERTOS_KERNEL", "/nowhere")
    freertos.install_kernel(checkout)


@pytest.mark.parametrize("damage", ["changed", "missing"])
def test_a_wrong_kernel_is_refused_and_nothing_stays(
    checkout: Path, source: Path, damage: str
) -> None:
    path = source / "include" / "task.h"
    path.write_bytes(b"/* other */\n") if damage == "changed" else path.unlink()
    with pytest.raises(FvmError, match=r"include/task\.h: .*FREERTOS_KERNEL"):
        freertos.install_kernel(checkout)
    assert leftovers(checkout) == ["FreeRTOS-Kernel.sha256"]


def test_a_path_that_is_no_folder_is_missing(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FREERTOS_KERNEL", str(checkout / "nowhere"))
    with pytest.raises(MissingError, match="FREERTOS_KERNEL"):
        freertos.install_kernel(checkout)


def test_a_kernel_that_was_edited_is_reported_not_replaced(checkout: Path, source: Path) -> None:
    freertos.install_kernel(checkout)
    edited = checkout / freertos.FOLDER / "tasks.c"
    edited.write_bytes(b"int mine;\n")
    with pytest.raises(FvmError, match=r"tasks\.c: not as in"):
        freertos.install_kernel(checkout)
    assert edited.read_bytes() == b"int mine;\n"


def test_wrong_files_from_one_source_are_not_hidden_by_the_next(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = tmp_path / "wrong"
    wrong.mkdir()
    (wrong / "tasks.c").write_bytes(b"int evil;\n")
    monkeypatch.delenv("FREERTOS_KERNEL", raising=False)
    monkeypatch.setattr(freertos, "from_cargo", lambda room: wrong)
    monkeypatch.setattr(freertos, "from_git", lambda room: pytest.fail("asked the next source"))
    with pytest.raises(FvmError, match="differs"):
        freertos.install_kernel(checkout)
    assert leftovers(checkout) == ["FreeRTOS-Kernel.sha256"]


def test_no_source_at_all_says_what_was_tried_and_what_to_do(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(room: Path) -> Path:
        raise FvmError("no network")

    monkeypatch.delenv("FREERTOS_KERNEL", raising=False)
    for name in ("from_cargo", "from_git", "from_debian_cargo"):
        monkeypatch.setattr(freertos, name, fail)
    with pytest.raises(FvmError, match=r"no network; no network.*set FREERTOS_KERNEL"):
        freertos.install_kernel(checkout)
