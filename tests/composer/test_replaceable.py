"""Records, dumps and pages are written over earlier ones of their kind, and over nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from composer.commands.report import _GENERATOR
from composer.image.replaceable import check_replaceable
from composer.simulate.transcript import BEGINNING, Transcript
from scanner.report.errors import MissingError


def test_a_record_begins_as_the_check_expects(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    Transcript("system", "0" * 64).save(file)
    assert file.read_bytes().startswith(BEGINNING)


def test_a_page_says_who_made_it() -> None:
    templates = Path(__file__).parents[2] / "composer" / "report" / "templates"
    assert any(_GENERATOR in path.read_bytes() for path in templates.glob("*.j2"))


@pytest.mark.parametrize("content", [None, b"", b"ours, an earlier one"])
def test_what_is_not_there_or_ours_may_be_replaced(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "file"
    if content is not None:
        file.write_bytes(content)
    check_replaceable(file, "thing", lambda found: found.startswith(b"ours"))


def test_another_ones_file_may_not(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"a letter")
    with pytest.raises(MissingError, match="is there and is no thing; choose another name"):
        check_replaceable(file, "thing", lambda found: found.startswith(b"ours"))
