"""Functions that a call through a pointer may come to: somebody has their address.

That an exception's vector has it is no reason, and a call of two arguments comes to no function of
one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from porter.context_switch.asm_branches import addresses_in
from porter.context_switch.asm_statements import text_in
from porter.context_switch.c_flow import CUnits
from porter.context_switch.c_nodes import function_name, is_declarator, parameters_of
from porter.context_switch.calculated_calls import CalculatedCalls
from porter.context_switch.calls_made import CallsMade
from porter.context_switch.resumers import Resumers
from porter.project.vectors import FAULT_HANDLERS, Vectors
from porter.source.c_tree import Node, SyntaxTree, ancestors, captured, query

_DEFINITIONS = query("(function_definition) @it")
_STATEMENTS = query("(gnu_asm_expression) @it")
_UNREAD = frozenset({"declaration", "expression_statement", "ERROR"})
_USED = re.compile(rb"\b[A-Za-z_]\w*\b(?!\s*\()")  # in front of a parenthesis stands a call


class TakenAddresses:
    """Looks through all of a project, when a call through a pointer is met for the first time."""

    def __init__(
        self, resumers: Resumers, units: CUnits, vectors: Vectors, calls: CallsMade
    ) -> None:
        self._resumers, self._units, self._vectors = resumers, units, vectors
        self._calls = calls

    def taking(self, count: int | None) -> list[str]:
        """Those that a call of so many arguments may come to; None: of whatever number."""
        return [name for name in self._taken if count is None or self._takes(name, count)
                or name in self.calculated]  # fmt: skip

    @cached_property
    def calculated(self) -> dict[str, Node]:
        """Functions that a call may come to the middle of, and what C calculates."""
        return CalculatedCalls(self._units).of(self._taken)

    def _is_entered_by_exceptions(self, name: str) -> bool:
        """Whether no call can come back from it: an exception's handler that resumes a task."""
        return self._vectors.may_be_in(name.encode("latin-1")) and self._resumers.resumes(name)

    def _takes(self, name: str, count: int) -> bool:
        definitions = self._units.definitions(name.encode("latin-1"))
        numbers = [parameters_of(it) for it in definitions]
        return not numbers or any(it is None or it == count for it in numbers)

    @cached_property
    def _taken(self) -> list[str]:
        known = {name.encode("latin-1") for name in self._calls.all_by_hand()}
        trees = list(self._units.trees())
        for tree in trees:
            known |= {function_name(it) for it in captured(tree.root, _DEFINITIONS, "it")}
        found = {name for tree in trees for name in self._in_c(tree, known)}
        names = {name.decode("latin-1") for name in known}
        found |= self._in_assembler() & names
        found |= {it.decode("latin-1") for it in self._units.words_in_cplusplus() & known}
        for name, of in self._calls.renamed_by_link():
            if of in names and self._units.named(name.encode("latin-1")):
                found.add(of)  # an array of that name in C is its address
        return sorted(it for it in found if not self._is_entered_by_exceptions(it))

    def _in_c(self, tree: SyntaxTree, known: set[bytes]) -> Iterator[str]:
        used = {it for it in set(_USED.findall(tree.text)) if it in known}
        if used:
            word = re.compile(rb"\b(?:%s)\b(?!\s*\()" % b"|".join(sorted(used)))
            for match in word.finditer(tree.text):
                node = tree.smallest(*match.span())
                name = match.group().decode("latin-1")
                if node is not None and self._is_taken(node, name):
                    yield name
        for statement in captured(tree.root, _STATEMENTS, "it"):
            names = addresses_in(text_in(statement))
            yield from (it for it in names if it.encode("latin-1") in known)

    def _is_taken(self, node: Node, name: str) -> bool:
        if any(it.has_error and it.type in _UNREAD for it in ancestors(node)):
            return True
        if node.type not in ("identifier", "preproc_arg") or is_declarator(node):
            return False
        listed = any(it.type == "initializer_list" for it in ancestors(node))
        return not (listed and self._is_vector(name))

    def _is_vector(self, name: str) -> bool:
        return name in FAULT_HANDLERS or self._vectors.may_be_in(name.encode("latin-1"))

    def _in_assembler(self) -> set[str]:
        """What has its address in a word or in instructions of an assembler file."""
        texts = (it.decode("latin-1") for it in self._resumers.assembler_texts())
        found = {name for text in texts for name in addresses_in(text)}
        for assembly in self._resumers.assemblies():
            found |= assembly.object.addresses()
        return {name for name in found if not self._is_vector(name)}
