"""That the campaign can fail: some crimes where the mechanism that stops them is missing. `make
faults` has a control for each class."""

from __future__ import annotations

import pytest

from tests.faults.controls import CONTROLS, UNPROTECTED, Control, build_changed, noticed
from tests.support.built import Built, once

pytestmark = pytest.mark.campaign


@pytest.mark.parametrize("control", [c for c in CONTROLS if c.short], ids=lambda c: c.name)
def test_without_the_mechanism_it_is_noticed(
    campaign: Built, tmp_path_factory: pytest.TempPathFactory, control: Control
) -> None:
    missing = control.missing
    changed = once(
        tmp_path_factory,
        f"campaign that {missing.name if missing else UNPROTECTED}",
        lambda room: build_changed(campaign, missing, room),
    )
    found = noticed(changed, control)
    assert any(line.startswith(control.breaks) for line in found), found
