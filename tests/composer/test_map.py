"""The documents name what is there: every package folder, every link."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
DOCUMENTS = [CHECKOUT / "README.md", CHECKOUT / "CONTRIBUTING.md", *CHECKOUT.glob("docs/*.md")]


def test_the_map_shows_every_room() -> None:
    text = (CHECKOUT / "docs" / "architecture.md").read_text()
    rooms = [
        path.parent.relative_to(CHECKOUT).as_posix()
        for package in ("scanner", "porter", "composer")
        for path in (CHECKOUT / package).glob("*/__init__.py")
    ]
    assert rooms
    assert [room for room in rooms if f"| `{room}` |" not in text] == []
    named = re.findall(r"^\| `((?:scanner|porter|composer)/\w+)` \|", text, re.MULTILINE)
    assert sorted(named) == sorted(rooms)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+)\)", document.read_text())
    local = [target for target in targets if "://" not in target]
    assert [target for target in local if not (document.parent / target).exists()] == []
