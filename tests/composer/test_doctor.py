"""`fvmkit doctor` says what is missing and how to get it, and fails only for what is needed."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from composer.commands import doctor
from composer.setup.tools import Tool, version_of

LOST = Tool("qemu-system-arm", "qemu-system-arm", "fvmkit run", lambda: None)


def test_everything_here_is_fine() -> None:
    result = CliRunner().invoke(doctor.doctor, ["--json"], standalone_mode=False)
    report = json.loads(result.output)
    assert report["ok"] is True
    assert result.return_value == 0
    versions = {item["name"]: item["version"] for item in report["items"]}
    assert versions["arm-none-eabi-gcc"].count(".") == 2


def test_a_missing_tool_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "TOOLS", (LOST,))
    result = CliRunner().invoke(doctor.doctor, [], standalone_mode=False)
    assert result.return_value == 1
    assert "missing  qemu-system-arm" in result.output
    assert "apt-get install qemu-system-arm" in result.output


def test_a_missing_kernel_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "TOOLS", ())
    monkeypatch.setattr(doctor, "FOLDER", "nowhere")
    result = CliRunner().invoke(doctor.doctor, [], standalone_mode=False)
    assert result.return_value == 0
    assert "optional FreeRTOS kernel" in result.output


def test_a_tool_that_does_not_exist_has_no_version() -> None:
    assert version_of("no-such-tool-anywhere")() is None


def test_a_missing_optional_tool_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    browser = Tool("chromium", "chromium-headless-shell", "tests", lambda: None, needed=False)
    monkeypatch.setattr(doctor, "TOOLS", (browser,))
    result = CliRunner().invoke(doctor.doctor, [], standalone_mode=False)
    assert result.return_value == 0
    assert "optional chromium" in result.output
