"""From what the user names, a folder or a file of an image, to the image and its plan."""

from __future__ import annotations

import hashlib
import shlex
from pathlib import Path
from typing import Any

from composer.image.composed import SYSTEM_FILE, Composed, read_composed, read_json
from composer.image.link import SUFFIXES
from scanner.report.errors import FvmError, MissingError

IMAGE = Path("image/system")  # where link puts an image that was given no name
RELINK = "run fvmkit link again"


def find_stem(target: Path) -> Path:
    """STEM of an image: DIR means DIR/image/system, a file any of its four files."""
    if target.is_dir():
        stem = target / IMAGE
        if not Path(f"{stem}.json").exists():
            hint = "run fvmkit link first, or give the STEM.elf that it wrote elsewhere"
            raise MissingError("holds no linked image", file=target, hint=hint)
        return stem
    if target.suffix in SUFFIXES and target.exists():
        check_is_image(target)
        return target.with_suffix("")
    raise MissingError("is no folder and no image", file=target, hint="give DIR, or STEM.elf")


def check_is_image(target: Path) -> None:
    """MissingError for a part of a system, which can't run alone."""
    if target.with_suffix(".json").exists():
        return
    folder = target.absolute().parent.parent
    if target.stem == target.absolute().parent.name and (folder / SYSTEM_FILE).exists():
        raise MissingError(
            f"is one part of a system, '{target.stem}'; only the linked system runs",
            file=target,
            hint=f"run: fvmkit run {shlex.quote(str(folder))}",
        )
    raise MissingError(
        f"has no {target.stem}.json beside it, so it is no image of fvmkit link",
        file=target,
        hint="give DIR, or the STEM.elf that fvmkit link wrote",
    )


def check_unchanged(path: Path, wanted: str) -> None:
    """FvmError when a file isn't the one that the manifest speaks of: its lines would be wrong."""
    try:
        found = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise MissingError(f"can't be opened: {error.strerror}", file=path, hint=RELINK) from error
    if found != wanted:
        raise FvmError("changed since the image was linked", file=path, hint=RELINK)


def open_image(target: Path) -> tuple[Path, Composed]:
    """The ELF to run and the composed system that it was made from."""
    stem = find_stem(target)
    manifest_file = Path(f"{stem}.json")
    manifest: dict[str, Any] = read_json(manifest_file)
    elf = Path(f"{stem}.elf")
    try:
        check_unchanged(elf, manifest["files"][elf.name]["sha256"])
        for part in manifest["parts"]:
            check_unchanged(stem.parent / part["elf"], part["sha256"])
        return elf, read_composed(stem.parent / manifest["composed"])
    except (KeyError, TypeError) as error:
        raise FvmError(
            f"field {error} is missing or odd", file=manifest_file, hint=RELINK
        ) from error
