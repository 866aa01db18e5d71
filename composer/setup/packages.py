"""Install the system packages that are missing, where the system is a Debian."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from composer.setup.progress import run, say
from composer.setup.tools import Tool, missing_tools
from scanner.report.errors import FvmError


def by_hand(missing: list[Tool], why: str) -> FvmError:
    """The error that lists what to install, for a system that we can't install on."""
    lines = "".join(
        f"\n    {tool.name}: {tool.purpose} (Debian: {tool.package})" for tool in missing
    )
    return FvmError(
        f"{why}; please install these by hand, then run make again:{lines}\n"
        f"  on Debian and Ubuntu: apt-get install {' '.join(tool.package for tool in missing)}"
    )


def as_root() -> list[str] | None:
    """What to put before a command that needs root; None when there is no way to become root."""
    if os.geteuid() == 0:
        return []
    return ["sudo"] if shutil.which("sudo") else None


def apt_get(root: list[str], packages: list[str]) -> None:
    """Install Debian packages; FvmError when apt-get fails."""
    apt = [*root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-o", "Dpkg::Use-Pty=0"]
    try:
        run("reading the package lists (apt-get update)", [*apt, "update"])
    except FvmError as error:
        say(f"{error}; going on with the lists that are there")
    install = [*apt, "install", "-y", "--no-install-recommends", *packages]
    run(f"installing {' '.join(packages)}", install)


def is_known(package: str) -> bool:
    """Whether apt has a package of that name to install; also where it has read no lists yet."""
    if shutil.which("apt-cache") is None:
        return False
    if not any(Path("/var/lib/apt/lists").glob("*_Packages*")):
        return True
    done = subprocess.run(["apt-cache", "show", package], capture_output=True, check=False)
    return done.returncode == 0


def install_optional(missing: list[Tool]) -> None:
    """Bring in what is good to have; where that fails, say what goes without."""
    root = as_root()
    for tool in missing:
        try:
            if root is None or not is_known(tool.package):
                raise FvmError(f"can't install {tool.package} here")
            apt_get(root, [tool.package])
        except FvmError as error:
            say(f"{error}; going on without {tool.name}, for {tool.purpose}")


def install_packages() -> None:
    """Bring in every missing tool; FvmError with a list for the user where that isn't possible."""
    missing = missing_tools()
    if not missing:
        say("system packages: all there")
        return
    install_optional([tool for tool in missing if not tool.needed])
    missing = [tool for tool in missing if tool.needed]
    if not missing:
        return
    root = as_root()
    if shutil.which("apt-get") is None:
        raise by_hand(missing, "this system has no apt-get")
    if root is None:
        raise by_hand(missing, "packages are missing, and there is neither root nor sudo")
    try:
        apt_get(root, [tool.package for tool in missing])
    except FvmError as error:
        raise by_hand(missing, str(error)) from error
    still = [tool for tool in missing_tools() if tool.needed]
    if still:
        raise by_hand(still, "installed, but still not usable")
