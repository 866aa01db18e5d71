"""The split handlers in the port: their edits among those of the rules, and a verdict for each."""

from __future__ import annotations

from collections.abc import Sequence

from porter.interrupt_split.result import HandlerSplit
from porter.judging.docket import Docket
from porter.judging.verdict import Status, Verdict
from porter.sites.site import Site, SiteKind
from porter.source.edit import Edit

RULE = "interrupt-split"


def with_split_edits(edits: Sequence[Edit], splits: Sequence[HandlerSplit]) -> list[Edit]:
    """All edits of a file. A split whose text another rule rewrites is given up."""
    together = list(edits)
    for split in splits:
        meeting = [edit for edit in edits if any(_overlap(edit, own) for own in split.edits)]
        if meeting:
            split.edits, split.mid = (), None
            file = split.function.text.file if split.function is not None else None
            place = f"{file.name}:{file.line(meeting[0].start)}: " if file is not None else ""
            split.escalated.append(
                f"{place}another rule rewrites the same text: take it out of the handler"
            )
        together += split.edits
    return sorted(together)


def _overlap(left: Edit, right: Edit) -> bool:
    return left.start < right.end and right.start < left.end


def judge_splits(docket: Docket) -> None:
    """Each handler with a plan has a verdict about it, instead of that on its vector."""
    for split in docket.splits:
        definition = split.definition
        if definition is None:
            continue  # the rule on vectors says that there is no such handler
        status, reason = _judge(split)
        file = definition.file
        name = split.handler
        site = Site(file.name, definition.start, definition.end, SiteKind.VECTOR, name, name)
        verdict = Verdict(site, status, RULE, reason, tuple(split.edits))
        if any(it.site == site for it in docket.verdicts()):
            docket.change({site: verdict})
        else:
            docket.add(file, [verdict])


def _judge(split: HandlerSplit) -> tuple[Status, str]:
    middle = f"mid-section {split.split.section} in {split.split.process}"
    if split.is_split_already:
        return Status.LEFT, f"takes its records from the {middle} already"
    if split.escalated:
        reasons = "; ".join(split.escalated)
        return Status.ESCALATED, (
            f"can't be split, so take <split> out of the description or: {reasons}"
        )
    names = ", ".join(field.name for field in split.fields)
    return Status.REWRITTEN, f"runs once a record of the {middle}, which reads {names}"
