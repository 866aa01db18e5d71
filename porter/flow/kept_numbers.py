"""Variables outside functions that a whole program writes nowhere, or at one place alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from porter.program.c_text import CText
from porter.program.knowledge import Knowledge
from porter.sites.local_names import declarations
from porter.sites.own_words import own_words
from porter.source.c_tree import PARENTHESES, Node, ancestors, text_of
from porter.source.c_types import CType
from porter.source.declared import declared_name
from porter.source.source_file import SourceFile

_BEHIND = frozenset({b"=", b";", b","})  # a name that is declared without attributes
_UNSURE = frozenset({b"volatile", b"__attribute__", b"__attribute", b"__thread", b"_Thread_local"})


@dataclass(frozen=True)
class KeptNumber:
    """`value`: what its definition, in `text`, begins it with; None for 0. `given`: the one
    assignment to it in the program, None if there is none."""

    text: CText
    type: CType
    value: Node | None
    given: Node | None


class KeptNumbers:
    """Answers for a program of which all sources are here. `outside`: names that libraries and
    linker scripts use, who may write what has one."""

    def __init__(
        self, knowledge: Knowledge, sources: Iterable[SourceFile], outside: Collection[str]
    ) -> None:
        self._knowledge = knowledge
        self._sources = list(sources)
        self._outside = outside
        self._found: dict[bytes, KeptNumber | None] = {}

    def get(self, name: bytes) -> KeptNumber | None:
        """The variable of a name; None where somebody else may write it, or nobody can tell."""
        if name not in self._found:
            self._found[name] = self._look_for(name)
        return self._found[name]

    def _look_for(self, name: bytes) -> KeptNumber | None:
        files = [source for source in self._sources if name in source.data]
        if name.decode("latin-1") in self._outside or any(source.is_asm for source in files):
            return None
        texts = [self._knowledge.text(source) for source in files]
        if not all(_is_by_its_name(text, name) for text in texts):
            return None
        alone = len(files) == 1
        defined = [it for text in texts for it in self._definitions(text, name, alone)]
        given: list[Node] = []
        for text in texts:
            assigned = self._given(text, name)
            if assigned is None:
                return None
            given += assigned
        if len(defined) != 1 or defined[0] is None or len(given) > 1:
            return None
        return KeptNumber(*defined[0], given[0] if given else None)

    def _definitions(
        self, text: CText, name: bytes, alone: bool
    ) -> Iterator[tuple[CText, CType, Node | None] | None]:
        """Those in a file; None for one that is no number's, or of which more is said. `alone`: no
        other file has the name, which may be a static one's."""
        tree = text.trees.whole
        for kind, declarator, value in declarations(tree.root, file_level=True):
            named = declared_name(declarator)
            if named is None or text_of(named) != name:
                continue
            if not self._knowledge.is_arm_compiled(text, tree.start(named), tree.end(named)):
                continue
            words = own_words(text, kind, declarator)
            if b"extern" in words and value is None:
                continue
            type_ = text.evaluator.types.of(kind, declarator)
            # The tree has no attributes: only the file has those behind the name.
            after = next(it for it in text.lexed.tokens if it.start >= tree.end(named))
            odd = words & _UNSURE or any(b"weak" in it for it in words) or after.text not in _BEHIND
            is_number = type_.kind == "scalar" and (alone or b"static" not in words)
            yield (text, type_, value) if is_number and not odd else None

    def _given(self, text: CText, name: bytes) -> list[Node] | None:
        """The assignments of a file to it; None if it may be written otherwise."""
        assigned: list[Node] = []
        functions: dict[int, Node] = {}
        for before, token in pairwise(text.lexed.tokens):
            if token.text != name:
                continue
            if not self._knowledge.is_arm_compiled(text, token.start, token.end):
                continue
            around = text.trees.function_at(token.start, token.end)
            if around is None:
                if before.text == b"&":
                    return None
                continue
            tree, function = around
            node = tree.smallest(token.start, token.end)
            if node is None or function.has_error or _declares(function, name):
                return None
            functions[function.start_byte] = function
            whole = _assignment(node)
            assigned += [whole] if whole is not None else []
        for function in functions.values():
            own = [it for it in assigned if function in ancestors(it)]
            if len(own) > 1 or name in text.written.besides(function, own[0] if own else None):
                return None
        return assigned


def _is_by_its_name(text: CText, name: bytes) -> bool:
    """Whether a file has a name in plain C alone: no macro, assembler, alias or reference."""
    return not (
        text.is_cplusplus
        or text.written.is_named_in_asm(name)
        or any(line.has(name) for line in text.lexed.directives)
        or any(it.text.startswith(b'"') and name in it.text for it in text.lexed.tokens)
    )


def _declares(function: Node, name: bytes) -> bool:
    """Whether the name is another variable's in a function, or somewhere in it."""
    found = (declared_name(declarator) for _, declarator, _ in declarations(function))
    return any(it is not None and text_of(it) == name for it in found)


def _assignment(node: Node) -> Node | None:
    """`name = value` around a name that it gives a value."""
    around = node.parent
    while around is not None and around.type in PARENTHESES:
        node, around = around, around.parent
    if around is None or around.type != "assignment_expression":
        return None
    sign = around.child_by_field_name("operator")
    is_left = around.child_by_field_name("left") == node
    return around if is_left and sign is not None and text_of(sign) == b"=" else None
