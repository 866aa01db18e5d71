"""The domain that a project would have by the description which `init` drafts: what a port is
judged with where the new chip is of the old one's family."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from composer.chips.chip import Chip
from composer.description.parse import parse
from composer.emit.records import domain_record
from composer.init.facts import ProjectFacts
from composer.init.first import first_description
from composer.plan import Plan
from composer.resolve import resolve
from porter.project.domain import Domain, read_domain
from scanner.report.errors import FvmError


@dataclass(frozen=True)
class Drafted:
    """What init would write: the project's domain, what was read for it, and what it would ask."""

    domain: Domain
    facts: ProjectFacts
    questions: tuple[str, ...]


@contextmanager
def drafted(
    root: Path, host: Chip, progress: Callable[[str], None]
) -> Iterator[Drafted | None]:  # fmt: skip
    """None where init refuses the project, or compose what init would write."""
    with tempfile.TemporaryDirectory() as folder:
        yield _drafted(root, host, Path(folder), progress)


def _drafted(
    root: Path, host: Chip, folder: Path, progress: Callable[[str], None]
) -> Drafted | None:
    target = root.parent / "system.xml"
    file = folder / "system.xml"
    try:
        first = first_description([root], host.name, None, target, progress)
        facts = first.draft.machines[0].facts
        if first.problem is not None or facts.build.root != root:
            return None
        file.write_text(first.text, encoding="utf-8")
        plan = resolve(replace(parse(file), file=target), folder)
        return Drafted(
            _domain(plan, facts.name, folder),
            facts,
            tuple(str(decision) for _, decision in first.draft.all_decisions()),
        )
    except FvmError:
        return None


def _domain(plan: Plan, name: str, folder: Path) -> Domain:
    part = next(it for it in plan.domains if it.name == name)
    file = folder / f"{name}.domain.json"
    file.write_text(json.dumps(domain_record(plan, part, folder)), encoding="utf-8")
    return read_domain(file)
