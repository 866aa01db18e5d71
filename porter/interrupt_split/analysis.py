"""The handlers of a machine against their split plans: three sections, or why one stays whole."""

from __future__ import annotations

from porter.failures import StepFailed, failure_of, step
from porter.interrupt_split.handler import HandlerWork
from porter.interrupt_split.refusal import At, Refusal
from porter.interrupt_split.result import HandlerSplit
from porter.interrupt_split.sources import Sources
from porter.project.domain import Split, Vector


def split_handlers(sources: Sources) -> list[HandlerSplit]:
    """One result a line with a plan."""
    return [
        _split(sources, vector, vector.split)
        for vector in sources.domain.vectors
        if vector.split is not None
    ]


def _split(sources: Sources, vector: Vector, split: Split) -> HandlerSplit:
    result = HandlerSplit(vector, split)
    try:
        with step(f"splitting {result.handler}", None, result.line, passes=(At, Refusal)):
            HandlerWork(sources, result).run()
    except StepFailed as error:
        name = result.function.text.file.name if result.function is not None else ""
        result.failure = failure_of(error, name or sources.domain.path.name)
        result.escalated.insert(0, str(result.failure))
    except At as refusal:
        name = result.function.text.file.name if result.function is not None else ""
        result.escalated.insert(0, f"{name}:{refusal.line}: {refusal.reason}")
    except Refusal as refusal:
        place = f"{refusal.place}: " if refusal.place else ""
        result.escalated.insert(0, f"{place}{refusal.reason}")
    if result.escalated:
        result.mid, result.edits = None, ()
    return result
