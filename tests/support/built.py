"""Systems built for a test with the commands a user has, and variants of them.

A variant is a copy that is composed or compiled again with one thing changed; only what depends
on that is built anew. `change` fails when the text to be changed isn't there exactly once, so
a control experiment can't turn into a run of the unchanged system.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from composer.build import read_system
from composer.image.composed import Part, read_composed
from composer.sources import runtime_folder

_FVMKIT = (sys.executable, "-m", "composer.cli")


@dataclass(frozen=True)
class Built:
    """A linked system in its compose folder."""

    folder: Path
    description: Path

    @property
    def elf(self) -> Path:
        """The image of the whole system."""
        return self.folder / "image" / "system.elf"

    @cached_property
    def _parts(self) -> dict[str, Part]:
        return {part.name: part for part in read_composed(self.folder).parts}

    def memory(self, part: str, kind: str) -> range:
        """Addresses of the first grant of a kind: `code` or `ram`."""
        grant = self._parts[part].of_kind(kind)[0]
        return range(grant.base, grant.end)

    def grant(self, part: str, kind: str, name: str) -> range:
        """Addresses of a named grant, for example a shared block's."""
        grants = self._parts[part].of_kind(kind)
        return next(range(g.base, g.end) for g in grants if g.name == name)

    def symbol(self, part: str, name: str) -> int:
        """Address of a function or variable, without the Thumb bit."""
        address, _ = self._symbols(part)[name]
        return address

    def extent(self, part: str, name: str) -> range:
        """Addresses of a function's code."""
        address, size = self._symbols(part)[name]
        return range(address, address + size)

    def function(self, part: str, address: int) -> str | None:
        """The function that holds an address."""
        for name, (start, size) in self._symbols(part).items():
            if start <= address < start + size:
                return name
        return None

    def label(self, part: str, address: int) -> str:
        """The function or assembler label at or before an address."""
        names = {at: name for name, (at, _) in self._symbols(part).items() if name[:1] != "$"}
        return names[max(at for at in names if at <= address)]

    def _symbols(self, part: str) -> dict[str, tuple[int, int]]:
        with (self.folder / part / f"{part}.elf").open("rb") as file:
            table = ELFFile(file).get_section_by_name(".symtab")
            assert isinstance(table, SymbolTableSection)
            return {
                s.name: (s["st_value"] & ~(s["st_info"]["type"] == "STT_FUNC"), s["st_size"])
                for s in table.iter_symbols()
                if s["st_info"]["type"] in ("STT_FUNC", "STT_OBJECT", "STT_NOTYPE")
            }

    def patched(self, image: Path, words: Mapping[int, int]) -> Path:
        """A copy of the image whose flash holds other words at these addresses."""
        content = bytearray(self.elf.read_bytes())
        for address, word in words.items():
            struct.pack_into("<I", content, self._stored_at(address), word)
        image.write_bytes(content)
        return image

    def word(self, address: int) -> int:
        """A word of the image's flash."""
        (found,) = struct.unpack_from("<I", self.elf.read_bytes(), self._stored_at(address))
        return int(found)

    @cached_property
    def _segments(self) -> list[tuple[int, int, int]]:
        with self.elf.open("rb") as file:
            return [
                (s["p_paddr"], s["p_offset"], s["p_filesz"])
                for s in ELFFile(file).iter_segments("PT_LOAD")
            ]

    def _stored_at(self, address: int) -> int:
        """Where the image's file has the word at an address."""
        places = [
            offset + address - base
            for base, offset, size in self._segments
            if base <= address <= base + size - 4
        ]
        assert len(places) == 1, f"0x{address:08x} is stored {len(places)} times"
        return places[0]


def build(description: Path, folder: Path, elsewhere: Mapping[str, Path] | None = None) -> Built:
    """Composes, ports what is to be ported, builds and links.

    Project folders are looked up where the description is, those in `elsewhere` somewhere else.
    """
    moved = elsewhere or {}
    text = re.sub(
        r'(<project\b[^>]*?\bpath=)"([^"]+)"',
        lambda m: f'{m[1]}"{moved.get(m[2]) or (description.parent / m[2]).resolve()}"',
        description.read_text("utf-8"),
    )
    copy = folder.with_suffix(".xml")
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(text, "utf-8")
    return _make(Built(folder, copy))


def described_otherwise(base: Built, folder: Path, old: str, new: str) -> Built:
    """The same system with another text in its description."""
    shutil.copytree(base.folder, folder)
    copy = folder.with_suffix(".xml")
    copy.write_text(change(base.description.read_text("utf-8"), old, new), "utf-8")
    return _make(Built(folder, copy))


def with_other_kernel(
    base: Built,
    folder: Path,
    file: str,
    *changes: tuple[str, str],
    also: Iterable[tuple[str, str, str]] = (),
) -> Built:
    """The same system with a kernel in which `file` of the runtime reads differently, and others
    do; `also` is of file, old, new."""
    shutil.copytree(base.folder, folder)
    runtime = folder / "changed-runtime"
    shutil.copytree(runtime_folder(), runtime, ignore=shutil.ignore_patterns("__pycache__"))
    for name, old, new in (*((file, *pair) for pair in changes), *also):
        source = runtime / name
        source.write_text(change(source.read_text("utf-8"), old, new), "utf-8")
    makefile = folder / "kernel" / "Makefile"
    original = os.path.relpath(runtime_folder(), folder / "kernel")
    rules = makefile.read_text("utf-8")
    assert original in rules
    makefile.write_text(rules.replace(original, "../changed-runtime"), "utf-8")
    _run("make", "-C", str(folder / "kernel"), "clean")
    built = Built(folder, base.description)
    _run(*_FVMKIT, "build", str(folder))
    _run(*_FVMKIT, "link", str(folder))
    return built


def change(text: str, old: str, new: str) -> str:
    """Replaces a text that occurs exactly once."""
    assert text.count(old) == 1, f"{old!r} occurs {text.count(old)} times"
    return text.replace(old, new)


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], Built]) -> Built:
    """What `make` builds in a folder of this name, built by one of the test processes for all."""
    base = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    room = base / "built systems"
    room.mkdir(exist_ok=True)
    with (room / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done, folder = room / f"{name}.done", room / name
        if done.exists():
            return Built(folder, Path(done.read_text("utf-8")))
        shutil.rmtree(folder, ignore_errors=True)  # of an attempt that failed
        built = make(folder)
        done.write_text(str(built.description), "utf-8")
        return built


def _make(built: Built) -> Built:
    folder = built.folder
    _run(*_FVMKIT, "compose", str(built.description), "--out", str(folder))
    for domain in read_system(folder)["domains"]:
        project = domain["project"]
        if project["ported"] is not None and not (folder / project["ported"]).exists():
            original, ported = folder / project["original"], folder / project["ported"]
            policy = folder / domain["policy"]
            _run(*_FVMKIT, "port", str(original), "--domain", str(policy), "--out", str(ported))
            if any(vector.get("split") for vector in json.loads(policy.read_text())["vectors"]):
                sections = folder / "split" / domain["name"]
                words = ("split", str(original), "--domain", str(policy), "--out", str(sections))
                _run(*_FVMKIT, *words)
    _run(*_FVMKIT, "build", str(folder))
    _run(*_FVMKIT, "link", str(folder))
    return built


def _run(*command: str) -> None:
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, f"{command}:\n{result.stdout}{result.stderr}"
