"""What the tests of one subject expect of a guest's `subject.key=value` lines."""

from __future__ import annotations

from collections.abc import Mapping


def about(values: Mapping[str, int], subject: str) -> dict[str, int]:
    """The values of one subject by their keys."""
    found = {
        key.removeprefix(f"{subject}."): value
        for key, value in values.items()
        if key.startswith(f"{subject}.")
    }
    assert found, f"the guest said nothing about {subject}: {dict(values)}"
    return found
