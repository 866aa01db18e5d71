"""What a rule may ask about the project as a whole; found out when somebody asks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from typing import Protocol

from porter.flow.dead_branches import DeadBranches
from porter.flow.field_values import FieldValues
from porter.flow.fixed_clock import fixed_clock
from porter.flow.kept_numbers import KeptNumber, KeptNumbers
from porter.program.c_text import CText
from porter.program.calls import FunctionCall, calls_of
from porter.program.knowledge import Knowledge
from porter.program.linked import Linked
from porter.program.macro_uses import MacroUse, calls_in, macros_with, named_in
from porter.program.stated_macros import StatedMacros
from porter.sites.context import Context, function_name
from porter.sites.fixed_values import is_fixed
from porter.sites.local_names import declarations
from porter.sites.own_words import own_words
from porter.source.c_tree import Node, text_of
from porter.source.declarations import is_static
from porter.source.declared import declared_name
from porter.source.evaluate import no_scope
from porter.source.source_file import SourceFile
from porter.source.values import Number, Value

# What names SysTick's interrupt, or a function of a library that lets it come.
_TICK = re.compile(
    rb"TICKINT|\bSysTick_Config\b|SYSTICK_EnableIT|SYSTICK_Config|systick_interrupt_enable"
    rb"|SysTick(?:_ITConfig|IntEnable)"
)


@dataclass(frozen=True)
class Questions:
    """What C of the whole project asks for more of than a machine has: the level of BASEPRI or the
    exception's number that a function reads, CONTROL that it reads or writes. "" for none."""

    level_compared: Callable[[str], str]
    number_asked: Callable[[str], str]
    control_asked: Callable[[str], str]


class SupervisorCalls(Protocol):
    """Those that put the function they want into r12, where all of the project do."""

    def made_by(self, function: str) -> bool:
        """Whether a C function makes such a call; of "" whether any does."""

    def runs_only_for_calls(self, function: str) -> bool:
        """Whether nothing has a function's name but such calls: it runs in their handler."""


