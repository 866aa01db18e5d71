"""What only the preprocessor puts together: `#define IRQ(n) __##n##_irq()`.

No token of the text is an intrinsic, an instruction or a register there, so no rule sees a site.
The preprocessed text has it: what is on a line there must be a site on the line, or in a macro that
the line uses, or a person is told.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from porter.judging.docket import Docket
from porter.judging.unit import Unit
from porter.judging.verdict import Status, Verdict
from porter.program.preprocess import TranslationUnit
from porter.registers.intrinsics import INTRINSIC_BYTES
from porter.sites.expanded import Expanded, Lines, Made
from porter.sites.region import Region
from porter.sites.site import Site, SiteKind
from porter.sites.written_values import given_register
from porter.source.c_lexer import Token
from porter.source.edit import Edit
from porter.source.macros import Expansion, MacroTable, parse_define, uses_in
from porter.source.token_tools import has_word

RULE = "made-by-macro"
_SHOWN = 4


@dataclass(frozen=True)
class JudgedFile:
    """A file with what is decided about it."""

    unit: Unit
    verdicts: Sequence[Verdict]
    edits: Sequence[Edit]


@dataclass(frozen=True, eq=False)
class _Use:
    """The use of a macro at [start, end) of a file and what becomes of it."""

    start: int
    end: int
    name: bytes
    expansion: Expansion


def judge_made(docket: Docket) -> None:
    """Verdicts on uses of macros that make something which is no site."""
    judged = {
        path: JudgedFile(unit, docket.ports[path].verdicts, docket.ports[path].edits)
        for path, unit in docket.units.items()
    }
    for path, verdict in MadeByMacro(judged).judge(docket.project.knowledge.units):
        docket.add(docket.units[path].file, [verdict])


class MadeByMacro:
    """Answers for the files that take part in the ported build."""

    def __init__(self, files: Mapping[Path, JudgedFile]) -> None:
        self._files = files
        self._lines = Lines()
        self._reached: dict[bytes, frozenset[bytes]] = {}

    def judge(self, units: Iterable[TranslationUnit]) -> Iterator[tuple[Path, Verdict]]:
        """Verdicts on uses of macros that make something which is no site."""
        wanted = frozenset(self._files)
        asked: set[Path] = set()
        told: set[tuple[Path, int]] = set()
        known = {id(it.unit.text.evaluator): it.unit.registers for it in self._files.values()}
        for unit in units:
            asked.update(unit.lines)
            registers = known.get(id(unit.evaluator))
            if registers is None:
                continue  # no file of the ported build
            for (path, line), made in self._lines.made(unit, registers, wanted).items():
                file = self._files[path]
                tokens = _on_line(file.unit, line, sorted(unit.lines[path]))
                uses = list(_uses(tokens, unit.evaluator.macros))
                for verdict in self._missed(file, tokens, uses, made):
                    if (path, verdict.site.start) not in told:
                        told.add((path, verdict.site.start))
                        yield path, verdict
        for path in wanted - asked:
            yield from ((path, it) for it in self._without_compiler(self._files[path]))

    def _without_compiler(self, file: JudgedFile) -> Iterator[Verdict]:
        """The same where nobody could preprocess a file: by the macros that are known."""
        macros = file.unit.text.evaluator.macros
        for use in _uses(file.unit.text.lexed.tokens, macros):
            if use.name in macros.assumed:
                continue  # the name is in the text, and rules know it
            if self._is_defined_behind(file, use):
                continue
            text = b"void f(void){" + b" ".join(use.expansion.texts) + b"\n;}"
            expanded = Expanded(text, file.unit.registers)
            made = [it for spot in expanded.spots() for it in expanded.made(spot)]
            no_name = any(it.kind is SiteKind.REGISTER and not it.name for it in made)
            if no_name and _is_value(file, use):
                made = [it for it in made if it.kind is not SiteKind.REGISTER or it.name]
            yield from self._missed(file, (), [use], made)

    def _is_defined_behind(self, file: JudgedFile, use: _Use) -> bool:
        """Whether the only definitions of a name stand behind it in the same file, so that the
        preprocessor makes nothing of it."""
        if any(it is not file for it in self._definitions.get(use.name, ())):
            return False
        own = [
            (directive.start, macro)
            for directive in file.unit.text.lexed.directives
            if (macro := parse_define(directive)) is not None and macro.name == use.name
        ]
        is_behind = bool(own) and all(start > use.start for start, _ in own)
        return is_behind and all(  # and no file that isn't ported defines it otherwise
            any(macro.is_same(known) for _, macro in own)
            for known in file.unit.text.evaluator.macros.all_of(use.name)
        )

    def _missed(
        self, file: JudgedFile, tokens: Sequence[Token], uses: list[_Use], made: list[Made]
    ) -> Iterator[Verdict]:
        uses = [use for use in uses if not _is_gone(file, use)]
        missed: dict[_Use, list[Made]] = {}
        for use in uses:
            for name in sorted(use.expansion.pasted & INTRINSIC_BYTES):
                text = name.decode()
                missed.setdefault(use, []).append(Made(SiteKind.INTRINSIC, text, text))
        for it in made:
            maker = next(_makers(uses, it), None)
            if maker is not None and not self._is_known(file, tokens, uses, it):
                missed.setdefault(maker, []).append(it)
        for use, found in missed.items():
            yield _verdict(file, use, found)

    def _is_known(
        self, file: JudgedFile, tokens: Sequence[Token], uses: list[_Use], made: Made
    ) -> bool:
        """Whether rules saw what a line has in the end, there or in a macro that it uses."""
        macros = self._used(uses)
        table = file.unit.text.evaluator.macros
        if any(self._is_part_of(name, made, table) for name in macros & INTRINSIC_BYTES):
            return True
        if made.kind is SiteKind.INTRINSIC:
            name = made.name.encode()
            spelt = any(token.text == name for token in tokens)
            return spelt or any(name in self._words.get(macro, ()) for macro in macros)
        start = min([*(t.start for t in tokens[:1]), *(use.start for use in uses)])
        end = max([*(t.end for t in tokens[-1:]), *(use.end for use in uses)])
        here = [v for v in file.verdicts if start <= v.site.start < end and not v.site.where]
        there = [it for macro in macros for it in self._in_macros.get(macro, ())]
        return any(_tells(owner, verdict, made) for owner, verdict in
                   [*((file, it) for it in here), *there])  # fmt: skip

    def _is_part_of(self, intrinsic: bytes, made: Made, table: MacroTable) -> bool:
        """Whether a macro of an intrinsic's name makes this: rules judge uses of the name."""
        if intrinsic not in self._words:  # a header of somebody else's defines it
            return made.kind is not SiteKind.REGISTER
        if made.kind is SiteKind.INTRINSIC:  # by another compiler's header
            return any(made.name.encode() in it.text for it in table.all_of(intrinsic))
        return made.kind is SiteKind.ASM and any(
            verdict.site.kind is SiteKind.ASM and verdict.site.what.split()[0] == made.name
            for _, verdict in self._in_macros.get(intrinsic, ())
        )

    def _used(self, uses: list[_Use]) -> set[bytes]:
        """The macros that uses lead to, whichever of their definitions holds."""
        return {it for use in uses for name in use.expansion.used for it in self._leads_to(name)}

    def _leads_to(self, name: bytes) -> frozenset[bytes]:
        """A macro and those that its definitions spell, and theirs."""
        if name not in self._reached:
            found, new = {name}, {name}
            while new:
                spelt = {word for it in new for word in self._words.get(it, ())}
                new = (spelt & self._words.keys()) - found
                found |= new
            self._reached[name] = frozenset(found)
        return self._reached[name]

    @cached_property
    def _words(self) -> dict[bytes, set[bytes]]:
        """What the definitions of the project's macros spell."""
        found: dict[bytes, set[bytes]] = {}
        for file in self._files.values():
            for directive in file.unit.text.lexed.directives:
                if (macro := parse_define(directive)) is not None:
                    found.setdefault(macro.name, set()).update(macro.text)
        return found

    @cached_property
    def _definitions(self) -> dict[bytes, list[JudgedFile]]:
        """The files that define macros, by name."""
        found: dict[bytes, list[JudgedFile]] = {}
        for file in self._files.values():
            for directive in file.unit.text.lexed.directives:
                if (macro := parse_define(directive)) is not None:
                    found.setdefault(macro.name, []).append(file)
        return found

    @cached_property
    def _in_macros(self) -> dict[bytes, list[tuple[JudgedFile, Verdict]]]:
        """Sites in the bodies of macros."""
        found: dict[bytes, list[tuple[JudgedFile, Verdict]]] = {}
        for file in self._files.values():
            for verdict in file.verdicts:
                if verdict.site in file.unit.found.regions and verdict.site.where:
                    name = verdict.site.where.encode("latin-1")
                    found.setdefault(name, []).append((file, verdict))
        return found


