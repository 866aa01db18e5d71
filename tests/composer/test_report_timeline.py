"""A timeline file becomes a picture in the page, and nothing else becomes one."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from composer.report import timeline
from composer.report.timeline import read_timeline
from scanner.report.errors import FvmError, MissingError

SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><title>Who ran &amp; when</title></svg>'
BOMB = (
    b'<!DOCTYPE svg [<!ENTITY a "aaaaaaaaaa">%s]><svg xmlns="http://www.w3.org/2000/svg">&z;</svg>'
)


def test_a_picture_is_taken_over_byte_by_byte(tmp_path: Path) -> None:
    file = tmp_path / "t.svg"
    file.write_bytes(SVG)
    found = read_timeline(file)
    assert found.title == "Who ran & when"
    head, _, data = found.url.partition(",")
    assert head == "data:image/svg+xml;base64" and base64.b64decode(data) == SVG


@pytest.mark.parametrize(
    "content", [b"", b"\x00\xff", b"<html/>", b"<svg/>", SVG[:-3], b"<!DOCTYPE html><p>text"]
)
def test_what_is_no_picture_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "t.svg"
    file.write_bytes(content)
    with pytest.raises(FvmError, match=r"t\.svg: is no SVG.*fvmkit run --trace"):
        read_timeline(file)


def test_entities_that_unfold_without_end_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "t.svg"
    letters = "abcdefghijklmnopqrstuvwxyz"
    pairs = zip(letters[1:], letters, strict=False)
    entities = "".join(f'<!ENTITY {name} "{f"&{inner};" * 10}">' for name, inner in pairs)
    file.write_bytes(BOMB % entities.encode())
    with pytest.raises(FvmError, match=r"is no SVG: .*[Ee]ntity"):
        read_timeline(file)


def test_a_huge_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeline, "MOST_BYTES", 20)
    file = tmp_path / "t.svg"
    file.write_bytes(SVG)
    with pytest.raises(FvmError, match="has more than"):
        read_timeline(file)
    with pytest.raises(MissingError, match="nowhere"):
        read_timeline(tmp_path / "nowhere.svg")
