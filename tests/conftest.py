"""What every test relies on, whoever started it."""

from __future__ import annotations

import os
import signal

import pytest

from tests.support.campaign import FULL, sample

# In a shell's background SIGINT is ignored, under nohup SIGHUP is, and so they are by all that the
# tests start. What is to end by them would go on for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# Tests start the commands some thousand times, and each would compile the package anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_report_header() -> str:
    return f"campaigns: {'every case' if FULL else 'a sample of the cases, FVM_FULL=1 for all'}"


@pytest.hookimpl(trylast=True)  # of what -k and -m left
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of each campaign a sample: an eighth, or of `campaign(12)` a twelfth."""
    campaigns: dict[str, list[pytest.Item]] = {}  # by test: fixtures may part its cases
    for item in items:
        if item.get_closest_marker("campaign"):
            campaigns.setdefault(item.nodeid.partition("[")[0], []).append(item)
    left_out = set[pytest.Item]()
    for cases in campaigns.values():
        mark = cases[0].get_closest_marker("campaign")
        left_out |= {*cases} - {*sample(cases, *(mark.args if mark is not None else ()))}
    if left_out:
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=list(left_out))