def _on_line(unit: Unit, line: int, compiled: list[int]) -> Sequence[Token]:
    """The tokens that the preprocessor puts into a line: all before the next one that it has."""
    tokens = unit.text.lexed.tokens
    index = bisect_right(compiled, line)
    last = compiled[index] if index < len(compiled) else None
    first_token = bisect_left(tokens, line, key=lambda token: unit.file.line(token.start))
    if last is None:
        return tokens[first_token:]
    end = bisect_left(tokens, last, key=lambda token: unit.file.line(token.start))
    return tokens[first_token:end]


def _uses(tokens: Sequence[Token], macros: MacroTable) -> Iterator[_Use]:
    for use in uses_in(tokens, macros):
        yield _Use(use[0].start, use[-1].end, use[0].text, macros.traced(use))


def _makers(uses: list[_Use], made: Made) -> Iterator[_Use]:
    """The uses that a thing may come from, the likeliest first."""
    name = made.name.encode("latin-1")
    spelling = (use for use in uses if any(has_word(it, name) for it in use.expansion.texts))
    yield from spelling if name else ()
    yield from (use for use in uses if use.expansion.pasted)
    yield from uses


def _is_value(file: JudgedFile, use: _Use) -> bool:
    """Whether a use in code is a value that a register of the system is given."""
    region = Region(tuple(file.unit.text.lexed.tokens))
    context = file.unit.contexts.of(region, use.start, use.end)
    node = context.node_at(use.start, use.end) if context is not None else None
    if context is None or node is None:
        return False
    return given_register(node, context, file.unit.registers) is not None


