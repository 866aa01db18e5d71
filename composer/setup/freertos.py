"""Bring the FreeRTOS kernel into the example, byte for byte as its public tag has it. A port that
only the benchmarks use goes there.

The kernel is third-party source and therefore not in the repository; its SHA-256 sums are. The
sums are those of files with LF ends; sources with CRLF ends are converted on the way.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from composer.setup.packages import apt_get, as_root
from composer.setup.progress import run, say
from scanner.report.errors import FvmError, MissingError

TAG = "V11.2.0"
CRATE, CRATE_VERSION = "freertos-next", "0.12.0"  # carries the kernel of that tag
REPOSITORY = "https://github.com/FreeRTOS/FreeRTOS-Kernel.git"
FOLDER = Path("examples/two-legacy-mcus/motor-controller/FreeRTOS-Kernel")
PORTS_FOLDER = Path("benchmarks/FreeRTOS-Kernel")
ADVICE = f"set FREERTOS_KERNEL to a folder with the FreeRTOS kernel {TAG} and run make again"


def read_sums(path: Path) -> dict[str, str]:
    """Relative file name -> SHA-256, from a file in the format of `sha256sum`."""
    sums = {}
    for line in path.read_text().splitlines():
        digest, name = line.split(maxsplit=1)
        sums[name] = digest
    return sums


def lf_bytes(path: Path) -> bytes:
    """Contents with LF line ends."""
    return path.read_bytes().replace(b"\r\n", b"\n")


def copy_checked(source: Path, target: Path, sums: dict[str, str]) -> None:
    """Copy the files that `sums` names; FvmError on the first one that is missing or different."""
    for name, wanted in sums.items():
        try:
            content = lf_bytes(source / name)
        except OSError as error:
            raise FvmError(
                f"not there or unreadable in this FreeRTOS kernel: {error.strerror}",
                file=source / name,
                hint=ADVICE,
            ) from error
        if hashlib.sha256(content).hexdigest() != wanted:
            raise FvmError(
                f"differs from the FreeRTOS kernel {TAG} (SHA-256)", file=source / name, hint=ADVICE
            )
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_bytes(content)


def install_from(source: Path, folder: Path, sums: dict[str, str]) -> None:
    """Put a checked copy of `source` at `folder`, whole or not at all; a folder that is there gets
    the files that it hasn't."""
    if folder.exists():
        missing = {name: wanted for name, wanted in sums.items() if not (folder / name).exists()}
        copy_checked(source, folder, missing)
        return
    room = Path(tempfile.mkdtemp(prefix=".FreeRTOS-Kernel-", dir=folder.parent))
    try:
        copy_checked(source, room, sums)
        room.chmod(0o755)
        room.rename(folder)
    except BaseException:
        shutil.rmtree(room, ignore_errors=True)
        raise


def from_cargo(room: Path) -> Path:
    """The kernel inside the crate, fetched by cargo to its own cache; `room` is for scratch."""
    if shutil.which("cargo") is None:
        raise FvmError("cargo is not installed")
    manifest = room / "Cargo.toml"
    manifest.write_text(
        '[package]\nname = "kernel-source"\nversion = "0.0.0"\nedition = "2021"\n'
        f'[dependencies]\n{CRATE} = "={CRATE_VERSION}"\n'
    )
    (room / "src").mkdir()
    (room / "src" / "lib.rs").touch()
    at = ["--manifest-path", str(manifest)]
    run(f"fetching the crate {CRATE} {CRATE_VERSION} (cargo)", ["cargo", "fetch", *at])
    metadata = ["cargo", "metadata", "--format-version", "1", "--offline", *at]
    listing = subprocess.run(metadata, capture_output=True, text=True, check=False)
    if listing.returncode != 0:
        raise FvmError(f"cargo metadata failed: {listing.stderr.strip()}")
    for package in json.loads(listing.stdout)["packages"]:
        if package["name"] == CRATE:
            return Path(package["manifest_path"]).parent / "FreeRTOS-Kernel"
    raise FvmError(f"cargo fetched no crate {CRATE}")


def from_git(room: Path) -> Path:
    """A shallow clone of the public tag."""
    clone = ["git", "clone", "--depth", "1", "--branch", TAG, REPOSITORY, str(room / "kernel")]
    run(f"cloning the FreeRTOS kernel {TAG} (git)", clone, env={"GIT_TERMINAL_PROMPT": "0"})
    return room / "kernel"


def from_debian_cargo(room: Path) -> Path:
    """Last resort on a Debian without cargo whose git reached nothing: install cargo."""
    root = as_root()
    if shutil.which("cargo") is not None or shutil.which("apt-get") is None or root is None:
        raise FvmError("cargo can't be installed here")
    apt_get(root, ["cargo"])
    return from_cargo(room)


def fetch_and_install(folder: Path, sums: dict[str, str]) -> None:
    """Try one source after the other; a source that delivers wrong files ends the search."""
    reasons = []
    for fetch in (from_cargo, from_git, from_debian_cargo):
        with tempfile.TemporaryDirectory(prefix="fvmkit-") as room:
            try:
                source = fetch(Path(room))
            except FvmError as error:
                reasons.append(str(error))
                continue
            install_from(source, folder, sums)
            return
    raise FvmError(f"no FreeRTOS kernel: {'; '.join(reasons)}", hint=ADVICE)


def install_kernel(root: Path, place: Path = FOLDER) -> None:
    """Make sure that `place` holds the kernel; FvmError when it can't be had, or is another."""
    folder = root / place
    sums = read_sums(folder.with_name("FreeRTOS-Kernel.sha256"))
    there = [name for name in sums if (folder / name).exists()]
    for name in there:
        path = folder / name
        if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != sums[name]:
            raise FvmError(
                f"not as in the FreeRTOS kernel {TAG}",
                file=path,
                hint=f"remove the folder {folder} and run make again",
            )
    if len(there) == len(sums):
        say(f"FreeRTOS kernel {TAG}: {place.parent.name} has it, SHA-256 sums agree")
        return
    given = os.environ.get("FREERTOS_KERNEL")
    if given:
        if not Path(given).is_dir():
            raise MissingError("FREERTOS_KERNEL names no folder", file=given)
        install_from(Path(given), folder, sums)
    else:
        fetch_and_install(folder, sums)
    say(f"FreeRTOS kernel {TAG}: {len(sums)} files for {place.parent.name}, SHA-256 sums agree")
