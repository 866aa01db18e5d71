"""Whether what a handler calls touches registers that a call keeps, other than to save them.

On the machine those are the task's there, as far as the handler and the C on the way left them
alone: many a hook saves S16-S31. In a guest they are VCT's own, and the task's are in USR_REG.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import cached_property

from porter.context_switch.argument_words import ArgumentWords
from porter.context_switch.asm_statements import as_function, template_of, text_in
from porter.context_switch.assemble import Assembly
from porter.context_switch.c_nodes import function_name
from porter.context_switch.callees import Callees
from porter.context_switch.cplusplus import CplusplusText
from porter.context_switch.object_file import Function
from porter.context_switch.parts import Parts
from porter.context_switch.register_flow import RegisterFlow
from porter.context_switch.result import NotTranscribable
from porter.context_switch.resumers import Resumers, is_apart
from porter.context_switch.unread import Unread, is_name, unread
from porter.project.compile_options import CompileOptions
from porter.source.c_tree import Node, enclosing_function, one_line, text_of, walk

# Registers that calls keep, in assembler: r4-r11 and s16-s31 by all their names, a list that may
# have some, of RISC-V s0-s11 and x8, x9, x18-x27.
_KEPT = re.compile(
    rb"\b(?:r(?:[4-9]|1[01])|v[1-8]|s(?:[0-9]|[12]\d|3[01])|sb|sl|fp|d(?:[89]|1[0-5])|q[4-7]"
    rb"|x(?:[89]|1[89]|2[0-7])|vl(?:ldm|stm)|r\d\s*-\s*(?:r1[2-5]|ip|lr|pc))\b",
    re.IGNORECASE,
)
# What has no body here and is made to see or set its caller's: of C libraries and unwinders, and
# what a compiler knows itself.
_OF_LIBRARIES = re.compile(
    r"_*(?:sig)?(?:set|long)jmp|_*(?:get|set|swap|make)context|_*sigsetjmp|_+Unwind_\w+"
    r"|__gnu_[Uu]nwind_\w+|__aeabi_\w*unwind\w*|backtrace"
    r"|__builtin_(?:unwind_init|eh_return|(?:set|long)jmp(?:_\w+)?|apply(?:_args)?|return"
    r"|nonlocal_goto|dwarf_cfa)"
)
_CLOBBERED = re.compile(r'"\s*(\w+)\s*"')
_BETWEEN_STRINGS = re.compile(rb'"\s*"')


class KeptRegisters:
    """Looks at the functions of a project that no compiler made, and at asm in those that one
    did. What is a part of the handlers is ported with them."""

    def __init__(
        self,
        resumers: Resumers,
        callees: Callees,
        parts: Parts,
        unread: Unread,
        words: ArgumentWords,
    ) -> None:
        self._resumers, self._callees, self._parts = resumers, callees, parts
        self._unread, self._words = unread, words

    def refuse(self, called: Iterable[str]) -> None:
        """NotTranscribable where one of these functions, or one that it leads to, touches some, or
        has asm that can't be asked for it or for anything else."""
        for it in self._callees.of(called):
            if (file := self._unread.home_of(it.name)) is not None:
                raise NotTranscribable(
                    f"{it.road} of {file.name}, which can't be read there: does it touch what is "
                    "the task's, wait, or ask for a mask? Give it, and what stands in front of it, "
                    "a type (int f(void))"
                )
            if it.body.beside is not None:
                raise NotTranscribable(
                    f"{it.road}, which {it.body.beside.name} may define, and nobody looks into "
                    "that: does it touch what is the task's, wait, or ask for a mask? Add its "
                    "source to the project's folder"
                )
            for definition in it.body.definitions:
                if what := self._unread.why(definition):
                    raise NotTranscribable(
                        f"{it.road}, which {what}: does it touch what is the task's, wait, or ask "
                        "for a mask? Write instructions by their names, and registers too"
                    )
            if it.body.assembler and it.name not in self._assembled:
                raise NotTranscribable(
                    f"{it.road}, which can't be assembled: does it touch what is the task's, wait, "
                    "or ask for a mask? Give its file what it needs (-I DIR, -D NAME)"
                )
            if it.body.is_elsewhere and _OF_LIBRARIES.fullmatch(it.name):
                raise NotTranscribable(
                    f"{it.road}, which sees or sets registers that calls keep: on the machine "
                    "these are the task's, in a guest VCT's own. Let no handler come to it"
                )
            if it.name in self._touching and it.name not in self._parts.names:
                raise NotTranscribable(
                    f"{it.road} of {self._touching[it.name]}: on the machine these are the task's, "
                    "in a guest they are VCT's own there, and the task's are in USR_REG. Let the "
                    f"handler save and fetch them itself, or write {it.name}() in C over USR_REG"
                )
            if it.body.cplusplus is not None and (what := _doubt(it.body.cplusplus)):
                raise NotTranscribable(
                    f"{it.road}, which {it.body.cplusplus.file.name} names, C++ {what}: what is "
                    "called there isn't followed. Let C do it"
                )

    @cached_property
    def _assembled(self) -> frozenset[str]:
        """What assembler defines that can be looked at."""
        every = (*self._resumers.in_assembler(), *self._resumers.outside())
        return frozenset(name for _, _, function in every for name in function.names)

    @cached_property
    def _touching(self) -> dict[str, str]:
        """Where such functions are and what they do, by the names that the linker knows them by."""
        found: dict[str, str] = {}
        by_hand = (*self._resumers.by_hand(_KEPT), *self._resumers.outside())
        for file, assembly, function in by_hand:
            if is_apart(assembly, function) and (what := done_in(assembly, function, self._words)):
                found.update(dict.fromkeys(function.names, f"{file.name}, which {what}"))
        for file, statement in self._resumers.statements(_KEPT):
            around = enclosing_function(statement)
            if around is None or self._resumers.is_naked(file, around):
                continue
            if what := _done_by(statement, self._resumers.options, self._words):
                found[function_name(around).decode("latin-1")] = f"{file.name}, which {what}"
        return found


