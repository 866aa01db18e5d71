"""Findings at the files of a repository, wherever they were compiled."""

from __future__ import annotations

import struct
import subprocess
import time
from pathlib import Path

import pytest

from scanner.image.compile_folders import compile_folders
from scanner.image.debug_entries import DebugSections
from scanner.image.inlined import inlined_calls
from scanner.image.lines import _under
from scanner.scan import scan_file
from scanner.source_tree import SourceTree

MASK = 'static inline void mask(void) { __asm volatile("cpsid i"); }\n'


def compiled(folder: Path, version: str) -> Path:
    """A program whose source was named from a folder beside it, as build systems do."""
    for name in ("build", "src/core", "inc"):
        (folder / name).mkdir(parents=True)
    (folder / "inc" / "mask.h").write_text(MASK)
    (folder / "src" / "core" / "main.c").write_text(
        '#include "mask.h"\nvoid other(void) { __asm volatile("cpsid f"); }\n'
        "void _start(void) { mask(); other(); }\n"
    )
    command = ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", version, "-I../inc"]
    command += ["-nostdlib", "-Ttext=0x08000000", "../src/core/main.c", "-o", "a.elf"]
    subprocess.run(command, cwd=folder / "build", check=True)
    return folder / "build" / "a.elf"


@pytest.mark.parametrize("version", ["-gdwarf-2", "-gdwarf-3", "-gdwarf-4", "-gdwarf-5"])
def test_a_checkout_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    elf = compiled(tmp_path / "there" / "project", version)
    (tmp_path / "there").rename(tmp_path / "gone")
    here = tmp_path / "checkout"
    (tmp_path / "gone" / "project").rename(here)
    elf = here / "build" / "a.elf"
    monkeypatch.chdir(here)
    found = {f.source for f in scan_file(elf, source_root=".").findings if f.address}
    assert found == {"src/core/main.c:2", "inc/mask.h:1"}
    given = {f.source for f in scan_file(elf).findings if f.address}
    assert given == {"../src/core/main.c:2", "../inc/mask.h:1"}


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("C:\\work\\fw\\src\\core\\a.c", "src/core/a.c"),
        ("C:/work/fw/build/../src/core/a.c", "src/core/a.c"),
        ("/jenkins/src/core/a.c", "src/core/a.c"),
        ("/sdk/newlib/a.c", "/sdk/newlib/a.c"),
        ("/elsewhere/top.c", "/elsewhere/top.c"),
        ("../../src/core/a.c", "../../src/core/a.c"),
    ],
)
def test_where_a_path_leads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, place: str
) -> None:
    (tmp_path / "src" / "core").mkdir(parents=True)
    (tmp_path / "src" / "core" / "a.c").touch()
    (tmp_path / "top.c").touch()
    monkeypatch.chdir(tmp_path)
    assert SourceTree(".").place(path) == place
    assert SourceTree(".").place(str(tmp_path / "top.c")) == "top.c"


def test_absolute_paths_of_windows_are_not_joined() -> None:
    for name in (b"C:\\a.c", b"D:/a.c", b"\\\\server\\a.c", b"/a.c"):
        assert _under(b"C:\\work", name) == name
    assert _under(b"C:\\work", b"a.c") == b"C:\\work/a.c"


def test_debug_information_that_lies_takes_bounded_time() -> None:
    started = time.process_time()
    assert compile_folders(DebugSections(bytes(8 << 20))) == {}
    unit = struct.pack("<IHIBB", 8, 4, 0, 4, 9)
    declarations = (b"\x01\x11\x00" + b"\x03\x08" * 63 + b"\x00\x00") * 64
    assert compile_folders(DebugSections(unit * 200_000, declarations)) == {}
    children = b"\x01\x11\x01\x03\x08\x00\x00\x02\x1d\x01\x11\x01\x12\x06\x31\x13\x00\x00\x00"
    nested = b"\x01a\x00" + b"\x02" + struct.pack("<III", 4, 0xFFFFFFF0, 14)
    large = nested + nested[3:] * 500_000
    info = struct.pack("<IHIB", len(large) + 7, 4, 0, 4) + large
    found = inlined_calls(DebugSections(info, children), lambda *_: None, [0x100, 0x200])
    assert 0 < len(found[0x100]) <= 64
    assert time.process_time() - started < 20
