"""One object shows one configuration of `#if`; this makes the others.

A handler whose text has conditions inside is transcribed once for every combination of arms, so
that nothing the assembler happened to skip goes unread. Conditions of the same words choose alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from porter.context_switch.directives import sure_macros
from porter.context_switch.place import Place
from porter.context_switch.result import OWN_CONDITION, NotTranscribable, Unprepared
from porter.context_switch.together import possible
from porter.source.asm_text import blank_comments, dialect_of
from porter.source.c_lexer import SPLICE
from porter.source.comments import without_comments

_DIRECTIVE = re.compile(
    rb"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b((?:\\[^\S\n]*\n|[^\r\n])*)",
    re.MULTILINE,
)
_OWN = re.compile(rb"(?:^|[\s;\"])(\.if\w*[^\r\n\";\\]*)", re.MULTILINE)
_OF_PARAMETER = re.compile(rb"\.if\w*[\s(!]*")  # of a macro, which its call decides; `\x` follows
_NAME = re.compile(r"\b[A-Za-z_]\w*\b")
_NOT_DEFINED = re.compile(r"!defined\(\w+\)")
_RESERVED = re.compile(r"_[_A-Z]")
_TARGET = re.compile(r"__riscv_\w+")  # what the machine is, is decided
_MOST = 64
_DEEPEST = 4  # macros in macros
# What C functions have behind their assembler so that no compiler complains.
_FOR_WARNINGS = re.compile(r"\s*(?:(?:return\b[\w\s()]*|\(\s*void\s*\)\s*\w+\s*);\s*)*")


Span = tuple[int, int]  # [start, end) of a text
Key = tuple[str, ...]  # the conditions of a group in C, a negation taken off


@dataclass(frozen=True)
class Variant:
    """A file with the arms chosen. `choices`: by the conditions of each #if, which of them holds;
    as many as there are for none."""

    data: bytes
    choices: tuple[tuple[Key, int], ...]


def variants(
    data: bytes, file: str, spans: Sequence[Span], known: Callable[[str], bool]
) -> list[Variant]:
    """The file once for each choice of arms in some parts of it; empty where there are none.

    Every line stays where it was. `known` says whether the compiler or the project may define a
    name. NotTranscribable for conditions of the assembler's own, which C can't repeat; if the
    choices are too many to look at, or the conditions aren't closed inside the range. Unprepared if
    one tests a macro of another toolchain: here it is never true.
    """
    dialect = dialect_of(data)
    for start, end in spans:
        for own in _OWN.finditer(blank_comments(data[start:end], dialect)):
            if _OF_PARAMETER.fullmatch(own.group(1)):
                continue
            text = " ".join(own.group(1).decode("latin-1").split())
            with Place(file).told(data.count(b"\n", 0, start + own.start(1))):
                raise NotTranscribable(f"'{text}' {OWN_CONDITION}")
    groups = [group for span in spans for group in _groups(data, *span, known)]
    if not groups:
        return []
    for group in groups:
        for name in _unknown(group, known):
            raise Unprepared(
                f"an #if inside it tests {name}, which nothing here defines: let the build say "
                f"it for this file too (-D{name}=...), or ask for what GNU's compiler defines"
            )
    keys = list(dict.fromkeys(_key(group) for group in groups))
    # A number is a switch: somebody will change it, and others that are the same now aren't it.
    macros = {name: text for name, text in sure_macros(data).items() if _NAME.search(text)}
    combinations = possible([tuple(_expanded(it, macros) for it in key) for key in keys])
    if len(combinations) > _MOST:
        raise NotTranscribable(f"has {len(combinations)} combinations of #if arms")
    found = []
    for combination in combinations:
        choices = tuple(zip(keys, combination, strict=True))
        found.append(Variant(_chosen(data, groups, dict(choices)), choices))
    return found


def _expanded(condition: str, macros: Mapping[str, str]) -> str:
    """A condition with what macros in it stand for, but where it asks whether they are defined."""
    for _ in range(_DEEPEST):
        for name in set(_NAME.findall(condition)) & macros.keys():
            use = rf"(?<!defined\()\b{name}\b(?:\s*\(\s*\))?"
            text = f"({macros[name]})".replace("\\", "\\\\")
            condition = _in_one_form(re.sub(use, text, condition))
    return condition


@dataclass(frozen=True)
class _Arm:
    start: int
    end: int
    word: bytes
    condition: str  # in C; "" for else


def _groups(data: bytes, start: int, end: int, known: Callable[[str], bool]) -> list[list[_Arm]]:
    groups: list[list[_Arm]] = []
    open_groups: list[list[_Arm]] = []
    for match in _DIRECTIVE.finditer(data, start, end):
        word = match.group(1)
        arm = _Arm(match.start(), match.end(), word, _condition(word, match.group(2)))
        if word.startswith(b"if"):
            open_groups.append([arm])
        elif not open_groups:
            raise NotTranscribable("an #if begins or ends in the middle of the function")
        elif word == b"endif":
            group = open_groups.pop()
            of_tools = _unknown(group, known) and _defines(data[group[0].end : match.start()])
            is_decided = of_tools or _is_decided(group)
            if not is_decided and not _is_for_warnings(data, group, match.start()):
                groups.append(group)
        else:
            open_groups[-1].append(arm)
    if open_groups:
        raise NotTranscribable("an #if begins or ends in the middle of the function")
    return sorted(groups, key=lambda group: group[0].start)


def _unknown(group: list[_Arm], known: Callable[[str], bool]) -> list[str]:
    """Names of other tools' that a group asks for."""
    names = (name for arm in group for name in _NAME.findall(arm.condition))
    return [name for name in names if _RESERVED.match(name) and not known(name)]


