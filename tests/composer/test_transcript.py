"""What `fvmkit run --record` writes down, and what becomes of a file that it never wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from composer.simulate import transcript
from composer.simulate.log import parse
from composer.simulate.transcript import Line, Transcript, read_recording
from scanner.report.errors import FvmError, MissingError

FAULT = 'fvm: fault domain=alpha cause=memory tick=7 task="idle"'


def written(tmp_path: Path, talk: Transcript) -> transcript.Recording:
    talk.save(tmp_path / "run.json")
    return read_recording(tmp_path / "run.json")


def test_a_conversation_comes_back_in_order(tmp_path: Path) -> None:
    talk = Transcript("tiny", "0" * 64)
    talk.said("alpha", b"hel")
    talk.typed("alpha", b"st")
    talk.said("alpha", b"lo\r\n> ")
    talk.typed("alpha", b"atus\r")
    talk.logged(parse(FAULT), "alpha rebooted")
    talk.checked("all is well", False)
    run = written(tmp_path, talk)
    assert [(line.kind, line.who, line.sentence or line.text) for line in run.lines] == [
        ("said", "alpha", "hello"),
        ("typed", "alpha", "status"),
        ("log", "alpha", "alpha rebooted"),
        ("check", "", "all is well"),
        ("said", "alpha", "> "),
    ]
    assert run.lines[2].fields["tick"] == "7" and not run.lines[3].kept
    assert (run.system, run.image, run.left_out) == ("tiny", "0" * 64, 0)


def test_only_the_last_statistics_of_a_domain_are_kept(tmp_path: Path) -> None:
    talk = Transcript("tiny", "")
    for ticks in (1, 2):
        talk.logged(parse(f"fvm: stat tick=9 domain=alpha ticks={ticks} dropped=0"), "")
    run = written(tmp_path, talk)
    assert run.lines == () and run.stats["alpha"]["ticks"] == "2"


def test_what_moves_a_cursor_is_not_written_down(tmp_path: Path) -> None:
    talk = Transcript("tiny", "")
    talk.said("alpha", b"\x1b[2Jgone\x00\xff\xe2\x80\xae\n")
    assert written(tmp_path, talk).lines == (Line("said", "alpha", "?[2Jgone???"),)


def test_a_guest_that_talks_without_end_fills_no_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcript, "MOST_LINES", 3)
    talk = Transcript("tiny", "")
    talk.said("alpha", b"a\n" * 5)
    talk.said("beta", b"x" * 10_000)
    run = written(tmp_path, talk)
    assert len(run.lines) == 3 and run.left_out == 3


def test_a_line_without_end_is_cut(tmp_path: Path) -> None:
    talk = Transcript("tiny", "")
    for _ in range(100):
        talk.said("alpha", b"x" * 50)
    assert all(len(line.text) <= 450 for line in written(tmp_path, talk).lines)


GOOD: dict[str, Any] = {
    "schema": 1, "system": "tiny", "image": "", "left_out": 0, "lines": [], "stats": [],
}  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "nonsense",
        "[" * 100_000,
        *(
            json.dumps(GOOD | changed)
            for changed in (
                {"schema": 2},
                {"lines": 7},
                {"lines": [7]},
                {"lines": [{"kind": "said"}]},
                {"lines": [{"kind": "shouted", "from": "a", "text": "b"}]},
                {"lines": [{"kind": "log", "from": "a", "text": "b", "fields": 3}]},
                {"stats": [{}]},
                {"left_out": "many"},
            )
        ),
    ],
)
def test_a_file_that_is_no_recording_is_refused_with_advice(tmp_path: Path, text: str) -> None:
    file = tmp_path / "run.json"
    file.write_text(text)
    with pytest.raises(FvmError, match=r"run\.json: .*fvmkit run --record"):
        read_recording(file)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match=r"nowhere\.json"):
        read_recording(tmp_path / "nowhere.json")


def test_a_recording_made_by_hand_is_cleaned(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    line = {"kind": "said", "from": "al\u202epha", "text": "\x1b]0;x\x07"}
    file.write_text(json.dumps(GOOD | {"lines": [line]}))
    assert read_recording(file).lines == (Line("said", "al?pha", "?]0;x?"),)


def test_a_huge_recording_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcript, "MOST_BYTES", 10)
    file = tmp_path / "run.json"
    file.write_text(json.dumps(GOOD))
    with pytest.raises(FvmError, match="has more than"):
        read_recording(file)
