"""Lists of words answer as a search of the text does, and read each text once."""

import re
from pathlib import Path

import pytest

from porter.context_switch.word_lists import WordLists

TEXTS = {
    Path("a.c"): b'int rt_x = rt_xy + _a1; "PendSV_Handler"; f$1(0x1F);',
    Path("b.c"): b"caf\xe9 x-y rt_xyz\n",
    Path("empty.c"): b"",
}


@pytest.mark.parametrize(
    "name",
    [b"rt_x", b"rt_xy", b"rt_", b"a1", b"_a1", b"PendSV_Handler", b"f", b"f$1", b"x-y", b"x",
     b"0x1F", b"caf", b"caf\xe9", b"", b"nothing"],
)  # fmt: skip
def test_answers_as_a_search_of_the_text(name: bytes) -> None:
    lists = WordLists(TEXTS.__getitem__)
    word = re.compile(rb"\b%s\b" % re.escape(name))
    assert {it: lists.has(it, name) for it in TEXTS} == {
        it: word.search(text) is not None for it, text in TEXTS.items()
    }


def test_each_text_is_read_once_however_many_names_are_asked_for() -> None:
    read: list[Path] = []

    def text_of(file: Path) -> bytes:
        read.append(file)
        return TEXTS[file]

    lists = WordLists(text_of)
    for number in range(1000):
        assert not any(lists.has(file, b"name%d" % number) for file in TEXTS)
    assert sorted(read) == sorted(TEXTS)
