"""What fuzzing found worth keeping is run again with every test; no fuzzer is needed for that."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.targets import TARGETS

CORPUS = Path(__file__).parent / "corpus"
SMALLEST, LARGEST_KIB = 2, 64


@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", TARGETS)
def test_the_corpus_runs(name: str) -> None:
    files = sorted((CORPUS / name).iterdir())
    assert len(files) >= SMALLEST
    for file in files:
        TARGETS[name](file.read_bytes())


def test_the_corpus_stays_small() -> None:
    files = [path for path in CORPUS.rglob("*") if path.is_file()]
    assert {path.parent.name for path in files} == set(TARGETS)
    assert sum(path.stat().st_size for path in files) < 1 << 20
    assert max(path.stat().st_size for path in files) <= LARGEST_KIB << 10