def _defines(text: bytes) -> bool:
    """Whether a text only defines macros: asked which tool reads it, that is each one's words."""
    lines = SPLICE.sub(b" ", without_comments(text)).splitlines()
    return all(line.lstrip().startswith(b"#") for line in lines if line.strip())


def _is_for_warnings(data: bytes, group: list[_Arm], end: int) -> bool:
    """Whether no arm of an #if, up to the #endif, has anything that a naked function executes."""
    ends = [*(arm.start for arm in group[1:]), end]
    texts = (_bare(data[arm.end : end]) for arm, end in zip(group, ends, strict=True))
    return all(_FOR_WARNINGS.fullmatch(text) is not None for text in texts)


def _bare(text: bytes) -> str:
    """Without comments and without the backslashes that continue a line."""
    return SPLICE.sub(b" ", without_comments(text)).decode("latin-1")


def _is_decided(group: list[_Arm]) -> bool:
    """Whether a group asks for nothing but the machine."""
    names = {name for arm in group for name in _NAME.findall(arm.condition)} - {"defined"}
    return bool(names) and all(map(_TARGET.fullmatch, names))


def _condition(word: bytes, rest: bytes) -> str:
    text = " ".join(_bare(rest).split())
    if word in (b"ifdef", b"ifndef"):
        return f"{'!' if word == b'ifndef' else ''}defined({text.split()[0] if text else ''})"
    return _in_one_form(text)


def _in_one_form(condition: str) -> str:
    return re.sub(r"defined\s*\(\s*(\w+)\s*\)|defined\s+(\w+)", r"defined(\1\2)", condition)


def _negated(group: list[_Arm]) -> bool:
    """Whether a group asks for the opposite of what its key says."""
    first = group[0].condition
    return len([arm for arm in group if arm.condition]) == 1 and bool(_NOT_DEFINED.fullmatch(first))


def _key(group: list[_Arm]) -> Key:
    conditions = tuple(arm.condition for arm in group if arm.word != b"else")
    return (conditions[0].lstrip("!"),) if _negated(group) else conditions


def _chosen(data: bytes, groups: list[list[_Arm]], choice: dict[Key, int]) -> bytes:
    replaced: list[tuple[int, int, bytes]] = []
    for group in groups:
        number = choice[_key(group)]
        if _negated(group):
            number = 1 - number
        for index, arm in enumerate(group):
            value = b"1" if index == number else b"0"
            directive = b"#if " if arm.word.startswith(b"if") else b"#elif "
            lines = data[arm.start : arm.end].count(b"\n")
            replaced.append((arm.start, arm.end, directive + value + b"\n" * lines))
    for start, end, text in sorted(replaced, reverse=True):
        data = data[:start] + text + data[end:]
    return data
