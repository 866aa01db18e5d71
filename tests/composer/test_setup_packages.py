"""Missing packages are installed, or listed so that a person can install them."""

from __future__ import annotations

import pytest

from composer.setup import packages
from composer.setup.tools import Tool
from scanner.report.errors import FvmError

BROWSER = Tool("chromium", "chromium-headless-shell", "a picture", lambda: None, needed=False)
GCC = Tool("arm-none-eabi-gcc", "gcc-arm-none-eabi", "compiling", lambda: None)


def test_where_apt_get_is_missing_the_list_names_package_and_purpose(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(packages, "missing_tools", lambda: [GCC])
    monkeypatch.setattr(packages.shutil, "which", lambda name: None)
    with pytest.raises(FvmError, match=r"(?s)no apt-get.*compiling \(Debian: gcc-arm-none-eabi\)"):
        packages.install_packages()


def test_not_root_goes_through_sudo(monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []
    state = [[GCC], []]
    monkeypatch.setattr(packages, "missing_tools", lambda: state.pop(0))
    monkeypatch.setattr(packages.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(packages.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(packages, "run", lambda what, argv: commands.append(argv))
    packages.install_packages()
    assert [argv[0] for argv in commands] == ["sudo", "sudo"]
    assert commands[1][-1] == "gcc-arm-none-eabi"


def test_a_failed_installation_ends_with_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(what: str, argv: list[str]) -> None:
        raise FvmError("apt-get failed")

    monkeypatch.setattr(packages, "missing_tools", lambda: [GCC])
    monkeypatch.setattr(packages.os, "geteuid", lambda: 0)
    monkeypatch.setattr(packages.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(packages, "run", fail)
    with pytest.raises(FvmError, match=r"apt-get install gcc-arm-none-eabi"):
        packages.install_packages()


def test_what_is_only_good_to_have_stops_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(what: str, argv: list[str]) -> None:
        raise FvmError("apt-get failed")

    monkeypatch.setattr(packages, "missing_tools", lambda: [BROWSER])
    monkeypatch.setattr(packages.os, "geteuid", lambda: 0)
    monkeypatch.setattr(packages, "is_known", lambda package: True)
    monkeypatch.setattr(packages, "run", fail)
    packages.install_packages()
    assert "apt-get failed; going on without chromium, for a picture" in capsys.readouterr().err


def test_a_package_that_apt_does_not_know_is_not_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(packages, "missing_tools", lambda: [BROWSER])
    monkeypatch.setattr(packages.os, "geteuid", lambda: 0)
    monkeypatch.setattr(packages, "is_known", lambda package: False)
    monkeypatch.setattr(packages, "apt_get", lambda root, names: pytest.fail("asked for it"))
    packages.install_packages()
    assert "can't install chromium-headless-shell here" in capsys.readouterr().err
