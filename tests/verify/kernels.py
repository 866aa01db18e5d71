"""Kernels alone, without the domains that they would run: composed, compiled, and looked into."""

from __future__ import annotations

import bisect
import re
import shutil
import struct
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from composer.chips.chip import load_chip
from composer.description.parse import parse
from composer.sources import runtime_folder
from composer.verify.analysis import Kernel
from composer.verify.checks.ownership import strangers
from composer.verify.memory import Chunk
from composer.verify.ownership.exits import System
from tests.support.built import change
from tests.system.road import fvmkit


@dataclass(frozen=True)
class Alone:
    """A kernel in the folder that it was composed to."""

    folder: Path
    description: Path

    @cached_property
    def kernel(self) -> Kernel:
        """As verify sees it."""
        with (self.folder / "kernel" / "kernel.elf").open("rb") as file:
            image = ELFFile(file)
            table = image.get_section_by_name(".symtab")
            assert isinstance(table, SymbolTableSection)
            (directory,) = table.get_symbol_by_name("fvm_directory")
            text = image.get_section_by_name(".text")
            assert text is not None
            loaded = [s for s in image.iter_segments("PT_LOAD") if s["p_memsz"]]
            flash = [Chunk(s["p_paddr"], s.data()) for s in loaded if s["p_filesz"]]
            ram = [s for s in loaded if s["p_flags"] & 2]
            start = min(s["p_vaddr"] for s in ram)
            end = max(s["p_vaddr"] + s["p_memsz"] for s in ram)
            code = range(text["sh_addr"], text["sh_addr"] + text["sh_size"])
        flash.sort(key=lambda chunk: chunk.base)
        base = flash[0].base
        count = (directory["st_value"] - base) // 4
        vectors = struct.unpack_from(f"<{count}I", flash[0].data)
        return Kernel(tuple(flash), code, range(start, end), vectors)

    @cached_property
    def _labels(self) -> list[tuple[int, str]]:
        with (self.folder / "kernel" / "kernel.elf").open("rb") as file:
            table = ELFFile(file).get_section_by_name(".symtab")
            assert isinstance(table, SymbolTableSection)
            kinds = ("STT_FUNC", "STT_NOTYPE")
            return sorted(
                (s["st_value"] & ~1, s.name)
                for s in table.iter_symbols()
                if s["st_info"]["type"] in kinds and s.name and s.name[0] != "$"
            )

    @property
    def holds_lines(self) -> bool:
        """Whether lines of less urgent VMs wait while another one runs."""
        config = (self.folder / "kernel" / "fvm_config.h").read_text("utf-8")
        held = re.search(r"#define FVM_HELD_WORDS (0x[0-9A-F]+)u", config)
        assert held is not None
        return int(held[1], 16) != 0

    def label(self, address: int) -> str:
        """The function or assembler label at or before an address."""
        return self._labels[bisect.bisect_right(self._labels, (address, "~")) - 1][1]

    @cached_property
    def system(self) -> System:
        """What the description says of registers."""
        system = parse(self.description)
        chip = load_chip(system.chip, system.place)
        processes = any(process.fpu for process in system.processes)
        return System(chip.core.fpu, processes, bool(system.vms))

    def patched(self, patches: Mapping[int, bytes]) -> Kernel:
        """The kernel with other bytes."""
        chunks = []
        for chunk in self.kernel.flash:
            data = bytearray(chunk.data)
            for address, patch in patches.items():
                if chunk.base <= address < chunk.end:
                    data[address - chunk.base : address - chunk.base + len(patch)] = patch
            chunks.append(Chunk(chunk.base, bytes(data)))
        return replace(self.kernel, flash=tuple(chunks))

    def findings(self) -> tuple[str, ...]:
        """What the check finds."""
        return strangers(self.kernel, self.system)


def composed(description: Path, folder: Path, optimize: str = "2", more: str = "") -> Alone:
    """The kernel of a description with `more` domains, compiled."""
    text = re.sub(
        r'(<project\b[^>]*?\bpath=)"([^"]+)"',
        lambda m: f'{m[1]}"{(description.parent / m[2]).resolve()}"',
        description.read_text("utf-8"),
    )
    folder.mkdir(parents=True)
    copy = folder.with_suffix(".xml")
    for beside in filter(Path.is_dir, description.parent.iterdir()):  # sources of the description's
        if not (link := folder.parent / beside.name).exists():
            link.symlink_to(beside)
    if optimize == "0":  # it needs more than is granted where nobody asks for more
        text = re.sub(r'(<kernel(?=[\s/])[^>]*?) flash="[^"]*"', r"\1", text)
        text = re.sub(r"<kernel(?=[\s/])", '<kernel flash="32K"', text)
    text = change(text, "<system ", f'<system optimize="{optimize}" ')
    copy.write_text(change(text, "</system>", f"{more}</system>"), "utf-8")
    said = fvmkit("compose", copy, "--out", folder, cwd=folder.parent)
    assert said.status == 0, said.all
    return made(Alone(folder, copy))


def made(alone: Alone, runtime: Path | None = None) -> Alone:
    """The kernel compiled, maybe from other sources."""
    folder = alone.folder / "kernel"
    if runtime is not None:
        makefile = folder / "Makefile"
        # Quoted where a path has a space in it.
        original = re.search(r"-I(?:'([^']+)|(\S+))/include'? -I", makefile.read_text("utf-8"))
        assert original is not None
        text = makefile.read_text("utf-8").replace(original[1] or original[2], str(runtime))
        makefile.write_text(text, "utf-8")
    subprocess.run(["make", "-s", "-C", str(folder)], check=True, stdout=subprocess.DEVNULL)
    return Alone(alone.folder, alone.description)


def with_other_source(base: Alone, folder: Path, file: str, old: str, new: str) -> Alone:
    """The same kernel, one file of the runtime reading differently."""
    shutil.copytree(base.folder, folder)
    runtime = folder / "changed-runtime"
    shutil.copytree(runtime_folder(), runtime, ignore=shutil.ignore_patterns("__pycache__"))
    source = runtime / file
    source.write_text(change(source.read_text("utf-8"), old, new), "utf-8")
    return made(Alone(folder, base.description), runtime)
