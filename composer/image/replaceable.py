"""What a command may write over: only what fvmkit wrote there before.

A name that is mistyped, or was taken for something else long ago, must not cost a file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path

from scanner.report.errors import MissingError

Recognises = Callable[[bytes], bool]


def check_replaceable(path: Path, what: str, is_ours: Recognises) -> None:
    """MissingError when another file stands at `path`; an empty one is nothing.

    What is no file, a folder for example, is the writer's to refuse.
    """
    if not path.is_file():
        return
    try:
        content = path.read_bytes()
    except OSError as error:
        raise MissingError(f"can't be replaced: {error.strerror}", file=path) from error
    if content and not is_ours(content):
        raise MissingError(f"is there and is no {what}", file=path, hint="choose another name")


def check_image_replaceable(targets: Mapping[str, Path]) -> None:
    """The files of an image, by suffix, may be replaced if their manifest speaks of them."""
    manifest = targets[".json"]
    digests: dict[str, object] = {}

    def is_manifest(content: bytes) -> bool:
        try:
            files = json.loads(content)["files"]
            digests.update({name: entry["sha256"] for name, entry in files.items()})
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return False
        return True

    check_replaceable(manifest, "manifest of an image", is_manifest)
    what = f"file of the image that {manifest.name} speaks of"
    for path in (path for suffix, path in targets.items() if suffix != ".json"):
        check_replaceable(path, what, _with_digest(digests.get(path.name)))


def _with_digest(digest: object) -> Recognises:
    return lambda content: hashlib.sha256(content).hexdigest() == digest
