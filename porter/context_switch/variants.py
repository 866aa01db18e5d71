"""One object shows one configuration of `#if`; this makes the others.

A handler whose text has conditions inside is transcribed once for every combination of arms, so
that nothing the assembler happened to skip goes unread.
"""

from __future__ import annotations

import re
from itertools import product

from porter.context_switch.result import NotTranscribable

_DIRECTIVE = re.compile(
    rb"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b([^\r\n]*)", re.MULTILINE
)
_MOST = 16


def variants(data: bytes, start: int, end: int) -> list[bytes]:
    """The file once for each choice of arms between two offsets; empty where there are none.

    Every line stays where it was. NotTranscribable if the choices are too many to look at, or
    the conditions aren't closed inside the range.
    """
    groups = _groups(data, start, end)
    if not groups:
        return []
    choices = [range(len(arms) + (b"else" not in [word for *_, word in arms])) for arms in groups]
    combinations = list(product(*choices))
    if len(combinations) > _MOST:
        raise NotTranscribable(f"has {len(combinations)} combinations of #if arms")
    return [_chosen(data, groups, combination) for combination in combinations]


_Arm = tuple[int, int, bytes]  # directive's [start, end) and its word


def _groups(data: bytes, start: int, end: int) -> list[list[_Arm]]:
    groups: list[list[_Arm]] = []
    open_groups: list[list[_Arm]] = []
    for match in _DIRECTIVE.finditer(data, start, end):
        word = match.group(1)
        if word.startswith(b"if"):
            open_groups.append([(match.start(), match.end(), word)])
        elif not open_groups:
            raise NotTranscribable("an #if begins or ends in the middle of the function")
        elif word == b"endif":
            groups.append(open_groups.pop())
        else:
            open_groups[-1].append((match.start(), match.end(), word))
    if open_groups:
        raise NotTranscribable("an #if begins or ends in the middle of the function")
    return groups


def _chosen(data: bytes, groups: list[list[_Arm]], combination: tuple[int, ...]) -> bytes:
    replaced: list[tuple[int, int, bytes]] = []
    for arms, choice in zip(groups, combination, strict=True):
        for number, (start, end, word) in enumerate(arms):
            value = b"1" if number == choice else b"0"
            text = b"#if " if word.startswith(b"if") else b"#elif "
            replaced.append((start, end, text + value))
    for start, end, text in sorted(replaced, reverse=True):
        data = data[:start] + text + data[end:]
    return data
