"""All files of a port are edited, or none."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from porter.output import apply_transaction
from porter.output.apply_transaction import JOURNAL, Change, apply_changes, recover
from scanner.report.errors import FvmError


def project(folder: Path) -> list[Change]:
    changes = []
    for name in ("a.c", "sub/b.c", "sub/c.c"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(name.encode())
        changes.append(Change(path, name.encode(), b"new " + name.encode()))
    return changes


def everything(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".git" not in path.parts
    }


def test_outside_git_the_originals_are_kept(tmp_path: Path) -> None:
    apply_changes(tmp_path, project(tmp_path))
    assert everything(tmp_path) == {
        "a.c": b"new a.c",
        "a.c.orig": b"a.c",
        "sub/b.c": b"new sub/b.c",
        "sub/b.c.orig": b"sub/b.c",
        "sub/c.c": b"new sub/c.c",
        "sub/c.c.orig": b"sub/c.c",
    }


def test_a_file_that_changed_meanwhile_stops_everything(tmp_path: Path) -> None:
    changes = project(tmp_path)
    changes[2].path.write_bytes(b"edited by somebody")
    before = everything(tmp_path)
    with pytest.raises(FvmError, match="changed while"):
        apply_changes(tmp_path, changes)
    assert everything(tmp_path) == before


@pytest.mark.parametrize("fails_at", [0, 1, 2])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failure_half_way_undoes_what_was_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails_at: int, error: BaseException
) -> None:
    changes = project(tmp_path)
    before = everything(tmp_path)
    replace = os.replace
    calls = []

    def failing(source: os.PathLike[str], target: os.PathLike[str]) -> None:
        if str(source).endswith(".fvm-new"):
            calls.append(target)
            if len(calls) == fails_at + 1:
                raise error
        replace(source, target)

    monkeypatch.setattr(apply_transaction.os, "replace", failing)
    with pytest.raises((FvmError, KeyboardInterrupt)):
        apply_changes(tmp_path, changes)
    assert everything(tmp_path) == before


def test_a_killed_run_is_undone_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = project(tmp_path)
    before = everything(tmp_path)

    def killed(_root: Path) -> None:
        """A killed process undoes nothing."""

    replace = os.replace

    def failing(source: os.PathLike[str], target: os.PathLike[str]) -> None:
        if str(target).endswith("c.c"):
            raise KeyboardInterrupt
        replace(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(apply_transaction, "recover", killed)
        patch.setattr(apply_transaction.os, "replace", failing)
        with pytest.raises(KeyboardInterrupt):
            apply_changes(tmp_path, changes)
    assert everything(tmp_path) != before
    assert (tmp_path / JOURNAL).exists()
    recover(tmp_path)
    assert everything(tmp_path) == before


def test_git_keeps_the_originals_and_dirty_files_are_refused(tmp_path: Path) -> None:
    changes = project(tmp_path)

    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, check=True)

    git("init", "-q")
    git("add", ".")
    with pytest.raises(FvmError, match=r"a\.c: has changes that git doesn't have"):
        apply_changes(tmp_path, changes)
    git("commit", "-q", "-m", "x")
    apply_changes(tmp_path, changes)
    assert not list(tmp_path.rglob("*.orig"))
    assert changes[0].path.read_bytes() == b"new a.c"
    again = [Change(c.path, c.after, c.before) for c in changes]
    with pytest.raises(FvmError, match="--force"):
        apply_changes(tmp_path, again)
    apply_changes(tmp_path, again, force=True)
    assert changes[0].path.read_bytes() == b"a.c"


def test_permissions_stay(tmp_path: Path) -> None:
    changes = project(tmp_path)
    changes[0].path.chmod(0o640)
    apply_changes(tmp_path, changes)
    assert changes[0].path.stat().st_mode & 0o777 == 0o640


def test_a_new_file_appears_with_the_others_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = Change(tmp_path / "sub" / "new.c", None, b"new")
    changes = [*project(tmp_path), new]
    before = everything(tmp_path)
    replace = os.replace

    def fail(source: Path, target: Path) -> None:
        replace(source, target)
        if Path(target).name == "new.c":
            raise OSError(5, "Input/output error")

    monkeypatch.setattr(apply_transaction.os, "replace", fail)
    with pytest.raises(FvmError, match="nothing was changed"):
        apply_changes(tmp_path, changes)
    assert everything(tmp_path) == before
    monkeypatch.undo()
    apply_changes(tmp_path, changes)
    assert (tmp_path / "sub" / "new.c").read_bytes() == b"new"
