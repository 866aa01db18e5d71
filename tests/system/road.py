"""The whole road on the example, by the commands that a user types: done once for all tests.

    ROOM/                              a path with a space
        two-legacy-mcus checkout/      copy of the example, only ever read by the commands
        two-legacy-mcus legacy/        the firmwares built by their own makefiles
        two-legacy-mcus/               output folder of compose
        two-legacy-mcus said.json      what every command printed

Commands run in ROOM with relative paths.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from tests.support.built import Built, change
from tests.support.example import CONSOLES, EXAMPLE, build_standalone

NAME = "two-legacy-mcus"
PATIENCE = 1200  # seconds: of a busy host; only what hangs takes so long
FVMKIT = Path(sys.executable).with_name("fvmkit")
# QEMU counts instructions, so that a busy host makes a run slow but changes nothing in it.
COUNTED = ("-icount", "shift=4,sleep=off")


@dataclass(frozen=True)
class Said:
    """What a command printed, and its exit status."""

    status: int
    out: str
    err: str

    @property
    def all(self) -> str:
        """Both streams."""
        return self.out + self.err


def fvmkit(*words: str | Path, cwd: Path) -> Said:
    """Runs a fvmkit command as a user does."""
    done = subprocess.run(
        [FVMKIT, *words], cwd=cwd, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert "Traceback" not in done.stderr, done.stderr
    return Said(done.returncode, done.stdout, done.stderr)


def digests(folder: Path) -> dict[str, str]:
    """Content of every file of a folder."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@dataclass(frozen=True)
class Road:
    """Where everything is after the road was gone."""

    built: Built

    @property
    def room(self) -> Path:
        """Where the commands were typed."""
        return self.built.folder.parent

    @property
    def out(self) -> Path:
        """Output folder of compose."""
        return self.built.folder

    @property
    def checkout(self) -> Path:
        """The user's projects and the description."""
        return self.built.description.parent

    def legacy_elf(self, name: str) -> Path:
        """A firmware as it was before the migration."""
        return self.room / f"{NAME} legacy" / name / "build" / f"{name}.elf"

    def elf(self, name: str) -> Path:
        """The ported firmware."""
        return self.out / name / f"{name}.elf"

    def policy(self, name: str) -> Path:
        """What compose wrote for porter and scanner."""
        return self.out / f"{name}.domain.json"

    def ported(self, name: str) -> Path:
        """The ported copy of a project."""
        return self.out / "ported" / name

    @cached_property
    def said(self) -> Mapping[str, Said]:
        """What each command printed: `compose`, `port NAME`, `report NAME` and so on."""
        file = self.room / f"{NAME} said.json"
        return {key: Said(**value) for key, value in json.loads(file.read_text()).items()}


def travel(out: Path) -> Built:
    """Goes the whole road; every command must succeed."""
    room, checkout, legacy = out.parent, f"{NAME} checkout", f"{NAME} legacy"
    for left in (checkout, legacy):  # by an attempt that failed
        shutil.rmtree(room / left, ignore_errors=True)
    shutil.copytree(EXAMPLE, room / checkout, ignore=shutil.ignore_patterns("build", "demo"))
    before = digests(room / checkout)
    build_standalone(room / legacy)

    said: dict[str, Said] = {}

    def step(key: str, *words: str, status: int = 0) -> None:
        said[key] = fvmkit(*words, cwd=room)
        assert said[key].status == status, f"fvmkit {' '.join(words)}\n{said[key].all}"

    description = f"{checkout}/system.xml"
    step("compose", "compose", description, "--out", NAME)
    for name in CONSOLES:
        port = ("port", f"{checkout}/{name}", "--domain", f"{NAME}/{name}.domain.json")
        step(f"report {name}", *port, "--check", "--json", status=1)
        step(f"port {name}", *port, "--out", f"{NAME}/ported/{name}")
        split = ("split", f"{checkout}/{name}", "--domain", f"{NAME}/{name}.domain.json")
        step(f"split {name}", *split, "--out", f"{NAME}/split/{name}")
    step("build", "build", NAME)
    step("compose again", "compose", description, "--out", NAME)
    step("build again", "build", NAME)
    for name in CONSOLES:
        policy = f"{NAME}/{name}.domain.json"
        step(f"scan {name}", "scan", f"{NAME}/{name}/{name}.elf", "--policy", policy)
    step("link", "link", NAME)

    assert digests(room / checkout) == before, "a command changed the user's projects"
    file = room / f"{NAME} said.json"
    file.write_text(json.dumps({key: asdict(value) for key, value in said.items()}))
    return Built(out, room / description)


def without_protection(road: Road, out: Path) -> Built:
    """The same system with protection off: only its tables differ."""
    shutil.copytree(road.out, out, ignore=shutil.ignore_patterns("image"))
    description = road.checkout / "unprotected.xml"
    text = road.built.description.read_text("utf-8")
    description.write_text(change(text, 'protection="on"', 'protection="off"'), "utf-8")
    for words in (("compose", description, "--out", out), ("build", out), ("link", out)):
        said = fvmkit(*words, cwd=road.room)
        assert said.status == 0, said.all
    return Built(out, description)
