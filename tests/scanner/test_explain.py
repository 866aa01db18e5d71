"""`fvmkit explain`: every rule that scan can name has its lesson."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from scanner.arch.registry import ARCHITECTURES, architecture
from scanner.explain import explain
from scanner.report.errors import MissingError
from scanner.rules.file_rules import FILE_RULES


def run(*arguments: str) -> str:
    result = CliRunner().invoke(explain, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def every_rule() -> list[str]:
    rules = dict.fromkeys(FILE_RULES)
    for name in ARCHITECTURES:
        core = architecture(name)
        rules.update(dict.fromkeys(rule.id for rule in (*core.rules, *core.address_rules)))
    return list(rules)


def test_the_list_names_every_rule() -> None:
    listed = {line.split()[0] for line in run().splitlines()}
    assert listed == set(every_rule())


@pytest.mark.parametrize("rule", every_rule())
def test_every_rule_teaches(rule: str) -> None:
    for entry in json.loads(run("--json", rule))["rules"]:
        assert entry["rule"] == rule
        for part in ("why", "hardware", "fix", "manual"):
            assert entry[part].strip(), part
        text = " ".join(run(rule).split())
        for part in ("why", "hardware", "fix", "manual"):
            assert " ".join(entry[part].split()) in text


def test_the_manual_is_named_to_the_section() -> None:
    text = run("msr")
    assert "ARMv7-M ARM (DDI 0403E) B5.2.3" in text
    assert "armv7em" in text.splitlines()[0]


def test_case_does_not_matter() -> None:
    assert run("MSR") == run("msr")


def test_an_unknown_rule() -> None:
    with pytest.raises(MissingError, match="no rule 'mrr'; perhaps 'm") as caught:
        CliRunner().invoke(explain, ["mrr"], catch_exceptions=False)
    assert caught.value.exit_code == 2
