"""One text with #if in it for several that differ, as somebody would write it by hand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import permutations

from porter.context_switch.variants import Key

_MOST_ORDERED = 4  # of which condition is asked first, all orders are tried: 24

Lines = tuple[str, ...]
Choices = tuple[tuple[Key, int], ...]


def under_conditions(texts: Sequence[tuple[Choices, Lines]]) -> Lines:
    """The lines of all texts; each configuration sees its own. All have the same keys."""
    keys = len(texts[0][0])
    orders = permutations(range(keys)) if keys <= _MOST_ORDERED else iter([tuple(range(keys))])
    merged = (_merge([(_in_order(it, order), text) for it, text in texts]) for order in orders)
    right = [it for it in merged if all(seen(it, dict(key)) == list(text) for key, text in texts)]
    return min(right, key=len, default=_chain(texts))


def _in_order(choices: Choices, order: Sequence[int]) -> Choices:
    return tuple(choices[place] for place in order)


def _merge(texts: Sequence[tuple[Choices, Lines]]) -> Lines:
    bodies = {lines for _, lines in texts}
    if len(bodies) == 1:
        return bodies.pop()
    (key, _), *_ = texts[0][0]
    arms: dict[int, list[tuple[Choices, Lines]]] = {}
    for ((_, number), *rest), lines in texts:
        arms.setdefault(number, []).append((tuple(rest), lines))
    merged = [_merge(arms[number]) for number in sorted(arms)]
    if len(set(merged)) == 1:
        return merged[0]
    if len(merged) > 2:
        return _chain([(((key, number),), text) for number, text in enumerate(merged)])
    return _joined(merged[0], merged[1], key[0])


def _joined(first: Lines, second: Lines, condition: str) -> Lines:
    """Lines of both once, the others under the condition that chooses them."""
    lines: list[str] = []
    ours, others = _units(first), _units(second)
    matcher = SequenceMatcher(None, ours, others, autojunk=False)
    for kind, start, end, other_start, other_end in matcher.get_opcodes():
        here = [line for unit in ours[start:end] for line in unit]
        there = [line for unit in others[other_start:other_end] for line in unit]
        if kind == "equal":
            lines += here
            continue
        lines.append(f"#if {condition if here else _opposite(condition)}")
        lines += here or there
        if here and there:
            lines += ["#else", *there]
        lines.append("#endif")
    return tuple(lines)


def _units(lines: Lines) -> list[Lines]:
    """Lines; whole is what stands from an #if to its #endif, and a comment of several lines."""
    units: list[Lines] = []
    depth = 0
    in_comment = False
    for line in lines:
        if depth or in_comment:
            units[-1] = (*units[-1], line)
        else:
            units.append((line,))
        depth += line.startswith("#if ")
        depth -= line == "#endif"
        if "/*" in line or in_comment:
            in_comment = "*/" not in line[line.rfind("/*") + 1 :]
    return units


def _chain(texts: Sequence[tuple[Choices, Lines]]) -> Lines:
    """Every text as a whole."""
    lines: list[str] = []
    for number, (choices, text) in enumerate(texts):
        condition = " && ".join(_chosen(key, chosen) for key, chosen in choices)
        word = "#else" if number == len(texts) - 1 else f"#{'el' if number else ''}if {condition}"
        lines += [word, *text]
    return (*lines, "#endif")


def _chosen(key: Key, number: int) -> str:
    words = [_opposite(text) for text in key[:number]]
    if number < len(key):
        words.append(key[number] if _is_simple(key[number]) else f"({key[number]})")
    return " && ".join(words)


def _opposite(condition: str) -> str:
    if not _is_simple(condition):
        return f"!({condition})"
    return condition[1:] if condition.startswith("!") else f"!{condition}"


def _is_simple(condition: str) -> bool:
    return re.fullmatch(r"!?(?:defined\(\w+\)|\w+(?:\(\w*\))?)", condition) is not None


def seen(lines: Sequence[str], choices: dict[Key, int]) -> list[str]:
    """What the compiler sees of the text in one configuration."""
    truth: dict[str, bool] = {}
    for key, number in choices.items():
        if len(key) == 1:
            truth |= {key[0]: number == 0, _opposite(key[0]): number != 0}
        for place in range(len(key) + 1):
            truth[_chosen(key, place)] = place == number

    def met(condition: str) -> bool:
        parts = [condition] if condition in truth else condition.split(" && ")
        return all(truth.get(part, False) for part in parts)

    visible: list[str] = []
    open_arms: list[tuple[bool, bool]] = []  # (this arm is seen, one before it was)
    for line in lines:
        if line.startswith("#if "):
            holds = met(line[4:])
            open_arms.append((holds, holds))
        elif line.startswith("#elif "):
            _, done = open_arms.pop()
            holds = not done and met(line[6:])
            open_arms.append((holds, done or holds))
        elif line in ("#else", "#endif"):
            _, done = open_arms.pop()
            if line == "#else":
                open_arms.append((not done, True))
        elif all(holds for holds, _ in open_arms):
            visible.append(line)
    return visible
