"""One text with #if in it for several that differ, as somebody would write it by hand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from porter.context_switch.variants import Key

Lines = tuple[str, ...]
Choices = tuple[tuple[Key, int], ...]


def under_conditions(texts: Sequence[tuple[Choices, Lines]]) -> Lines:
    """The lines of all texts; each configuration sees its own. All have the same keys."""
    merged = _merge(texts)
    if all(seen(merged, dict(choices)) == list(lines) for choices, lines in texts):
        return merged
    return _chain(texts)  # lines of two arms were taken for one another


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
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    for kind, start, end, other_start, other_end in matcher.get_opcodes():
        if kind == "equal":
            lines += first[start:end]
            continue
        here, there = first[start:end], second[other_start:other_end]
        lines.append(f"#if {condition if here else _opposite(condition)}")
        lines += here or there
        if here and there:
            lines += ["#else", *there]
        lines.append("#endif")
    return tuple(lines)


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
