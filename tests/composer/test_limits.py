"""The limits that docs/system-description.md names are those that compose has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from composer import plan
from composer.description import check_domain, check_run_time
from scanner.report.errors import FvmError
from tests.composer import systems

TEXT = (Path(__file__).parents[2] / "docs" / "system-description.md").read_text("utf-8")
SECTION = TEXT.split("## Limits")[1].split("\n## ")[0]


def test_the_table_has_the_numbers_of_the_composer() -> None:
    table = dict(re.findall(r"^\| ([^|]+) \| (\d+K?) \|$", SECTION, re.MULTILINE))
    assert table == {
        "domains": str(plan.DOMAINS_MAX - 1),
        "VMs": str(plan.VMS_MAX),
        "threads a process": str(plan.THREADS_MAX),
        "ticks of VMs, watchdogs and timers": str(plan.ALARMS_MAX),
        "signals": str(plan.INDICES_MAX),
        "events": str(plan.INDICES_MAX),
        "vectors a VM": str(plan.VECTORS_MAX),
        "ports": str(plan.PORTS_MAX),
        "slots a process": str(plan.SLOTS_MAX),
        "slots": str(plan.SLOTS_OF_ALL_MAX),
        "slots and capabilities with `delegate`, together, where there are slots": str(
            plan.NODES_MAX
        ),
        "kernel memory": f"{check_run_time.MEMORY_MAX // 1024}K",
        "characters of a domain's name": "23",
        "characters of other names": "31",
    }
    assert f"least {check_domain.SMALLEST_STACK} bytes" in " ".join(SECTION.split())


@pytest.mark.parametrize(("name", "most"), [('name="two"', 23), ('shared name="link"', 31)])
def test_names_are_as_long_as_it_says(tmp_path: Path, name: str, most: int) -> None:
    longest = "x" * most
    element = name.split('"')[0]
    others = (
        (' to="two"', f' to="{longest}"'),
        ('from="two" to="one"', f'from="{longest}" to="one"'),
    )
    others += (('from="two" to="beater"', f'from="{longest}" to="beater"'),)
    others += (('<user domain="two"', f'<user domain="{longest}"'),)
    changes = others if most == 23 else ()
    systems.plan_of(tmp_path, (name, f'{element}"{longest}"'), *changes)
    with pytest.raises(FvmError, match=f"use at most {most}"):
        systems.plan_of(tmp_path, (name, f'{element}"{longest}x"'), *changes)
