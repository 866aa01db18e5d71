"""Context-switch handlers: from the machine instructions of the project's object to C.

`transcribe_project` is the entry point. The road of one handler: assemble -> object_file ->
decode -> lift (into ir) -> dataflow -> webs -> structure -> emit_c; roles says what a function
is, pick derives the cooperative half, source_text and edits put the C in place.
"""

from __future__ import annotations

from porter.context_switch.project import transcribe_project
from porter.context_switch.result import SwitchPort

__all__ = ["SwitchPort", "transcribe_project"]
