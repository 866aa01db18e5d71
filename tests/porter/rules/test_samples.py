"""The samples that every rule carries are its tests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from porter.rules.registry import REVISIONS, RULES
from porter.rules.rule import Rule, Sample
from tests.porter.helpers import escalations, port_files

CASES = [
    pytest.param(rule, sample, id=f"{rule.id}-{number}")
    for rule in (*RULES, *REVISIONS)
    for number, sample in enumerate(rule.samples)
]
PORTED = [case for case in CASES if not case.values[1].escalates]
INCLUDES = re.compile(rb'#include (?:<fvm/guest\.h>|"fvm_domain\.h")\n+')


@pytest.mark.parametrize(("rule", "sample"), CASES)
def test_sample(rule: Rule, sample: Sample, tmp_path: Path) -> None:
    before = sample.before.encode()
    result = port_files(tmp_path, {"main.c": before})
    if sample.escalates:
        assert escalations(result), "nothing was escalated"
        assert any(
            verdict.rule == rule.id
            for port in result.files
            for verdict in port.verdicts
            if verdict.status.value == "escalated"
        )
        return
    assert escalations(result) == []
    ported = result.files[0].ported if result.files else before
    assert INCLUDES.sub(b"", ported).decode() == sample.after


@pytest.mark.parametrize(("rule", "sample"), PORTED)
def test_ported_sample_needs_no_second_port(rule: Rule, sample: Sample, tmp_path: Path) -> None:
    before = sample.before.encode()
    first = port_files(tmp_path, {"main.c": before})
    again = port_files(tmp_path, {"main.c": first.files[0].ported if first.files else before})
    assert not any(port.edits for port in again.files)


def test_every_rule_says_what_it_does() -> None:
    for rule in (*RULES, *REVISIONS):
        assert rule.id and rule.finds and rule.becomes and rule.why
    assert len({rule.id for rule in RULES}) == len(RULES)
