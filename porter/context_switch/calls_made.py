"""Where each function of a project goes by itself: in C, in asm statements, in assembler files, and
as another name of a function."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path

from porter.context_switch.asm_branches import branches_in
from porter.context_switch.asm_statements import text_in
from porter.context_switch.assemble import Assembly
from porter.context_switch.bodies import Body
from porter.context_switch.c_flow import CUnits
from porter.context_switch.c_nodes import (
    calls_in,
    declares_function,
    is_declarator,
    own_variables,
)
from porter.context_switch.calls import ANYWHERE, NOWHERE, Calls, Unless, all_of
from porter.context_switch.codes import code_of
from porter.context_switch.constant_conditions import never_runs
from porter.context_switch.object_file import Function
from porter.context_switch.other_names import OtherNames
from porter.context_switch.pointer_values import PointerValues
from porter.context_switch.register_steps import Step
from porter.context_switch.result import NotTranscribable
from porter.context_switch.resumers import Resumers
from porter.context_switch.services import SERVICE, Services
from porter.context_switch.unnamed_calls import UnnamedCalls
from porter.project.unread_inputs import UnreadInputs
from porter.source.c_tree import (
    Node,
    arguments_of,
    captured,
    enclosing_function,
    query,
    strip_parentheses,
    text_of,
    walk,
)

_NAMES = query("(identifier) @it")
_STATEMENTS = query("(gnu_asm_expression) @it")
_CLEANUP = re.compile(rb"\b_*cleanup_*\s*\(\s*(\w+)")
_BACK = frozenset({"lr", "ra"})


@dataclass(frozen=True)
class ByHand:
    """A function in assembler."""

    assembly: Assembly
    function: Function

    @property
    def text(self) -> str:
        """As its author wrote it, and what its instructions are where a macro made them."""
        written = self.assembly.text_of(self.function)
        try:
            return f"{written}\n{code_of(self.assembly, self.function).decoded()}"
        except NotTranscribable:
            return written


class CallsMade:
    """Looks at functions by the names that the linker knows them by."""

    def __init__(
        self,
        resumers: Resumers,
        units: CUnits,
        names: OtherNames,
        services: Services,
        inputs: UnreadInputs,
    ) -> None:
        """`inputs`: what is linked beside the files of the project."""
        self._inputs = inputs
        self._resumers, self._units, self._names = resumers, units, names
        self._services = services
        self._all_of = cache(self._of)
        self.body = cache(self._body)
        self._locals = cache(own_variables)
        self._pointers = PointerValues(units, self._is_outside_c, names.is_renamed, names.is_linked)
        self.renamed_by_link = names.linked
        self._is_variable = cache(self._declares_variable)
        self._unnamed = UnnamedCalls(units, cache(self.has_body))

    def of(self, name: str, unless: Unless | None = None) -> Calls:
        """Where a function goes, but for calls in C that don't count."""
        return self._all_of(name) if unless is None else self._of(name, unless)

    def _of(self, name: str, unless: Unless = lambda _: False) -> Calls:
        if name == SERVICE:
            return Calls(self._services.functions) if not self._services.problem else ANYWHERE
        definitions = self._units.definitions(name.encode("latin-1"))
        found = all_of(self.within(it, unless) for it in definitions)
        found |= all_of(Calls(self._unnamed.of(it)) for it in definitions)
        found |= all_of(map(_leaving, self._routines(name)))
        if found.pointers and self._resumers.ends_in_task(name):
            found = Calls(found.names)
        found |= Calls(self._names.of(name))
        if not self.by_hand(name) and (text := self._units.assembler_text(name.encode("latin-1"))):
            found |= branches_in(text.decode("latin-1")) | ANYWHERE  # its macros may do it
        if self.body(name).cplusplus is not None:
            found |= ANYWHERE
        if not self.has_body(name):
            found |= Calls(self._unnamed.hooks(name))
        return found

    def _body(self, name: str) -> Body:
        known = name.encode("latin-1")
        # The text alone doesn't say where a function ends, nor what macros make of it.
        texts = [it.text.encode("latin-1", "replace") for it in self._routines(name)]
        texts = texts or [self._units.assembler_text(known) or b""]
        is_alias = bool(self._names.of(name))
        definitions = self._units.definitions(known)
        is_weak = bool(definitions) and all(_is_weak(it) for it in definitions)
        is_defined = is_alias or (self.has_body(name) and not (is_weak and not self.by_hand(name)))
        return Body(
            tuple(definitions),
            b"\n".join(texts),
            is_alias,
            None if is_defined else self._units.cplusplus_naming(known),
            self._beside(name, definitions),
        )

    def _beside(self, name: str, definitions: Sequence[Node]) -> Path | None:
        """A file that nobody reads and that may define a function, if nothing else does for all; a
        linker script that puts its name elsewhere."""
        by_hand = self.by_hand(name)
        if (script := self._inputs.placed.get(name)) is not None and (definitions or by_hand):
            return script
        if not all(map(_is_weak, definitions)) or not all(it.function.weak for it in by_hand):
            return None
        return self._inputs.home_of(name, bool(definitions or by_hand))

    def has_body(self, name: str) -> bool:
        """Whether C or assembler of the project defines it under this name."""
        return bool(self.by_hand(name) or self._units.definitions(name.encode("latin-1")))

    def by_hand(self, name: str) -> list[ByHand]:
        """Such functions of assembler files, and of asm outside of functions."""
        return self._by_hand.get(name, [])

    def all_by_hand(self) -> Iterable[str]:
        """The names of all of them."""
        return self._by_hand

    @cached_property
    def _by_hand(self) -> dict[str, list[ByHand]]:
        found: dict[str, list[ByHand]] = {}
        outside = self._resumers.outside()
        for _, assembly, function in (*self._resumers.in_assembler(), *outside):
            for name in function.names:
                found.setdefault(name, []).append(ByHand(assembly, function))
        return found

    def _routines(self, name: str) -> list[ByHand]:
        """The same, with the routines in them."""
        return [it for one in self.by_hand(name) for it in _with_routines(one)]

    def within(self, node: Node, unless: Unless = lambda _: False) -> Calls:
        """Where a function or a part of it goes, in C."""
        around = node if node.type == "function_definition" else enclosing_function(node)
        found = NOWHERE
        for call, _ in calls_in(node):
            if not unless(call) and not never_runs(call, self._units):
                found |= self.by(call)
        for statement in captured(node, _STATEMENTS, "it"):
            found |= branches_in(text_in(statement))
        if node == around:
            cleaning = _CLEANUP.findall(text_of(node))
            found |= Calls(frozenset(it.decode("latin-1") for it in cleaning))
        return found

    def by(self, call: Node) -> Calls:
        """Where a call in C goes."""
        callee = call.child_by_field_name("function")
        if callee is None:
            return NOWHERE
        around = enclosing_function(call)
        own = self._locals(around) if around is not None else frozenset[bytes]()
        arguments = arguments_of(call)
        plain = strip_parentheses(callee)
        mentioned = {text_of(it) for it in captured(callee, _NAMES, "it")} - own
        names = {it.decode("latin-1") for it in mentioned}
        held = self._pointers.of(callee)
        pointer = (
            Calls(held) if held is not None else Calls(frozenset(), frozenset({len(arguments)}))
        )
        if plain.type != "identifier":
            return pointer | Calls(frozenset(filter(self.has_body, names)))
        if not names:
            return pointer
        (name,) = names
        found = Calls(frozenset({name}))
        if not self.has_body(name):
            found |= pointer if self._is_variable(name) else NOWHERE
            found |= self._handed_to_library(arguments, own)
        return found

    def _handed_to_library(self, arguments: list[Node], own: frozenset[bytes]) -> Calls:
        """What has no body here may call the functions that it gets."""
        handed = {text_of(it) for some in arguments for it in _values(some)} - own
        names = (it.decode("latin-1") for it in handed)
        return Calls(frozenset(filter(self.has_body, names)))

    def _is_outside_c(self, name: str) -> bool:
        """Whether assembler or C++ has a name."""
        known = name.encode("latin-1")
        word = re.compile(rb"\b%s\b" % re.escape(known))
        in_assembler = any(map(word.search, self._resumers.assembler_texts()))
        in_asm = next(self._units.jumps(known), None) is not None
        return in_assembler or in_asm or self._units.cplusplus_naming(known) is not None

    def _declares_variable(self, name: str) -> bool:
        """Whether something other than a function is declared under a name."""
        return any(
            is_declarator(node) and not declares_function(node) and node.type == "identifier"
            for node in self._units.named(name.encode("latin-1"))
        )


