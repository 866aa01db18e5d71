"""One colour for each owner, the same in every picture: a class of the style sheet."""

from __future__ import annotations

from collections.abc import Mapping

from composer.plan import Plan

COLOURS = 8  # of the style sheet, d0 to d7; more domains begin again


def colours(plan: Plan) -> Mapping[str, str]:
    """Class by owner: the kernel, every domain, shared blocks."""
    found = {"kernel": "dk", "shared": "ds"}
    for domain in plan.domains:
        found[domain.name] = f"d{domain.index % COLOURS}"
    return found