def _doubt(found: CplusplusText) -> str:
    """Why C++ may touch such registers, or do whatever; "" where it doesn't."""
    if found.unread:
        return f"which {found.unread}"
    unit = b"\n".join(map(template_of, found.statements))
    for statement in found.statements:
        if not is_name(statement) and (what := unread(statement, unit)):
            return f"which {what}"
        if _KEPT.search(_BETWEEN_STRINGS.sub(b"", text_of(statement))):
            return f"with asm that uses registers of its caller, '{one_line(statement)}'"
    return ""


def _done_by(statement: Node, options: CompileOptions, words: ArgumentWords) -> str:
    """What asm in a function of C does with registers that it doesn't say."""
    if not _KEPT.search(text_in(statement).encode("latin-1", "replace")):
        return ""
    made = as_function(statement, options)
    if made is None:
        return "has asm with registers of its caller that can't be read"
    clobbers = (it for it in walk(statement) if it.type == "gnu_asm_clobber_list")
    said = {name.lower() for it in clobbers
            for name in _CLOBBERED.findall(text_of(it).decode("latin-1"))}  # fmt: skip
    return done_in(made.assembly, made.function, words, made.operands, said)


def done_in(
    assembly: Assembly,
    function: Function,
    words: ArgumentWords,
    own: Collection[str] = (),
    said: Collection[str] = (),
) -> str:
    """As RegisterFlow.of_callers(), for a person."""
    flow = RegisterFlow(assembly, lambda _: None, "", words)
    if (found := flow.of_callers(function, own, said)) is not None:
        return f"{found} of its caller" if found else ""
    return f"{flow.misunderstood(function)} and may touch registers of its caller"
