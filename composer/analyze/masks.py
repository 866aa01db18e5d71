"""Where a program masks interrupts: how often, by what, and which functions do it most."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from composer.analyze.model import Count
from composer.analyze.switches import place
from porter.judging.verdict import Status, Verdict
from porter.port import Judged
from porter.result import FilePort
from porter.sites.site import SiteKind

_KINDS = (
    ("NVIC (single lines)", re.compile(r"(?i)nvic_(?:dis|en)able_?irq")),
    ("FAULTMASK", re.compile(r"(?i)faultmask|fault_irq|_fiq|cps(?:id|ie) f")),
    ("BASEPRI", re.compile(r"(?i)basepri")),
    ("PRIMASK", re.compile(r"(?i)primask|able_i(?:rq|nterrupt)|cps(?:id|ie)|interrupt_state")),
)  # fmt: skip
_MOST = 8
_NOT_RUN = frozenset({"file", "definition", "unlinked", "not-compiled", "switched-off", "unused"})


def masks_of(judged: Judged) -> tuple[tuple[Count, ...], tuple[Count, ...]]:
    """Sites by kind, and by file and function, the most first. Each instruction counts where it is
    written, so that a function of a library counts once, however often it is called."""
    kinds: dict[str, list[str]] = {}
    where: Counter[str] = Counter()
    first: dict[str, str] = {}
    for port, verdict in _sites(judged):
        kind = next((name for name, it in _KINDS if it.search(verdict.site.what)), None)
        if kind is None:
            continue
        at = place(port.file, verdict.site.start)
        kinds.setdefault(kind, []).append(at)
        function = f"{port.file.name}{f': {verdict.site.where}' if verdict.site.where else ''}"
        where[function] += 1
        first.setdefault(function, at)
    by_kind = [Count(kind, len(at), tuple(dict.fromkeys(at))[:3]) for kind, at in kinds.items()]
    by_kind.sort(key=lambda it: -it.count)
    most = tuple(Count(it, count, (first[it],)) for it, count in where.most_common(_MOST))
    return tuple(by_kind), most


def _sites(judged: Judged) -> Iterator[tuple[FilePort, Verdict]]:
    """Those of code that is built and runs."""
    for port in judged.docket.ports.values():
        for verdict in port.verdicts:
            in_code = verdict.site.kind in (SiteKind.INTRINSIC, SiteKind.ASM, SiteKind.CALL)
            idle = verdict.status is Status.LEFT and verdict.rule in _NOT_RUN
            if in_code and not idle:
                yield port, verdict
