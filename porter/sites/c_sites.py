"""Finds the sites of C text: lexically, in code and in macro bodies, with strings decoded."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from porter.asm.bases import bases, may_be_base
from porter.asm.halves import joined
from porter.asm.leaps import Leaps, leaps
from porter.asm.numbered import Numbered
from porter.asm.privileged import privileged
from porter.program.c_text import CText
from porter.registers.intrinsics import INTRINSIC_BYTES
from porter.sites.addresses import SystemAddresses
from porter.sites.computed_addresses import ComputedAddresses
from porter.sites.context import Context, Contexts
from porter.sites.dereferences import Dereferences
from porter.sites.hidden_parts import hidden_instructions
from porter.sites.interrupt_attributes import is_interrupt
from porter.sites.macro_calls import call_at, expansion_of, registers_in
from porter.sites.placed import placed_at
from porter.sites.region import Region, constant_in, regions
from porter.sites.registers import Registers
from porter.sites.site import Site, SiteKind
from porter.sites.undefined import UndefinedNames
from porter.source.arithmetic import literal
from porter.source.asm_text import Instruction
from porter.source.c_lexer import Token
from porter.source.c_tree import Node, ancestors, text_of
from porter.source.c_types import UNKNOWN
from porter.source.cplusplus_casts import named_cast
from porter.source.declarations import is_declarator
from porter.source.inline_asm import (
    AsmStatement,
    as_strings,
    find_asm,
    in_template,
    is_asm_word,
    text_of_strings,
)
from porter.source.scoped_names import path_around, whole_name
from porter.source.token_tools import argument_at, is_qualified
from porter.source.values import Number, Place, Pointer

_ADDRESS = re.compile(r"\b0[xX][0-9a-fA-F]{8}\b")
_NAMES = ("identifier", "field_identifier")
_SHARED_ONLY = frozenset(
    b"""MODER OTYPER OSPEEDR PUPDR AFRL AFRH BSRR BSRRL BSRRH
    PLLCFGR AHBENR AHB1ENR AHB2ENR AHB3ENR APB1ENR APB2ENR EXTICR""".split()
)


@dataclass(frozen=True)
class Reading:
    """The sites of a header as the C file `reader` reads it."""

    reader: str
    sites: CSites


@dataclass(frozen=True)
class FoundSites:
    """The sites of a file and what is known of each, without what they were found by, so that
    another process can have them. `regions`: None for the file's own code."""

    sites: tuple[Site, ...]
    regions: Mapping[Site, Region | None]
    asm: Mapping[Site, AsmStatement]
    leaps: Mapping[Site, str]
    undefined: frozenset[Site]
    own: frozenset[Site]
    devices: Mapping[int, str]


_SCOPES = frozenset({b"class", b"struct", b"union", b"namespace", b"enum"})