def _is_gone(file: JudgedFile, use: _Use) -> bool:
    return any(
        edit.start <= use.start and use.end <= edit.end and not has_word(edit.replacement, use.name)
        for edit in file.edits
    )


def _tells(file: JudgedFile, verdict: Verdict, made: Made) -> bool:
    """Whether a verdict is on what a line has in the end."""
    site = verdict.site
    if site.kind is not made.kind:
        return False
    if verdict.status is Status.ESCALATED or not made.name:
        return True  # a person looks at the line or the macro, or only an address is known
    if made.kind is SiteKind.ASM:
        is_rewritten = verdict.status is Status.REWRITTEN
        return site.what == made.what or (is_rewritten and site.what.split()[0] == made.name)
    access = file.unit.access(site) if site in file.unit.found.regions else None
    register = access.register if access is not None else None
    return register is None or register.offset is None or register.name == made.name


def _verdict(file: JudgedFile, use: _Use, found: list[Made]) -> Verdict:
    text = file.unit.text
    whats = list(dict.fromkeys(it.what for it in found))
    shown = ", ".join(whats[:_SHOWN]) + (", ..." if len(whats) > _SHOWN else "")
    conditions = text.conditions.arm(use.start).conditions
    what = use.name.decode("latin-1")
    site = Site(text.file.name, use.start, use.end, found[0].kind, what, "", conditions)
    reason = f"the preprocessor makes {shown} of it, which isn't in the text: write that out"
    never = file.unit.why_never_at(use.start, use.end)
    if never is not None:
        return Verdict(site, Status.LEFT, RULE, f"{never}; else: {reason}")
    return Verdict(site, Status.ESCALATED, RULE, reason)
