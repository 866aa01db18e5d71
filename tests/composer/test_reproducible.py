"""The same description and sources make the same image, wherever: so an image can be made again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.built import build

pytestmark = pytest.mark.campaign

SYSTEM = Path(__file__).resolve().parents[1] / "runtime" / "systems" / "minimal.xml"


def test_an_image_has_the_same_bytes_in_every_folder(tmp_path: Path) -> None:
    first = build(SYSTEM, tmp_path / "a")
    again = build(SYSTEM, tmp_path / "somewhere else" / "deeper")
    images = [built.folder / "image" / "system.bin" for built in (first, again)]
    assert images[0].read_bytes() == images[1].read_bytes() != b""