def _values(argument: Node) -> Iterator[Node]:
    """Names in an expression that aren't called there."""
    for node in walk(argument):
        parent = node.parent
        is_called = parent is not None and parent.type == "call_expression"
        if node.type == "identifier" and not is_called:
            yield node


def _is_weak(definition: Node) -> bool:
    """Whether another file may define a function instead."""
    body = definition.child_by_field_name("body")
    head = text_of(definition)[: body.start_byte - definition.start_byte if body else None]
    return b"weak" in head


def _with_routines(found: ByHand) -> list[ByHand]:
    """A function in assembler, and what it calls in its section that is none for anybody else."""
    known, waiting = {found.function.start: found}, [found]
    while waiting:
        here = waiting.pop()
        with suppress(NotTranscribable):
            unit, function = here.assembly.object, here.function
            steps = code_of(here.assembly, function).steps().values()
            for start in {it.place for it in steps if it.place is not None} - known.keys():
                around = unit.function_at(function.section, start) or function
                known[start] = ByHand(here.assembly, replace(around, start=start))
                waiting.append(known[start])
    return list(known.values())


def _leaving(found: ByHand) -> Calls:
    """Where a function in assembler goes, by its instructions."""
    unit, function = found.assembly.object, found.function
    try:
        steps = list(code_of(found.assembly, function).steps().values())
    except NotTranscribable:
        places = range(function.start, function.end, 2)
        mentioned = (unit.relocation(function.section, place) for place in places)
        return Calls(frozenset(it.symbol for it in mentioned if it and it.symbol)) | ANYWHERE
    leaving = [it for it in steps if it.calls or it.leaves]
    keeps_way_back = any(register in _BACK for it in steps for _, register in it.saves)
    returning = [it for it in steps if it.returns]
    away = any(not it.target for it in leaving)
    away = away or not all(_goes_back(it, keeps_way_back) for it in returning)
    away = away or (bool(returning) and any(map(_changes_way_back, steps)))
    calls = Calls(frozenset(it.target for it in leaving if it.target))
    return calls | ANYWHERE if away else calls


def _goes_back(step: Step, keeps_way_back: bool) -> bool:
    """Whether what ends a function returns to who called it."""
    from_stack = any(register == "pc" for _, register in step.loads)
    is_move = step.move is not None and step.move[1] in _BACK
    return is_move or bool(step.reads & _BACK) or (from_stack and keeps_way_back)


def _changes_way_back(step: Step) -> bool:
    """Whether an instruction sets the register with the return address, not from the stack."""
    is_moved = step.move is not None and step.move[0] in _BACK
    return not step.calls and (is_moved or bool(step.writes & _BACK))
