"""One C file while the rules look at it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from porter.context_switch.result import SwitchPort
from porter.flow.dead_slice import Slice
from porter.flow.kept_numbers import KeptNumber
from porter.flow.project_facts import ProjectFacts
from porter.flow.statements import LOOPS
from porter.flow.variables import Variables
from porter.judging.bare_body import is_cut_off
from porter.judging.deletion import span_of, tidy, with_statements_of_labels
from porter.judging.facts import Facts
from porter.judging.verdict import Status, Verdict
from porter.program.c_text import CText
from porter.program.calls import FunctionCall
from porter.program.knowledge import Knowledge
from porter.program.macro_uses import MacroUse
from porter.project.domain import Domain
from porter.sites.access import Access, access_of
from porter.sites.c_sites import CSites
from porter.sites.context import Context, Contexts, body_of
from porter.sites.region import Region
from porter.sites.registers import Registers
from porter.sites.site import Site, SiteKind
from porter.source.c_lexer import Token
from porter.source.c_tree import Node, SyntaxTree, ancestors, strip_parentheses, text_of, walk
from porter.source.declarations import is_declarator, is_static
from porter.source.edit import Edit, folded
from porter.source.evaluate import Scope, no_scope
from porter.source.source_file import SourceFile
from porter.source.token_tools import has_word, matching, split_arguments
from porter.source.values import Number, Place

PRIORITY_BITS = b"__NVIC_PRIO_BITS"
_DEFAULT_PRIORITY_BITS = 4
_PLACES = frozenset({"field_expression", "subscript_expression", "pointer_expression"})
_READS_CONTROL = re.compile(rb"\b__get_CONTROL\b(?!\s*\(\s*void\b)")
_PERIPHERALS = (0x4000_0000, 0x6000_0000)


_EFFECTS = frozenset({"assignment_expression", "update_expression", "comma_expression"})


@dataclass(frozen=True)
class Call:
    """A call found in the tokens: [start, end) and the text of each argument."""

    start: int
    end: int
    arguments: tuple[bytes, ...]
    is_statement: bool


class Unit:
    """Sites of a file, what is decided about them, and questions that rules ask. `switches`: what
    the transcriber of context switches made of its functions."""

    def __init__(
        self,
        sites: CSites,
        domain: Domain | None,
        knowledge: Knowledge | None = None,
        project: ProjectFacts | None = None,
        switches: Sequence[SwitchPort] = (),
    ) -> None:
        self.found = sites
        self.domain = domain
        self._knowledge = knowledge
        self._project = project
        self.switches = switches
        self.verdicts: dict[Site, Verdict] = {}
        self.deletions: set[Edit] = set()
        self.removed_writes: set[int] = set()  # ids of the nodes of writes taken out
        self.removed_places: set[tuple[int, int, str]] = set()  # of those in the file's tree
        self.facts = Facts()
        self.removed_waits: list[Node] = []  # loops that waited for what the boot table set up
        self.replaced: list[Edit] = []  # edits of verdicts
        self._covered_by = 0, 0  # deletions and replacements that settle_covered() has seen
        self.extra_edits: list[Edit] = []  # edits that carry no site, such as prototypes
        self.rewritten_spans: list[Edit] = []  # whole statements whose old text is gone
        self._accesses: dict[Site, Access | None] = {}
        self.looked_at: Site | None = None  # by a rule, last

    @property
    def text(self) -> CText:
        """The file taken apart."""
        return self.found.text

    @property
    def file(self) -> SourceFile:
        """The file."""
        return self.found.text.file

    @property
    def reader(self) -> str:
        """The name of the C file as which a header is read."""
        return self._knowledge.reader(self.file) if self._knowledge is not None else self.file.name

    @property
    def registers(self) -> Registers:
        """Which values are registers."""
        return self.found.registers

    @property
    def contexts(self) -> Contexts:
        """Syntax around a place."""
        return self.found.contexts

    def pending(self, kind: SiteKind | None = None) -> Iterator[Site]:
        """Sites without a verdict, in order."""
        for site in self.found.sites:
            if site not in self.verdicts and (kind is None or site.kind is kind):
                self.looked_at = site
                yield site

    def read_as(self, sites: CSites) -> Unit:
        """A new one for the same file as somebody else reads it."""
        return Unit(sites, self.domain, self._knowledge, self._project, self.switches)

    def settle(self, verdict: Verdict) -> None:
        """Record a verdict; the first one stands."""
        if self.verdicts.setdefault(verdict.site, verdict) is verdict:
            self.replaced += verdict.edits if verdict.status is Status.REWRITTEN else ()

    def revise(self, verdict: Verdict) -> None:
        """Record a verdict in the place of another; it edits nothing."""
        self.verdicts[verdict.site] = verdict

    def settle_covered(self) -> None:
        """Settle the sites inside text that is deleted or replaced by something without them."""
        changed = len(self.deletions), len(self.replaced)
        if changed == self._covered_by:
            return
        self._covered_by = changed
        for site in list(self.pending()):
            if self.is_deleted(site.start, site.end):
                reason = "removed with the statement it is part of"
            elif any(
                edit.start <= site.start
                and site.end <= edit.end
                and site.what.encode("latin-1") not in edit.replacement
                for edit in self.replaced
            ):
                reason = "part of an expression that is rewritten"
            else:
                continue
            self.settle(Verdict(site, Status.REWRITTEN, "covered", reason))

    def context(self, site: Site) -> Context | None:
        """The syntax around a site."""
        region = self.region(site)
        context = self.contexts.of(region, site.start, site.end)
        if context is None or region.name is None or self._project is None:
            return context
        is_stated = _does(body_of(context)) and self._project.stated.holds(region.name)
        return self.contexts.as_statement(region) if is_stated else context

    def region(self, site: Site) -> Region:
        """The code or macro body that a site is in."""
        self.looked_at = site
        return self.found.regions[site]

    def line_looked_at(self) -> int | None:
        """Where a rule was that got no further."""
        return self.file.line(self.looked_at.start) if self.looked_at is not None else None

    @cached_property
    def _token_index(self) -> dict[int, dict[int, int]]:
        return {}

    def token_index(self, site: Site) -> tuple[tuple[Token, ...], int]:
        """The tokens around a site and the index of its own."""
        region = self.region(site)
        index = self._token_index.setdefault(
            region.start, {token.start: number for number, token in enumerate(region.tokens)}
        )
        return region.tokens, index[site.start]

    def call(self, site: Site) -> Call | None:
        """The call whose function name the site is; None if the name is used otherwise."""
        tokens, index = self.token_index(site)
        if index + 1 >= len(tokens) or tokens[index + 1].text != b"(":
            return None
        closing = matching(tokens, index + 1)
        if closing is None:
            return None
        arguments = tuple(
            self.file.data[part[0].start : part[-1].end]
            for part in split_arguments(tokens[index + 2 : closing])
            if part
        )
        before = tokens[index - 1].text if index else b";"
        after = tokens[closing + 1].text if closing + 1 < len(tokens) else b";"
        return Call(
            site.start,
            tokens[closing].end,
            arguments,
            after == b";" and before in (b";", b"{", b"}", b":"),
        )

    def accesses(self) -> Iterator[Access]:
        """Register accesses at pending sites that the syntax explains."""
        for site in self.pending(SiteKind.REGISTER):
            if (access := self.access(site)) is not None:
                yield access

    def access(self, site: Site) -> Access | None:
        """How a register site is used, None if it can't be told."""
        if site not in self._accesses:
            context = self.context(site)
            found = access_of(site, context, self.registers) if context is not None else None
            self._accesses[site] = found
        return self._accesses[site]

    def reads_device(self, node: Node, scope: Scope = no_scope) -> bool:
        """Whether evaluating an expression reads a peripheral that the machine may have.

        Such a read may have an effect, so it can't go with a value that nobody needs.
        """
        for item in walk(node):
            if item.type in _PLACES:
                value = self.text.evaluator.value(item, scope)
                address = value.address if isinstance(value, Place) else None
                if address is None or not _PERIPHERALS[0] <= address < _PERIPHERALS[1]:
                    continue
                if self.registers.identify(value) is None:
                    return True
        return False

    def reads_within_macro(self, access: Access) -> bool:
        """Whether a macro that writes a register reads one for the value: that isn't in the text,
        so no rule sees it."""
        if access.value is None or access.whole.type != "call_expression":
            return False
        return any(
            self.registers.identify(self.text.evaluator.value(node, access.context.scope))
            for node in walk(access.value)
            if node.type in _PLACES
        )

    @property
    def priority_shift(self) -> int:
        """Bits of a priority byte that the chip doesn't have."""
        written = self.text.evaluator.number_of_name(PRIORITY_BITS)
        described = self.domain.priority_bits if self.domain is not None else None
        return 8 - (written or described or _DEFAULT_PRIORITY_BITS)

    @property
    def is_in_assembler(self) -> bool:
        """Whether an assembler file includes this one."""
        return self._knowledge is not None and self._knowledge.is_in_assembler(self.file)

    @cached_property
    def variables(self) -> Variables:
        """Variables of the file."""
        return Variables(self.text)

    def delete(self, context: Context, node: Node) -> Edit:
        """Take a statement or declaration out; returns the deletion."""
        deletion = span_of(context, node, self.text.evaluator)
        own = Edit(context.start(node), context.end(node), b"{ }")
        within = self.text.lexed.directives_within
        if within(deletion.start, deletion.end) and not within(own.start, own.end):
            deletion = own  # the `if` around it has another body in another arm
        deletion = replace(deletion, start=self.start_with_noise(context.tree, deletion.start))
        if self.is_cut_off(context, node):
            deletion = replace(deletion, replacement=b";")
        elif context.kind == "macro" and self._is_expression(context, node):
            deletion = replace(deletion, replacement=b"((void)0)")
        self.deletions.add(deletion)
        return deletion

    def _is_expression(self, context: Context, statement: Node) -> bool:
        """Whether a statement is all of a macro's body, which leaves the `;` to its uses."""
        body, end = body_of(context), context.end(statement)
        return body is not None and body.parent == statement and self.file.data[end - 1] != 0x3B

    def is_cut_off(self, context: Context, statement: Node) -> bool:
        """Whether a use of a macro may make a body of a statement and not of those behind it."""
        return is_cut_off(context, statement, self.text.evaluator.macros, self.macro_uses)

    def remove_write(self, context: Context, node: Node) -> None:
        """Remember that a write is taken out."""
        self.removed_writes.add(node.id)
        if context.tree is self.text.trees.whole:
            self.removed_places.add((node.start_byte, node.end_byte, node.type))

    def is_removed(self, node: Node) -> bool:
        """Whether a node of the file's tree is such a write."""
        return (node.start_byte, node.end_byte, node.type) in self.removed_places

    def remove_slice(self, context: Context, found: Slice, waits: bool = False) -> None:
        """Take out what a dead slice consists of. `waits`: its loops waited for a set-up."""
        for statement in found.statements.values():
            if (first := self._needed_start(statement)) is not None:
                start, end = context.start(statement), context.end(statement)
                self.deletions.add(Edit(start, context.start(first), b""))
                self.deletions.add(Edit(context.end(first), end, b";"))
            else:
                self.delete(context, statement)
            if waits and statement.type in LOOPS:
                self.removed_waits.append(statement)
        for declarator in found.initialisers:
            inner = declarator.child_by_field_name("declarator")
            if inner is not None:
                edit = Edit(context.end(inner), context.end(declarator), b"")
                self.deletions.add(edit)

    def _needed_start(self, statement: Node) -> Node | None:
        """What a `for` assigns before it begins, if somebody behind it reads that."""
        first = statement.child_by_field_name("initializer")
        if statement.type != "for_statement" or first is None or first.type == "declaration":
            return None
        for node in walk(first):
            if node.type != "assignment_expression":
                continue
            left = node.child_by_field_name("left")
            variable = self.variables.resolve(left) if left and left.type == "identifier" else None
            if variable is None or any(
                use.start_byte >= statement.end_byte for use in self.variables.uses(variable)
            ):
                return first
        return None

    def start_with_noise(self, tree: SyntaxTree, start: int) -> int:
        """Where a statement begins in the file, with the qualifiers that the tree doesn't see."""
        blank = start
        while (
            blank > tree.delta and tree.text[blank - tree.delta - 1 : blank - tree.delta].isspace()
        ):
            blank -= 1
        tokens = self.text.lexed.tokens
        first = bisect_left(tokens, blank, key=lambda token: token.start)
        if first < len(tokens) and tokens[first].start < start:
            begins = tokens[first].start
            return start if self.text.lexed.directives_within(begins, start) else begins
        return start

    def is_compiled(self, start: int, end: int) -> bool:
        """False only if the compiler was asked and skipped the #if arms that [start, end) is in.

        Whole arms, since a preprocessor puts what continues on a line into the line it began on.
        """
        if self._knowledge is None:
            return True
        return self._knowledge.is_arm_compiled(self.text, start, end)

    @property
    def has_all_arms(self) -> bool:
        """Whether somebody wants every arm of #if ported."""
        return self._knowledge is not None and self._knowledge.all_arms

    def false_condition(self, start: int) -> str | None:
        """The condition around an offset that this build can't fulfil, if there is one."""
        if self._knowledge is None:
            return None
        return self._knowledge.false_condition(self.text, start)

    def open_condition(self, text: CText, start: int) -> str | None:
        """The innermost condition of #if around an offset of a file, if nobody knows whether it
        holds in this build; the guard of a header aside."""
        conditions = text.conditions.arm(start).conditions
        known = self._knowledge is not None and self._knowledge.was_asked(text.file.path)
        return conditions[-1] if conditions and not known and not text.file.is_header else None

    def field_values(self, node: Node, scope: Scope) -> frozenset[int] | None:
        """What is written to a field of a struct; None if it may be anything."""
        if self._project is None:
            return None
        return self._project.fields.of(node, self.text.evaluator, scope)

    def why_never(self, site: Site) -> str | None:
        """Why the code at a site never runs; None if it may."""
        if self.region(site).name is not None:
            return None
        return self.why_never_at(site.start, site.end)

    def why_never_at(self, start: int, end: int) -> str | None:
        """The same for [start, end) of the file's own code."""
        if self._project is None:
            return None
        return self._project.why_never(self.text, start, end)

    def why_not_linked(self, name: str) -> str | None:
        """Why a function or macro is never used; None if it may be."""
        return self._project.program.why_not(name) if self._project is not None else None

    def macro_uses(self, name: bytes) -> Sequence[MacroUse]:
        """Uses of a function-like macro in code that may run, in all files of the project."""
        return self._project.macro_uses(name) if self._project is not None else ()

    def places_of_macro(self, name: bytes) -> Iterator[MacroUse]:
        """Where code comes to a macro of any kind, through others too."""
        return self._project.places_of_macro(name) if self._project is not None else iter(())

    def is_named_beside(self, name: str) -> bool:
        """Whether a file that nobody looks into has a name."""
        return self._project is not None and self._project.program.is_named_beside(name)

    def uses_by_name(self, name: bytes) -> Iterator[MacroUse]:
        """Where code has the name of a macro of any kind itself."""
        return self._project.uses_by_name(name) if self._project is not None else iter(())

    def idle_uses(self, name: bytes) -> Iterator[tuple[MacroUse, str]]:
        """Uses of one that the program has and never runs, and why."""
        return self._project.idle_uses(name) if self._project is not None else iter(())

    def idle_places(self, site: Site) -> Iterator[tuple[MacroUse, str]]:
        """Where code that never runs comes to the macro that a site is in, and why; none if code
        does that may run."""
        name = self.region(site).name
        if self._project is not None and name is not None and not self.is_in_assembler:
            yield from self._project.idle_places(name)

    def calls_of(self, name: str) -> Sequence[FunctionCall]:
        """Calls of a function in code that may run, in all files of the project."""
        return self._project.calls_of(name) if self._project is not None else ()

    def is_only_called(self, name: str) -> bool:
        """Whether calls_of() has every way into a function: no pointer to it, no macro, no asm."""
        return self._project is not None and self._project.is_only_called(name)

    def constant(self, context: Context, name: bytes) -> Number | None:
        """The number that a name has in a function where it is an object's that one file of the
        project defines for all, and that is constant or that nothing of the program writes."""
        return self._project.constant(context, name) if self._project is not None else None

    def kept(self, name: bytes) -> KeptNumber | None:
        """The variable outside functions that the program writes nowhere or at one place alone."""
        return self._project.kept(name) if self._project is not None else None

    def why_again(self, access: Access) -> str | None:
        """Who may run an access again once the machine is up; None if only start-up does."""
        if self._project is None:
            return None
        context = access.context
        if self.text.is_cplusplus:
            around = {node.type for node in ancestors(access.whole)}
            if "lambda_expression" in around or context.name.startswith("operator"):
                return "in a function without a name, which anybody may call"
        start = context.start(access.whole)
        return self._project.program.why_again(context.name, self.file.path, start)

    def handler_around(self, site: Site) -> str | None:
        """The interrupt handler that a site is in, or that leads to it."""
        context = self.context(site)
        if self._project is None or context is None or context.kind != "function":
            return None
        return self._project.program.handler_of(context.name)

    @property
    def old_clock(self) -> int | None:
        """The core's clock on the chip that the code was written for, if somebody says it."""
        return self._project.old_clock if self._project is not None else None

    @property
    def polls_timer(self) -> bool:
        """Whether the program never lets SysTick interrupt."""
        return self._project is not None and self._project.polls_timer

    def other_sources_have(self, words: re.Pattern[bytes]) -> bool:
        """Whether words occur in a source file but this one; headers only declare."""
        return self._project is not None and self._project.is_in_sources(words, self.file.path)

    def sources_have(self, words: re.Pattern[bytes]) -> bool:
        """Whether words occur in this file or in another source file."""
        return words.search(self.file.data) is not None or self.other_sources_have(words)

    def other_files_have(self, words: re.Pattern[bytes]) -> bool:
        """Whether words occur in another file of the project, headers included."""
        return self._knowledge is not None and self._knowledge.has(words, self.file.path)

    def borrows(self, words: re.Pattern[bytes]) -> bool:
        """Whether the file has words from headers that it doesn't include, its own being away."""
        return self._knowledge is not None and self._knowledge.borrows(words, self.file.path)

    def level_compared(self, context: Context | None) -> str:
        """Which C, in this build, does more with the level of BASEPRI that the function around
        reads than to ask whether it is 0; "" for none."""
        if self._project is None or context is None or context.kind != "function":
            return ""
        return self._project.level_compared(context.name)

    def number_asked(self, context: Context | None) -> str:
        """Which C, in this build, asks for more of the exception's number that the function around
        reads than whether it is 0; "" for none."""
        if self._project is None or context is None or context.kind != "function":
            return "nobody knows what the project does with it"
        return self._project.number_asked(context.name)

    def control_asked(self, function: str) -> str:
        """Which C does more with CONTROL, which a function reads or writes, than with FPCA; "" for
        none."""
        if self._project is None:
            return "nobody knows"
        return self._project.control_asked(function)

    def names_service(self, function: str) -> bool:
        """Whether a C function, of "" whether any, makes supervisor calls that put the function
        they want into r12, as all of the project do in this build."""
        return self._project is not None and self._project.supervisor.made_by(function)

    def may_set_psp(self) -> bool:
        """Whether anything of the project but handlers that switch may set PSP."""
        return self._project is None or self._project.may_set_psp()

    def sees_control(self) -> bool:
        """Whether calls of CMSIS' function are all that writes CONTROL, and none of them chooses a
        stack for tasks."""
        return not self.may_set_psp() and not (self._project and self._project.writes_control())

    def asks_control(self) -> bool:
        """Whether anything of the project reads CONTROL by CMSIS' function."""
        reads = _READS_CONTROL.search(self.file.data) is not None
        return reads or self.other_files_have(_READS_CONTROL)

    def puts_callers_on_psp(self) -> bool:
        """Whether a function of the project that was ported puts its caller on PSP."""
        return self._project is not None and self._project.puts_callers_on_psp()

    def serves_calls(self, context: Context | None) -> bool:
        """Whether the function around runs in the handler of supervisor calls alone, which name
        it."""
        if self._project is None or context is None or context.kind != "function":
            return False
        return self._project.supervisor.runs_only_for_calls(context.name)

    def is_deleted(self, start: int, end: int) -> bool:
        """Whether [start, end) goes with a deletion."""
        return any(edit.start <= start and end <= edit.end for edit in self.deletions)

    def is_gone(self, name: bytes, start: int, end: int) -> bool:
        """Whether the name at [start, end) goes with a deletion or a rewritten statement.

        A statement whose new text has the name uses it as before.
        """
        return self.is_deleted(start, end) or any(
            edit.start <= start and end <= edit.end and not has_word(edit.replacement, name)
            for edit in (*self.rewritten_spans, *self.replaced)
        )

    def reads_are_gone(self, name: bytes) -> bool:
        """Whether only deleted or rewritten code of the whole project read a variable."""
        reads = [
            token
            for token in self.text.lexed.tokens
            if token.text == name and not self._is_declared(token)
        ]
        elsewhere = self._knowledge is None or self._knowledge.mentions(name, self.file.path)
        gone = all(self.is_gone(name, it.start, it.end) for it in reads)
        return bool(reads) and not elsewhere and gone

    def sees_all_uses(self, context: Context, name: Node) -> bool:
        """Whether every use of an initialised variable is looked at: those in its function or
        file, and those of a header's in all files if it always holds one address."""
        if context.kind != "file" or self._knowledge is None:
            return True
        if self.file.is_header:
            return self.text.evaluator.keeps_address(text_of(name))
        declaration = next((it for it in ancestors(name) if it.type == "declaration"), None)
        if declaration is not None and is_static(declaration):
            return True
        if not self._knowledge.mentions(text_of(name), self.file.path):
            return True
        keeps = self.text.evaluator.keeps_address(text_of(name))
        return keeps and self._knowledge.know_address(text_of(name), self.file.path)

    def _is_declared(self, token: Token) -> bool:
        found = self.text.trees.clean_at(token.start, token.end)
        node = found[0].smallest(token.start, token.end) if found is not None else None
        return node is not None and node.type == "identifier" and is_declarator(node)

    def edits(self) -> list[Edit]:
        """Every edit decided so far, without those inside deleted text, none inside another."""
        wanted = {
            edit
            for verdict in self.verdicts.values()
            if verdict.status is Status.REWRITTEN
            for edit in verdict.edits
            if not self.is_deleted(edit.start, edit.end)
        }
        kept = {
            edit
            for edit in self.deletions
            if not any(span.start <= edit.start < span.end for span in self.rewritten_spans)
        }
        if kept and b"switch" in self.file.data:
            kept = with_statements_of_labels(self.text.trees.whole, kept)
        deletions = tidy(self.file, kept, self.text.lexed.comments)
        return folded(self.file.data, {*wanted, *deletions, *self.extra_edits})


def _does(body: Node | None) -> bool:
    """Whether a macro's body is an expression with an effect, or chooses between two."""
    node = strip_parentheses(body) if body is not None else None
    if node is None or node.type != "conditional_expression":
        return node is not None and node.type in _EFFECTS
    arms = (node.child_by_field_name(it) for it in ("consequence", "alternative"))
    return all(map(_does, arms))
