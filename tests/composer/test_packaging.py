"""An installed fvmkit has every file that the checkout has."""

from __future__ import annotations

import configparser
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
PACKAGES = ("composer", "fvm-runtime", "porter", "rtos-patches", "scanner")


def data_files(package: str) -> list[Path]:
    """Everything in a package that is no Python source and was not made by running it."""
    return [
        path.relative_to(CHECKOUT / package)
        for path in (CHECKOUT / package).rglob("*")
        if path.is_file() and path.suffix not in (".py", ".pyc")
    ]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_data_file_is_packaged(package: str) -> None:
    setup = configparser.ConfigParser()
    setup.read(CHECKOUT / "setup.cfg")
    patterns = setup["options.package_data"]["*"].split(", ")
    left_out = [
        path
        for path in data_files(package)
        # `**/` also stands for no folder at all, which Path.match does not know.
        if not any(path.match(pattern.replace("**/", "")) for pattern in patterns)
    ]
    assert left_out == []
    assert (CHECKOUT / package / "__init__.py").is_file()
