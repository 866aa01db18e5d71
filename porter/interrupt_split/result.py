"""What became of one handler."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from porter.failures import Failure
from porter.interrupt_split.capture import Field
from porter.interrupt_split.functions import Function
from porter.interrupt_split.native_section import MidSection
from porter.interrupt_split.sections import Section
from porter.interrupt_split.writers import Writers
from porter.program.definitions import Definition
from porter.project.domain import Split, Vector
from porter.source.edit import Edit


@dataclass
class HandlerSplit:
    """What became of one handler. `function` None: it wasn't found. Without `mid` it stays whole
    for the reasons in `escalated`, or is split already. `failure`: an error of fvmkit itself."""

    vector: Vector
    split: Split
    function: Function | None = None
    definition: Definition | None = None
    fields: Sequence[Field] = ()
    lines: Sequence[Section] = ()
    writers: Writers | None = None
    mid: MidSection | None = None
    edits: Sequence[Edit] = ()
    escalated: list[str] = field(default_factory=list)
    is_split_already: bool = False
    failure: Failure | None = None

    @property
    def handler(self) -> str:
        """The name that the description gives."""
        return self.vector.handler or ""

    def line(self) -> int | None:
        """Where it begins."""
        if self.function is None:
            return None
        return self.function.text.file.line(self.function.tree.start(self.function.node))
