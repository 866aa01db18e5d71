"""Loops that constants bound, as the sequence of their rounds.

One round after the other is taken off the front of a loop; where the loop counts, constants then
decide that the next one isn't entered. A loop that this doesn't end stays, and is refused later.
"""

from __future__ import annotations

from dataclasses import replace

from porter.context_switch.dataflow import Environment, propagate
from porter.context_switch.ir import Block, Branch, Jump, Program, Terminator

_MOST_ROUNDS = 32
_MOST_STATEMENTS = 1000


def unroll(program: Program, entry: Environment) -> None:
    """Replace the loops that end after at most 32 rounds; `entry` is what is known at the start."""
    blocks = {key: Block(list(it.statements), it.end) for key, it in program.blocks.items()}
    trial = Program(program.entry, blocks)
    for _ in range(_MOST_ROUNDS):
        loop = loop_of(trial)
        if loop is None:
            program.entry, program.blocks = trial.entry, trial.blocks
            return
        _peel(trial, *loop)
        propagate(trial, entry)
        if sum(len(block.statements) for block in trial.blocks.values()) > _MOST_STATEMENTS:
            return


def loop_of(program: Program) -> tuple[int, set[int]] | None:
    """The first block of a loop, and all its blocks."""
    place = {key: index for index, key in enumerate(program.order())}
    for key in place:
        for head in program.blocks[key].successors():
            if place[head] <= place[key]:
                return head, _body(program, head, key)
    return None


def _body(program: Program, head: int, last: int) -> set[int]:
    """What leads to the loop's last block without passing its first."""
    body, waiting = {head}, [last]
    while waiting:
        key = waiting.pop()
        if key not in body:
            body.add(key)
            waiting += [other for other, it in program.blocks.items() if key in it.successors()]
    return body


def _peel(program: Program, head: int, body: set[int]) -> None:
    """Put a copy of the body in front of the loop: its first round."""
    first = max(program.blocks) + 1
    copies = {key: first + index for index, key in enumerate(sorted(body))}
    inside = {key: copy for key, copy in copies.items() if key != head}
    for key in body:
        block = program.blocks[key]
        program.blocks[copies[key]] = Block(list(block.statements), led(block.end, inside))
    for key, block in program.blocks.items():
        if key not in body and key not in copies.values():
            block.end = led(block.end, {head: copies[head]})
    if program.entry == head:
        program.entry = copies[head]


def led(end: Terminator, places: dict[int, int]) -> Terminator:
    """The end of a block, to other places."""
    if isinstance(end, Jump):
        return replace(end, target=places.get(end.target, end.target))
    if isinstance(end, Branch):
        taken = places.get(end.taken, end.taken)
        return replace(end, taken=taken, otherwise=places.get(end.otherwise, end.otherwise))
    return end
