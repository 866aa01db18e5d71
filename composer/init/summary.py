"""What init found, for people and for programs."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from composer.init.first import First


def summary(first: First, target: str) -> str:
    """A few lines: what each machine got, what is to be decided."""
    lines = []
    for machine in first.draft.machines:
        facts = machine.facts
        devices = ", ".join(use.name for use in machine.devices) or "none"
        lines.append(
            f"{facts.name}: {len(facts.build.sources)} source patterns (by {facts.build.source}),"
            f" {len(machine.lines)} interrupts, {len(machine.pins)} pins, devices {devices}"
        )
    decisions = list(first.draft.all_decisions())
    for owner, decision in decisions:
        lines.append(f"DECIDE {owner + ': ' if owner else ''}{decision}")
    lines.append(f"{len(decisions)} to decide in {target}")
    return "\n".join(lines)


def as_json(first: First, target: str) -> str:
    """Every fact with its places."""
    draft = first.draft
    data: dict[str, Any] = {
        "schema": 1,
        "description": target,
        "chip": draft.chip.name,
        "board": draft.board.name if draft.board else None,
        "problem": str(first.problem) if first.problem else None,
        "console": draft.console.device,
        "tick_hz": draft.tick_hz,
        "clocks": dataclasses.asdict(draft.clocks),
        "machines": [
            {
                **{
                    key: value
                    for key, value in dataclasses.asdict(machine.facts).items()
                    if key != "decisions"
                },
                "sizes": {
                    key: value
                    for key, value in dataclasses.asdict(machine.sizes).items()
                    if key != "decisions"
                },
                "lost": [dataclasses.asdict(lost) for lost in machine.lost],
            }
            for machine in draft.machines
        ],
        "decisions": [
            {"machine": owner or None, "text": decision.text, "places": list(decision.places)}
            for owner, decision in draft.all_decisions()
        ],
    }
    return json.dumps(data, indent=1, default=_plain) + "\n"


def _plain(value: object) -> str:
    return value.as_posix() if isinstance(value, Path) else str(value)
