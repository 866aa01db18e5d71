"""Starts that call C which looks at the task: from there on VCT runs them.

PSP is set to a mark, and a hook in C leads to a part of the handlers (`parts`), before the first
task's exception frame is taken apart.
"""

from __future__ import annotations

from porter.context_switch.first_task import (
    First,
    is_mask,
    kept_as,
    once,
    opens_mask,
    resumed_by,
    sets_psp,
)
from porter.context_switch.ir import (
    Block,
    Call,
    Guest,
    Load,
    Note,
    Program,
    Resume,
    Statement,
    Store,
    Symbol,
    Var,
)
from porter.context_switch.kinds import INTEGER
from porter.context_switch.result import NotTranscribable


def first_in_vct(program: Program, name: str) -> First | None:
    """What a start does from the first write of PSP on, if C that it calls there looks at the
    task: in USR nobody has one. Handlers don't nest, as nothing came in between in the original;
    what is pending waits till the task's stack is there."""
    calls = [it for block in program.blocks.values() for it in block.statements
             if isinstance(it, Call) and it.moves_stack]  # fmt: skip
    if not calls:
        return None
    for block in program.blocks.values():
        ends = [n for n, it in enumerate(block.statements) if isinstance(it, Resume)]
        sets = [n for n, it in enumerate(block.statements) if sets_psp(it)]
        if ends and sets and all(it in block.statements[sets[0] : ends[0]] for it in calls):
            break
    else:
        raise NotTranscribable(
            f"calls {calls[0].function}(), which looks at the task, before it sets PSP or on one "
            "way of several: let the switch handler begin with the first task"
        )
    start, end = sets[0], ends[0]
    tail, resume = block.statements[start:end], block.statements[end]
    assert isinstance(resume, Resume)
    first = resumed_by(Block([*block.statements[:end], resume]), end, resume, name)
    if not opens_mask(tail) or first.variables or any(_is_effect(it) for it in tail):
        raise NotTranscribable(
            f"calls {calls[0].function}(), which looks at the task, and doesn't just open PRIMASK "
            "and take the task's exception frame apart behind it"
        )
    last = max(n for n, it in enumerate(tail) if it in calls)
    kept = kept_as(name, "BASEPRI")
    block.statements[start:] = [
        Store((), Symbol(kept), Var("BASEPRI")),
        Guest((), "virt_int_mask", ("VIRT_BASEPRI",)),
        once(name, resume.origin),
        *(it for it in tail if is_mask(it, "virt_int_unmask")),
    ]
    before = [Note(it.origin, "") if sets_psp(it) and n > last else it
              for n, it in enumerate(tail) if not is_mask(it)]  # fmt: skip
    reopened = Guest((), "virt_int_restore", ("VIRT_BASEPRI", Load(Symbol(kept))))
    return First(first.statements, ((kept, INTEGER),), (reopened, *before))


def _is_effect(statement: Statement) -> bool:
    """Whether a statement calls the guest's library, but for PRIMASK: its place matters."""
    return isinstance(statement, Guest) and not is_mask(statement)
