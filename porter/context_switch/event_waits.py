"""WFE in a function that tasks call: a wait as WFI is, unless something other than an interrupt
may end it."""

from __future__ import annotations

from collections.abc import Iterable

from porter.context_switch.project_data import ProjectData
from porter.context_switch.result import NotTranscribable
from porter.registers.line_events import ASKS, LINE_EVENTS


def refuse_event_waits(texts: Iterable[str], project: ProjectData) -> None:
    """NotTranscribable for a WFE where the program makes lines send events, or where the function
    stores something: a request of its own, which has happened before the wait."""
    names = [text.lower().split(" ")[0] for text in texts]
    if not any(name.startswith("wfe") for name in names):
        return
    if project.sources_have(ASKS):
        raise NotTranscribable(LINE_EVENTS)
    if any(name.startswith(("st", "push", "vst", "vpush")) for name in names):
        raise NotTranscribable(
            "'wfe' in a function that stores something, which may request what ends the wait at "
            "once: an idle task waits by hyp_vct_wait(), with what masks around it as it is"
        )
