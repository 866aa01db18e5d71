"""Policies, waivers and baselines come from users: whatever is in them, an error has its place."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scanner.baseline import load_baseline
from scanner.policy import load_policy
from scanner.report.errors import FvmError
from scanner.waivers import load_waivers

WAIVER = {"image": "0" * 64, "rule": "cps", "address": 0, "reason": "r"}
SAMPLES: dict[str, tuple[Callable[[str], object], dict[str, Any]]] = {
    "policy": (
        load_policy,
        {
            "schema": 1, "name": "n", "arch": "armv7em", "fpu": True, "wfi": False, "svc": [1],
            "grants": [{"name": "g", "kind": "code", "base": 0, "size": 4}],
        },
    ),
    "waivers": (load_waivers, {"schema": 1, "waivers": [WAIVER]}),
    "baseline": (load_baseline, {"schema": 1, "files": {"a.elf": {"0" * 32: "cps: cpsid i"}}}),
}  # fmt: skip

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


def accepts(load: Callable[[str], object], path: Path) -> bool:
    """Whether the file is taken; anything but one line with its name is a failure."""
    try:
        load(str(path))
    except FvmError as error:
        assert str(error).startswith(str(path))
        assert "\n" not in str(error)
        assert error.exit_code == 1
        return False
    return True


@pytest.mark.parametrize("kind", SAMPLES)
def test_the_sample_is_taken(kind: str, tmp_path: Path) -> None:
    load, sample = SAMPLES[kind]
    path = tmp_path / "file.json"
    path.write_text(json.dumps(sample))
    assert accepts(load, path)


@pytest.mark.parametrize("kind", SAMPLES)
@settings(max_examples=150, deadline=None,
          suppress_health_check=[HealthCheck.function_scoped_fixture])  # fmt: skip
@given(data=st.data())
def test_any_value_anywhere(kind: str, tmp_path: Path, data: st.DataObject) -> None:
    load, sample = SAMPLES[kind]
    document = json.loads(json.dumps(sample))
    places: list[tuple[Any, Any]] = [
        (node, name) for node in _nodes(document) for name in _names(node)
    ]
    node, name = data.draw(st.sampled_from(places))
    if data.draw(st.booleans()):
        del node[name]
    else:
        node[name] = data.draw(VALUES)
    path = tmp_path / "file.json"
    path.write_text(json.dumps(document))
    accepts(load, path)


def test_a_name_ends_no_line(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_text(json.dumps({"schema": 1, "files": {"a\n\x1b[2J": None}}))
    assert not accepts(load_baseline, path)


@pytest.mark.parametrize("kind", SAMPLES)
@pytest.mark.parametrize(
    "content",
    [b"", b"\xff\xfe", b"{", b"[" * 100_000, b'{"schema": ' + b"9" * 5000 + b"}", b"null", b"[]"],
    ids=["empty", "no text", "cut", "deep", "endless number", "null", "list"],
)
def test_what_is_no_document(kind: str, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(content)
    assert not accepts(SAMPLES[kind][0], path)


def _nodes(node: Any) -> list[Any]:
    if not isinstance(node, (dict, list)):
        return []
    inner = node.values() if isinstance(node, dict) else node
    return [node, *(found for one in inner for found in _nodes(one))]


def _names(node: Any) -> list[Any]:
    return list(node) if isinstance(node, dict) else list(range(len(node)))