class ProjectFacts:
    """Answers for the files that take part in the ported build.

    `program`: what of them is linked and runs. `questions`: which C asks for more than a
    machine has. `supervisor`: what its supervisor calls say. `may_set_psp`: whether anything but
    handlers may do that, `puts_callers_on_psp` whether the start of an OS does; `writes_control`:
    whether anything but calls of CMSIS' function does; `handles_tick`: whether a handler of the
    tick does something. `old_clock`: hertz of the old chip's core,
    where a person says it.
    """

    def __init__(
        self,
        knowledge: Knowledge,
        sources: Iterable[SourceFile],
        program: Linked,
        questions: Questions,
        supervisor: SupervisorCalls,
        may_set_psp: Callable[[], bool],
        writes_control: Callable[[], bool],
        puts_callers_on_psp: Callable[[], bool],
        handles_tick: Callable[[], bool],
        old_clock: int | None = None,
    ) -> None:
        self._knowledge = knowledge
        self._all = list(sources)
        self._sources = [source for source in self._all if not source.is_asm]
        self.program = program
        self.level_compared = cache(questions.level_compared)
        self.number_asked = cache(questions.number_asked)
        self.control_asked = questions.control_asked
        self._stated_clock = old_clock
        self.supervisor = supervisor
        self.may_set_psp = cache(may_set_psp)
        self.writes_control = cache(writes_control)
        self.puts_callers_on_psp = puts_callers_on_psp
        self._handles_tick = handles_tick
        self._calls: dict[str, list[FunctionCall]] = {}
        self._readings: dict[Path, list[CText]] = {}
        self._constants: dict[bytes, Value | None] = {}
        self._running_uses: dict[bytes, list[MacroUse]] = {}

    @cached_property
    def fields(self) -> FieldValues:
        """What the project puts into fields of structs."""
        return FieldValues(self._knowledge, self._all, self.program)

    @cached_property
    def branches(self) -> DeadBranches:
        """Which branches nothing leads to."""
        return DeadBranches(
            self.fields,
            self.program.why_not,
            self._other_readings,
        )

    def prepare(self) -> Iterator[str]:
        """Find out what nearly every file asks, and say before each step what it is."""
        yield "what is linked"
        self.program.why_not("")
        yield "what never runs, and uses of macros"
        _ = self.branches, self._macro_uses, self._macros_with

    def _other_readings(self, text: CText) -> Sequence[CText]:
        path = text.file.path
        if path not in self._readings:
            self._readings[path] = [it for _, it in self._knowledge.other_readings(text.file)]
        return self._readings[path]

    @cached_property
    def polls_timer(self) -> bool:
        """Whether the program never lets SysTick interrupt: nothing that runs says so, and it has
        no handler, or one that does nothing."""
        return self.program.is_whole and not self._handles_tick() and not self._starts_tick()

    def _starts_tick(self) -> bool:
        texts = (self._knowledge.text(it) for it in self._sources if _TICK.search(it.data))
        return any(
            self.why_never(text, token.start, token.end) is None
            for text in texts
            for token in text.lexed.tokens
            if _TICK.search(token.text)
            and self._knowledge.is_arm_compiled(text, token.start, token.end)
        )

    def why_never(self, text: CText, start: int, end: int) -> str | None:
        """Why [start, end) of a file never runs; None if it may."""
        if (reason := self.branches.why_never(text, start, end)) is not None:
            return reason
        found = text.trees.function_at(start, end)
        if found is None or not self.program.is_whole or not is_static(found[1]):
            return None
        name = function_name(found[1])
        if text.is_cplusplus or self.calls_of(name) or not self.is_only_called(name):
            return None
        if self.program.is_asked_for(name) or self._is_in_strings(name.encode("latin-1")):
            return None
        return f"never runs: nothing that runs calls {name}()"

    def macro_uses(self, name: bytes) -> Sequence[MacroUse]:
        """Uses of a function-like macro in code that may run."""
        if name not in self._running_uses:
            self._running_uses[name] = [
                use
                for use in self._macro_uses.get(name, ())
                if self.branches.why_never(use.text, use.start, use.end) is None
            ]
        return self._running_uses[name]

    def places_of_macro(self, name: bytes) -> Iterator[MacroUse]:
        """Where code that may run comes to a macro of any kind, through others too."""
        for macro in self._macros_to(name):
            yield from self.uses_by_name(macro)

    def uses_by_name(self, name: bytes) -> Iterator[MacroUse]:
        """Where code that may run has the name of a macro of any kind itself."""
        for use in self._named(name):
            if self.branches.why_never(use.text, use.start, use.end) is None:
                yield use

    def _named(self, name: bytes) -> Iterator[MacroUse]:
        """Where compiled code has it."""
        for text in self._texts_with(name):
            for use in named_in(text, name):
                if self._knowledge.is_arm_compiled(text, use.start, use.end):
                    yield use

    def _macros_to(self, name: bytes) -> list[bytes]:
        """A macro, and those whose bodies lead to it."""
        found = {name: None}
        waiting = [name]
        for inner in waiting:
            outer = [it for it in self._macros_with.get(inner, ()) if it not in found]
            found |= dict.fromkeys(outer)
            waiting += outer
        return waiting

    @cached_property
    def _macros_with(self) -> dict[bytes, list[bytes]]:
        return macros_with(map(self._knowledge.text, self._sources))

    def _texts_with(self, word: bytes) -> Iterator[CText]:
        return (self._knowledge.text(it) for it in self._sources if word in it.data)

    def idle_places(self, name: bytes) -> Iterator[tuple[MacroUse, str]]:
        """Where code that never runs comes to a macro of any kind, through others too, and why; not
        one if code may run that does."""
        names = (it.decode("latin-1") for it in self._macros_to(name))
        if any(map(self.program.is_asked_for, names)):
            return
        idle: list[tuple[MacroUse, str]] = []
        for use in (it for macro in self._macros_to(name) for it in self._named(macro)):
            place = use.text, use.start, use.end
            reason = self.branches.why_never(*place)
            if reason is None:
                return
            if reason == self.branches.never_taken(*place):
                idle.append((use, reason))
        yield from idle

    @cached_property
    def stated(self) -> StatedMacros:
        """Which macros are a statement wherever they are used."""
        return StatedMacros(
            lambda name: self._macro_uses.get(name, ()),
            lambda: map(self._knowledge.text, self._sources),
            self._knowledge.is_arm_compiled,
        )

    def idle_uses(self, name: bytes) -> Iterator[tuple[MacroUse, str]]:
        """Uses of a function-like macro that the program has and never runs, and why."""
        for use in self._macro_uses.get(name, ()):
            place = use.text, use.start, use.end
            reason = self.branches.why_never(*place)
            if reason is not None and reason == self.branches.never_taken(*place):
                yield use, reason  # not for a function that nothing calls: the program has none

    def calls_of(self, name: str) -> Sequence[FunctionCall]:
        """Calls of a function in code that may run."""
        if name not in self._calls:
            self._calls[name] = [
                call
                for source in self._sources
                for call in calls_of(self._knowledge.text(source), name.encode("latin-1"))
                if self._knowledge.is_arm_compiled(call.text, call.start, call.end)
                and self.branches.why_never(call.text, call.start, call.end) is None
            ]
        return self._calls[name]

    def is_only_called(self, name: str) -> bool:
        """Whether nothing takes a function's address, and no macro, assembler file or file beside
        the project names it."""
        if self.program.is_named_beside(name):
            return False
        word = name.encode("latin-1")
        for source in self._all:
            if word not in source.data:
                continue
            if source.is_asm:
                return False
            lexed = self._knowledge.lexed(source)
            if any(line.has(word) for line in lexed.directives):
                return False
            if any(
                token.text == word and after.text != b"(" for token, after in pairwise(lexed.tokens)
            ):
                return False
        return True

    def _is_in_strings(self, name: bytes) -> bool:
        """Whether a text has a name, as assembler or an attribute does."""
        return any(
            it.kind == "string" and name in it.text
            for source in self._sources
            if name in source.data
            for it in self._knowledge.lexed(source).tokens
        )

    def constant(self, context: Context, name: bytes) -> Number | None:
        """The number that a name has in a function where it is an object's that one file of the
        project defines for all, and that is constant or that nothing of the program writes."""
        if any(_declares(it, name) for it in declarations(context.root)):
            return None
        if name not in self._constants:
            found = [it for source in self._sources for it in self._constants_in(source, name)]
            self._constants[name] = found[0] if len(found) == 1 else None
        value = self._constants[name]
        return value if isinstance(value, Number) else self._unwritten(name)

    def _unwritten(self, name: bytes) -> Number | None:
        kept = self.kept(name)
        if kept is None or kept.value is None or kept.given is not None:
            return None
        value = kept.text.evaluator.initial(kept.type, kept.value, no_scope)
        return value if isinstance(value, Number) else None

    def kept(self, name: bytes) -> KeptNumber | None:
        """The variable outside functions that the program writes nowhere or at one place alone."""
        return self._kept.get(name) if self.program.is_whole else None

    @cached_property
    def _kept(self) -> KeptNumbers:
        return KeptNumbers(self._knowledge, self._all, self.program.outside.used())

    def _constants_in(self, source: SourceFile, name: bytes) -> Iterator[Value | None]:
        """What definitions of it in a file say: a number, where nobody can change it."""
        if name not in source.data:
            return
        text = self._knowledge.text(source)
        tree = text.trees.whole
        for kind, declarator, value in declarations(tree.root, file_level=True):
            if value is None or not _declares((kind, declarator, value), name):
                continue
            if self._knowledge.is_arm_compiled(text, tree.start(declarator), tree.end(declarator)):
                words = own_words(text, kind, declarator)
                # The tree has no attributes, and only the file has those behind the name.
                whole = source.data[tree.start(kind) : source.data.find(b";", tree.end(declarator))]
                is_weak = b"weak" in whole or any(b"weak" in word for word in words)
                is_shared = not is_weak and b"static" not in words
                is_known = is_shared and is_fixed(text, kind, declarator, file_level=True)
                type_ = text.evaluator.types.of(kind, declarator)
                yield text.evaluator.initial(type_, value, no_scope) if is_known else None

    @cached_property
    def old_clock(self) -> int | None:
        """Hertz of the core on the chip that the project was written for; None if not known."""
        if self._stated_clock is not None:
            return self._stated_clock
        return fixed_clock(
            map(self._knowledge.text, self._sources),
            self.program.why_not,
            lambda name: self.calls_of(name) if self.is_only_called(name) else None,
        )

    def is_in_sources(self, words: re.Pattern[bytes], besides: Path) -> bool:
        """Whether words occur in a source file, no header, but one."""
        return any(
            words.search(source.data) is not None
            for source in self._all
            if source.path != besides and not source.is_header
        )

    @cached_property
    def _macro_uses(self) -> dict[bytes, list[MacroUse]]:
        found: dict[bytes, list[MacroUse]] = {}
        for source in self._sources:
            text = self._knowledge.text(source)
            for name, use in calls_in(text):
                if self._knowledge.is_arm_compiled(text, use.start, use.end):
                    found.setdefault(name, []).append(use)
        return found


def _declares(declaration: tuple[Node, Node, Node | None], name: bytes) -> bool:
    found = declared_name(declaration[1])
    return found is not None and text_of(found) == name
