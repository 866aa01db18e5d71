"""The sources of one machine, as the split of a handler asks them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from porter.interrupt_split.build_statement import IsCompiled
from porter.interrupt_split.functions import Function, Functions
from porter.interrupt_split.refusal import Refusal
from porter.interrupt_split.result import HandlerSplit
from porter.interrupt_split.writers import Reaches
from porter.program.definitions import Definition
from porter.program.knowledge import Knowledge
from porter.program.reachability import CallGraph
from porter.project.domain import Domain, Split
from porter.source.asm_text import dialect_of, without_remarks
from porter.source.c_lexer import Directive
from porter.source.evaluate import Evaluator
from porter.source.source_file import SourceFile

Definitions = Callable[[set[str]], Mapping[str, Definition]]


@dataclass(eq=False)
class Sources:
    """Answers for all handlers of the machine. `reaches`: whether it gets to a function."""

    domain: Domain
    live: Sequence[SourceFile]
    knowledge: Knowledge
    definitions: Definitions
    reaches: Reaches

    def find(self, result: HandlerSplit, functions: Functions) -> Function:
        """The handler's definition. Raises Refusal."""
        name = result.handler
        found = self.definitions({name}).get(name)
        if found is None:
            raise Refusal(f"no source that is built defines {name}", str(self.domain.path))
        result.definition = found
        if found.file.is_asm:
            raise Refusal("the handler is written in assembler: write it in C", found.file.name)
        for function in functions.all_of(found.file):
            start, end = function.tree.start(function.node), function.tree.end(function.node)
            if start <= found.start < end and function.body is not None:
                if function.node.has_error:
                    self._check_arms(function)
                    break
                return function
        line = found.file.line(found.start)
        raise Refusal(
            f"{name} can't be read: a macro makes it, or the parser doesn't understand it; write "
            "it as a plain function",
            f"{found.file.name}:{line}",
        )

    @staticmethod
    def _check_arms(function: Function) -> None:
        """Raises Refusal for an #if whose arms hold parts of statements."""
        file, lexed = function.text.file, function.text.lexed
        start, end = function.tree.start(function.node), function.tree.end(function.node)
        begun: list[tuple[Directive, int]] = []
        for directive in (d for d in lexed.directives if start <= d.start < end):
            depth = sum(
                (token.text == b"{") - (token.text == b"}")
                for token in lexed.tokens
                if start <= token.start < directive.start
            )
            if directive.name in (b"if", b"ifdef", b"ifndef"):
                begun.append((directive, depth))
            elif directive.name in (b"elif", b"else", b"endif") and begun:
                opened, before = begun[-1]
                if depth != before:
                    raise Refusal(
                        f"#{opened.name.decode()} splits a block of {function.name}: a brace "
                        "opens in one arm and closes elsewhere; put whole statements between "
                        "the directives",
                        f"{file.name}:{file.line(opened.start)}",
                    )
                if directive.name == b"endif":
                    begun.pop()

    @cached_property
    def functions(self) -> Functions:
        """Of the machine's sources."""
        return Functions(self.live, self.knowledge)

    @cached_property
    def graph(self) -> CallGraph:
        """Who calls whom."""
        graph = CallGraph()
        for file in self.live:
            if not file.is_asm and not self.knowledge.is_cplusplus(file):
                graph.add_c(self.knowledge.text(file))
        return graph

    def was_asked(self, file: SourceFile) -> bool:
        """Whether the project's compiler said which lines of a file it sees."""
        return self.knowledge.was_asked(file.path)

    @property
    def is_compiled(self) -> IsCompiled:
        """Asks the project's compiler."""
        return lambda function, first, last: self.knowledge.is_compiled(
            function.text.file.path, first, last
        )

    def opaque(self, split: Split) -> Iterator[str]:
        """Assembler and C++ files that name the device."""
        name = re.compile(rb"\b%s(_BASE)?\b|\b0[xX]0*%X\b" % (split.device.encode(), split.base))
        for file in self.live:
            opaque = file.is_asm or self.knowledge.is_cplusplus(file)
            text = file.data
            if file.is_asm:
                text = without_remarks(text, dialect_of(text))
            if opaque and (match := name.search(text)) is not None:
                yield (
                    f"{file.name}:{file.line(match.start())}: {match.group().decode()} in "
                    "assembler or C++, which isn't followed: access the device in C only"
                )

    def mentions(self, evaluator: Evaluator) -> Callable[[str], bool]:
        """Whether a name stands anywhere in the sources, or is declared in headers elsewhere."""
        types = evaluator.types

        def mentions(name: str) -> bool:
            text = name.encode()
            known = text in evaluator.macros or text in types.globals or text in types.enumerators
            word = re.compile(rb"\b%s\b" % re.escape(text))
            return known or any(text in f.data and word.search(f.data) for f in self.live)

        return mentions