class CSites:
    """The sites of one file and the asm statements they are in. `asked`: by offset, calls of a
    library about which a person has to decide, and why; `readings`: the file as other C files read
    it, for which something in it means something else."""

    def __init__(
        self,
        text: CText,
        registers: Registers,
        numbered: Numbered,
        asked: Mapping[int, str] = MappingProxyType({}),
        readings: Sequence[Reading] = (),
    ) -> None:
        self.readings = readings
        self.text = text
        self.asked = asked
        self.registers = registers
        self.numbered = numbered
        self.asm: dict[Site, AsmStatement] = {}
        self.leaps: dict[Site, str] = {}
        """Why instructions leave the program."""
        self.regions: dict[Site, Region] = {}
        self.undefined: set[Site] = set()
        self.own: frozenset[Site] = frozenset()
        """Those that this reading of the file has itself."""
        self.contexts = Contexts(text)
        self._addresses = SystemAddresses(text, self.contexts, registers.space)
        self._computed = ComputedAddresses(
            text, self.contexts, registers.is_address, registers.space.sure
        )
        self._dereferences = Dereferences(text, self.contexts, registers)
        self._names = UndefinedNames(text)
        self._marks_handlers = registers.space.marks_handlers
        self._has_addresses = False

    @cached_property
    def sites(self) -> tuple[Site, ...]:
        """All sites in order of their place."""
        found: list[Site] = []
        for region in regions(self.text.lexed, self.text.evaluator, self.asked):
            sites = list(self._in_region(region))
            sites += self._by_value(region, sites)
            sites += self._undefined(region, sites)
            for site in sites:
                self.regions[site] = region
                found.append(site)
        self.own = frozenset(found)
        known = {(site.start, site.end) for site in found}
        for reading in self.readings:
            for site in reading.sites.sites:
                if (site.start, site.end) not in known:
                    known.add((site.start, site.end))
                    self.regions[site] = reading.sites.regions[site]
                    if site.kind is SiteKind.ASM:
                        self.asm[site] = reading.sites.asm[site]
                    if (why := reading.sites.leaps.get(site)) is not None:
                        self.leaps[site] = why
                    found.append(site)
        return tuple(sorted(found, key=lambda site: (site.start, site.end)))

    @property
    def devices(self) -> dict[int, str]:
        """Devices at fixed addresses that no description gives or denies, with a name of each."""
        return self._dereferences.devices

    @property
    def found(self) -> FoundSites:
        """All of that."""
        return FoundSites(
            self.sites,
            {site: it if it.name is not None else None for site, it in self.regions.items()},
            self.asm,
            self.leaps,
            frozenset(self.undefined),
            self.own,
            self.devices,
        )

    def take(self, found: FoundSites) -> None:
        """Let it be what was found."""
        code = Region(tuple(self.text.lexed.tokens))
        self.regions = {site: it or code for site, it in found.regions.items()}
        self.asm, self.leaps = dict(found.asm), dict(found.leaps)
        self.undefined, self.own = set(found.undefined), found.own
        self.devices.update(found.devices)
        self.sites = found.sites

    def _in_region(self, region: Region) -> Iterator[Site]:
        covered: list[tuple[int, int]] = []
        constant = constant_in(self.text.evaluator, region.parameters)
        for run in self._asm_runs(region):
            for written in run:
                if not any(it.text in INTRINSIC_BYTES for it in written.template):  # C after all
                    covered += written.without_operands()
            yield from self._in_run(
                [self.numbered.statement(it, constant) for it in run], constant, region
            )
        computed = 0  # where the computation of an address ends that is a site as a whole
        for index, token in enumerate(region.tokens):
            while covered and covered[0][1] <= token.start:
                covered.pop(0)
            if covered and covered[0][0] <= token.start:
                continue
            if token.start < computed:
                continue
            if (kind := self._kind(region, index, token)) is not None:
                what = token.text.decode("latin-1")
                yield self._site(token.start, token.end, kind, what, region)
            elif (span := self._computed_address(region, index)) is not None:
                what = b" ".join(self.text.file.data[slice(*span)].split()).decode("latin-1")
                yield self._site(*span, SiteKind.REGISTER, what, region)
                computed = span[1]

    def _asm_runs(self, region: Region) -> Iterator[list[AsmStatement]]:
        """The asm statements of a region; those that come one right after the other are one text
        for the processor."""
        run: list[AsmStatement] = []
        for it in find_asm(region.tokens, self.text.file.data, self._is_asm):
            if run and self.text.file.data[run[-1].end : it.start].strip(b"; \t\r\n"):
                yield run
                run = []
            run.append(it)
        if run:
            yield run

    def _in_run(
        self,
        run: Sequence[AsmStatement],
        constant: Callable[[bytes], int | None],
        region: Region,
    ) -> Iterator[Site]:
        line = Leaps()
        shared = set(self._shared_addresses([it for one in run for it in one.instructions]))
        for statement in run:
            away = dict(line.of(statement.instructions, dict(_numbers(statement, constant))))
            for instruction in dict.fromkeys(statement.instructions):
                reaches = privileged(instruction) or instruction in shared
                if reaches or instruction in away:
                    site = self._site(
                        instruction.start, instruction.end, SiteKind.ASM, str(instruction), region
                    )
                    self.asm[site] = statement
                    if not reaches:
                        self.leaps[site] = away[instruction]
                    yield site
            hidden = self._in_macro(statement, region)
            if hidden is None and not any(map(privileged, statement.instructions)):
                hidden = self._made(statement, constant, region)
            if hidden is not None:
                self.asm[hidden] = statement
                yield hidden

    def _by_value(self, region: Region, sites: list[Site]) -> Iterator[Site]:
        """Sites that no token of the text gives away."""
        found = sorted((site.start, site.end) for site in sites)
        for start, end in self._dereferences.missed(region, found):
            what = b" ".join(self.text.file.data[start:end].split()).decode("latin-1")
            yield self._site(start, end, SiteKind.REGISTER, what, region)

    def _undefined(self, region: Region, sites: list[Site]) -> Iterator[Site]:
        """Names of hardware that nothing defines, where no compiler has seen the file."""
        if self.text.is_known:
            return
        found = {(site.start, site.end) for site in sites}
        for tree in self.contexts.trees(region):
            for start, end in self._names.used(tree, region.parameters):
                if (start, end) not in found:
                    found.add((start, end))
                    what = self.text.file.data[start:end].decode("latin-1")
                    site = self._site(start, end, SiteKind.REGISTER, what, region)
                    self.undefined.add(site)
                    yield site

    def _shared_addresses(self, text: Sequence[Instruction]) -> Iterator[Instruction]:
        """The instructions that have the address of a shared block as a number, or complete it.
        In a register by which nothing is accessed, only what is surely an address is one."""
        words = dict(joined(text, _number))
        accessed = bases(text)
        for index, it in enumerate(text):
            written = (number for part in it.operands for number in _ADDRESS.findall(part))
            numbers = [words[it]] if it in words else [int(number, 16) for number in written]
            registers = self.registers
            may_be = may_be_base(text, index, accessed)
            if any(map(registers.is_address if may_be else registers.is_surely_address, numbers)):
                yield it

    def _in_macro(self, statement: AsmStatement, region: Region) -> Site | None:
        """What a macro puts into a template, or may; it stands where the template does."""
        macros = self.text.evaluator.macros
        own = set(map(str, statement.instructions))
        expanded = self.numbered.read(in_template(macros.expand(statement.template)))
        put = (it for it in expanded if privileged(it) and str(it) not in own)
        found = next(put, None)
        away = None
        if found is None and not any(leaps(statement.instructions)):
            found, away = next(leaps(expanded), (None, None))
        if found is None and not any(map(privileged, statement.instructions)):
            found = next(hidden_instructions(statement, region.parameters, macros), None)
        if found is None or self._is_name(statement, region):
            return None
        parts = statement.template or (statement,)
        site = self._site(parts[0].start, parts[-1].end, SiteKind.ASM, str(found), region)
        if away is not None:
            self.leaps[site] = away
        return site

    def _made(
        self,
        statement: AsmStatement,
        constant: Callable[[bytes], int | None],
        region: Region,
    ) -> Site | None:
        """What the assembler puts together by itself."""
        text = statement.text
        if statement.template:
            text = text_of_strings(
                as_strings(self.text.evaluator.macros.expand(statement.template))
            )
        what = self.numbered.made(statement, text, constant, self.text.file.path)
        if not what or self._is_name(statement, region):
            return None
        return self._site(statement.start, statement.end, SiteKind.ASM, what, region)

    @staticmethod
    def _is_name(statement: AsmStatement, region: Region) -> bool:
        """`extern int x asm("y")`: what the assembler calls it."""
        before = [token for token in region.tokens if token.end <= statement.start][-1:]
        return any(it.kind == "identifier" and it.text not in (b"else", b"do") for it in before)

    def _is_asm(self, word: bytes) -> bool:
        return is_asm_word(word, self.text.evaluator.macros)

    def _kind(self, region: Region, index: int, token: Token) -> SiteKind | None:
        if token.kind == "identifier":
            if token.start in self.asked:
                return SiteKind.CALL
            if self._marks_handlers and is_interrupt(
                region.tokens, index, self.text.evaluator.macros
            ):
                return SiteKind.ATTRIBUTE
            previous = region.tokens[index - 1].text if index else b""
            if previous in (b"->", b"."):
                return self._member(region, index)
            if token.text in INTRINSIC_BYTES and _is_pasted(region, index):
                return None  # half of another word: what that is, `expanded` sees
            if token.text in INTRINSIC_BYTES and token.text not in self.text.own:
                return None if self._is_members(region, index) else SiteKind.INTRINSIC
            if self.text.is_cplusplus and (
                _names_scope(region, index) or self._is_own_of_class(region, index)
            ):
                return None
            if self.registers.may_be_register(token.text):
                self._has_addresses = True
                return SiteKind.REGISTER if self._is_scoped(region, token) else None
            if self.registers.names_register(token.text):
                if self._is_declared(region, token) or self._is_spelt_only(region, index):
                    return None
                self._has_addresses = True
                return SiteKind.REGISTER
            if self._is_pointer_variable(region, token) or self._is_call(region, index):
                return SiteKind.REGISTER
            if region.name is None:
                self._dereferences.note_name(token.text)
        elif token.kind == "number" and len(token.text) >= 10:
            value = self.text.evaluator.text(token.text)
            number = value.value if isinstance(value, Number) else 0
            if self.registers.is_address(number) and self._may_be_address(region, token, number):
                self._has_addresses = True
                return SiteKind.REGISTER
        if token.kind in ("identifier", "number") and self._addresses.leads(region, token):
            return SiteKind.REGISTER
        place = placed_at(region.tokens, index)
        match self.text.evaluator.text(place) if place is not None else None:
            case Number(value=address) if self.registers.memory_at(address) is not None:
                return SiteKind.REGISTER
        return None

    def _computed_address(self, region: Region, index: int) -> tuple[int, int] | None:
        """The computation that gives an address, if nothing in it is a site of its own."""
        span = self._computed.around(region, index)
        if span is None:
            return None
        first = bisect_left(region.tokens, span[0], key=lambda token: token.start)
        last = bisect_left(region.tokens, span[1], key=lambda token: token.start)
        inside = (self._kind(region, it, region.tokens[it]) for it in range(first, last))
        return None if any(inside) else span

    def _member(self, region: Region, index: int) -> SiteKind | None:
        """A field of a shared block's struct, reached through a pointer that is no constant."""
        token = region.tokens[index]
        if token.text not in self.registers.fields:
            return None
        if index >= 2 and self._is_block(region, index - 2):
            return None  # a site of its own
        context = self.contexts.of(region, token.start, token.end)
        node = context.node_at(token.start, token.end) if context is not None else None
        if context is None or node is None or node.parent is None:
            return SiteKind.REGISTER if self._is_unmistakable(token.text) else None
        value = self.text.evaluator.value(node.parent, context.scope)
        if value is None:
            is_open = context.tree.is_cplusplus and token.text.isupper()  # auto, or a template's
            return SiteKind.REGISTER if is_open or self._is_unmistakable(token.text) else None
        return SiteKind.REGISTER if self.registers.identify(value) is not None else None

    def _is_block(self, region: Region, index: int) -> bool:
        """Whether a name is a register's, or a variable's that always holds the address of one."""
        base = region.tokens[index]
        if base.kind != "identifier" or self.registers.names_register(base.text):
            return base.kind == "identifier"
        is_field = index > 0 and region.tokens[index - 1].text in (b"->", b".")
        return not is_field and self._is_pointer_variable(region, base)

    def _is_scoped(self, region: Region, token: Token) -> bool:
        """Whether a name stands for the constant of a namespace or a class that leads to a
        register, or may. Where it is declared its value is a site."""
        context = self.contexts.of(region, token.start, token.end)
        node = context.node_at(token.start, token.end) if context is not None else None
        if context is None or node is None:
            return True
        is_enumerator = node.parent is not None and (
            node.parent.type == "enumerator" and node.parent.child_by_field_name("name") == node
        )
        if node.type not in _NAMES or is_enumerator or is_declarator(node):
            return False
        match self.text.evaluator.value(whole_name(node), context.scope):
            case Number(value=address):
                return self.registers.is_address(address)
            case Pointer(address=address) | Place(address=address):
                return address is not None and self.registers.is_address(address)
        return True

    def _is_declared(self, region: Region, token: Token) -> bool:
        """Whether a register's name is declared there for something else, in front of the macro of
        that name (a field of a struct), or in a project that has no such macro."""
        context = self.contexts.of(region, token.start, token.end)
        node = context.node_at(token.start, token.end) if context is not None else None
        if context is None or node is None or region.name is not None:
            return False
        if is_declarator(node):
            return True
        is_assumed = token.text in self.text.evaluator.macros.assumed
        meant = context.scope(token.text) if is_assumed and node.type == "identifier" else None
        return meant is not None and not self.registers.leads(meant)

    def _is_spelt_only(self, region: Region, index: int) -> bool:
        """Whether a name is an argument of a macro that makes other words of it (`x##_Handler`)."""
        found = argument_at(region.tokens, index)
        if found is None:
            return False
        macro = self.text.evaluator.macros.get(region.tokens[found[0]].text)
        return macro is not None and macro.only_spells(found[1])

    def _is_members(self, region: Region, index: int) -> bool:
        """Whether a function of that name belongs to a class or a namespace of the project: what
        it does is found where it is defined."""
        token = region.tokens[index]
        known = token.text in self.text.evaluator.types.member_functions
        if not self.text.is_cplusplus or not known:
            return False
        if is_qualified(region.tokens, index):
            return True
        context = self.contexts.of(region, token.start, token.end)
        node = context.node_at(token.start, token.end) if context is not None else None
        return node is not None and is_declarator(node) and bool(path_around(node))

    def _is_call(self, region: Region, index: int) -> bool:
        """A macro call that reaches a register through its arguments."""
        tokens, token = region.tokens, region.tokens[index]
        if tokens[index + 1 : index + 2] == () or tokens[index + 1].text != b"(":
            return False
        fields = self.registers.fields
        if not self.registers.calls.reach_fields(token.text, fields):
            return False
        context = self.contexts.of(region, token.start, token.end)
        leaf = context.node_at(token.start, token.end) if context is not None else None
        call = call_at(leaf) if leaf is not None else None
        if context is None or call is None:
            return self.registers.calls.reach_fields(token.text, _SHARED_ONLY)
        evaluator = self.text.evaluator
        tree = expansion_of(call, evaluator)
        if tree is None:
            return self.registers.calls.reach_fields(token.text, _SHARED_ONLY)
        return bool(registers_in(tree, evaluator, context.scope, self.registers.identify))

    def _may_be_address(self, region: Region, token: Token, number: int) -> bool:
        """Whether a number is used as an address, or could be: a table of data is none."""
        if self._is_made_pointer(region, token):
            return True
        context = self.contexts.of(region, token.start, token.end)
        node = context.node_at(token.start, token.end) if context is not None else None
        parents = ancestors(node) if node is not None else iter(())
        space = self.registers.space
        is_sure = space.sure and space.holds(number)
        return is_sure and all(p.type != "initializer_list" for p in parents)

    def _is_made_pointer(self, region: Region, token: Token) -> bool:
        """Whether a number that looks like a peripheral's address is used as one."""
        context = self.contexts.of(region, token.start, token.end)
        node = context.node_at(token.start, token.end) if context is not None else None
        if node is None:
            return True
        for parent in ancestors(node):
            if parent.type == "cast_expression":
                kind = parent.child_by_field_name("type")
                if kind is not None and b"*" in text_of(kind):
                    return True
            elif (cast := named_cast(parent)) is not None:
                if b"*" in text_of(cast[0]):
                    return True
            elif parent.type in ("template_argument_list", "gnu_asm_input_operand"):
                return True
            elif parent.type == "argument_list":
                continue
            elif parent.type in ("init_declarator", "assignment_expression"):
                return context is not None and self._becomes_pointer(context, parent)
            elif parent.type not in ("parenthesized_expression", "binary_expression"):
                return False
        return False

    def _becomes_pointer(self, context: Context, given: Node) -> bool:
        """Whether an integer that a function gives an address and changes is cast to a pointer
        there."""
        place = given.child_by_field_name("declarator") or given.child_by_field_name("left")
        if place is None or place.type != "identifier" or context.kind != "function":
            return False
        name = text_of(place)
        cast = re.compile(rb"\*\s*(?:const\s*|volatile\s*)*\)\s*\(*\s*%s\b" % re.escape(name))
        return name in self.text.written.inside(context.root) and (
            cast.search(text_of(context.root)) is not None
        )

    def _is_unmistakable(self, field: bytes) -> bool:
        """Whether only shared blocks have a register of this name."""
        return field in _SHARED_ONLY

    def _is_own_of_class(self, region: Region, index: int) -> bool:
        """Whether a name that no header was seen to define is an object's whose member function is
        called, `RCC.enable(...)`, or a constant of a class or an enum, `Block::SYSCFG`."""
        tokens, name = region.tokens, region.tokens[index].text
        evaluator = self.text.evaluator
        if name not in evaluator.macros.assumed:
            return False
        before = [token.text for token in tokens[max(0, index - 2) : index]]
        if before == [b":", b":"]:
            return name in evaluator.types.scoped
        behind = tokens[index + 1 : index + 4]
        return (
            name in evaluator.types.globals
            and [token.text for token in behind[::2]] == [b".", b"("]
            and behind[1].kind == "identifier"
        )

    def _is_pointer_variable(self, region: Region, token: Token) -> bool:
        """A variable that always holds the address of a register, or of memory."""
        evaluator = self.text.evaluator
        shared = evaluator.keeps_address(token.text) and token.text not in region.parameters
        if not shared and (region.name is not None or not self._has_addresses):
            return False
        context = self.contexts.of(region, token.start, token.end)
        node = context.node_at(token.start, token.end) if context is not None else None
        if context is None or node is None or node.type not in _NAMES or is_declarator(node):
            return False
        value = evaluator.value(whole_name(node), context.scope)
        if isinstance(value, Pointer) and value.type is UNKNOWN and value.address is not None:
            # An integer that is given a number: in the range of memory it mostly is no address.
            return self.registers.is_address(value.address)
        return self.registers.leads(value)

    def _site(self, start: int, end: int, kind: SiteKind, what: str, region: Region) -> Site:
        where = region.name.decode("latin-1") if region.name else ""
        conditions = self.text.conditions.arm(start).conditions
        return Site(self.text.file.name, start, end, kind, what, where, conditions)


def _numbers(
    statement: AsmStatement, constant: Callable[[bytes], int | None]
) -> Iterator[tuple[str, int]]:
    """Operands of a template that are constants."""
    for place, operand in enumerate((*statement.outputs, *statement.inputs)):
        number = constant(operand.text) if place >= len(statement.outputs) else None
        if number is not None:
            yield f"%{place}", number
            if operand.name is not None:
                yield f"%[{operand.name}]", number


def _is_pasted(region: Region, index: int) -> bool:
    """Whether a macro makes a longer word of it (`__svc##name`)."""
    beside = (*region.tokens[max(index - 1, 0) : index], *region.tokens[index + 1 : index + 2])
    return region.name is not None and any(it.text == b"##" for it in beside)


def _names_scope(region: Region, index: int) -> bool:
    """Whether a name is that of a class or namespace, where one is declared or asked."""
    before = region.tokens[index - 1].text if index else b""
    behind = [token.text for token in region.tokens[index + 1 : index + 3]]
    return behind == [b":", b":"] or before in _SCOPES


def _number(text: str) -> int | None:
    value = literal(text.encode("latin-1"))
    return value.value if value is not None else None
