"""Where a value goes in the project's C, as the preprocessor leaves it: from function to function.

What an assembler function returns, C reads; what C's scheduler does, a fast yield does elsewhere.
Calls through pointers aren't followed.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache, cached_property
from pathlib import Path

from porter.context_switch.armcc import suited
from porter.context_switch.asm_results import before_asm_writes
from porter.context_switch.asm_statements import template_of, text_in
from porter.context_switch.assemble import (
    CompileError,
    compiled,
    constant,
    functions_in,
    preprocess,
    stack_use,
)
from porter.context_switch.attribute_places import with_attributes_in_front
from porter.context_switch.c_nodes import (
    assignments_to,
    base_of,
    declared_name,
    element_of,
    function_name,
    is_compared,
    is_declarator,
    is_function,
    is_local,
    is_read,
    parameter_name,
    parameters_named,
    uses_in,
)
from porter.context_switch.casts import with_casts
from porter.context_switch.cplusplus import Cplusplus
from porter.context_switch.object_file import ObjectFile
from porter.context_switch.recipe import begins_otherwise, conditions_of_port, new_body
from porter.context_switch.result import NotTranscribable
from porter.context_switch.statement_values import whole_of
from porter.context_switch.word_lists import WORD, WordLists
from porter.project.compile_options import CompileOptions
from porter.source.arithmetic import literal
from porter.source.asm_text import blank_comments, dialect_of
from porter.source.c_lexer import lex
from porter.source.c_tree import (
    Node,
    SyntaxTree,
    ancestors,
    captured,
    enclosing_function,
    outermost,
    query,
    text_of,
)
from porter.source.comments import blank
from porter.source.conditions import condition_of
from porter.source.source_file import ASM_SUFFIXES, is_included

_LARGEST = 0xFFFF_FFFF  # a word
_NAMES = frozenset({"identifier", "field_identifier", "type_identifier"})
_ASM = re.compile(rb"\b(?:__)?asm(?:__)?\b")
_FUNCTIONS = query("(function_definition) @it")

Unless = Callable[[Node, Node | None], bool]
"""Of an expression, and what has handed it its value (None of one where a flow begins)."""


class CUnits:
    """The C files of a project, preprocessed and parsed when somebody asks for a name in them. A
    file that can't be is taken as it is written. `entry`: what start-up code calls in the end."""

    def __init__(self, files: Iterable[Path], options: CompileOptions, entry: str = "main") -> None:
        files = list(files)
        self.entry = entry.encode("latin-1")
        self.compiler = options.compiler
        self._options = options
        self._sources = [file for file in files if file.suffix == ".c"]
        self._headers = [file for file in files if is_included(file)]
        self._assembler = [file for file in files if file.suffix.lower() in ASM_SUFFIXES]
        self._cplusplus = Cplusplus(files, self._headers, options)
        self.cplusplus_naming = self._cplusplus.naming
        self.words_in_cplusplus = self._cplusplus.words
        self.cplusplus_definitions = self._cplusplus.definitions
        self._written = cache(lambda file: file.read_bytes())
        self._words = cache(lambda file: frozenset(WORD.findall(self._written(file))))
        self._files: dict[int, Path] = {}  # by the root of its tree
        self._nodes: dict[bytes, list[Node]] = {}
        self._text = cache(self._preprocessed)
        self._in_text = WordLists(self._text)
        self._tree = cache(self._parsed)
        self.asm_statements = cache(self._asm_statements)
        self.definitions = cache(self._definitions)
        self.templates = cache(self._templates)
        self._constant = cache(self._constant_in)
        self.stack_use = cache(self._stack_use)
        self.unread_in = cache(self._unread_in)
        self._member_uses = cache(self._uses_of_member)
        self._compiled = cache(self._compiled_objects)

    def _preprocessed(self, file: Path) -> bytes:
        """All that it is, one after the other, where it is compiled several times."""
        written = without_checks(file, self._written(file))
        found: dict[bytes, None] = {}
        for own in self._options.readings(file):
            text = written
            with suppress(CompileError), tempfile.TemporaryDirectory(prefix="fvmkit-") as folder:
                copy = Path(folder, file.name)
                copy.write_bytes(written)
                with suited(copy, self._headers, own.beside(file.parent)) as options:
                    text = preprocess(copy, options).encode("latin-1", "replace")
            found[text] = None
        return with_casts(b"\n".join(found))

    def _parsed(self, file: Path) -> SyntaxTree:
        tree = SyntaxTree(with_attributes_in_front(self._text(file)), 0)
        self._files[tree.root.id] = file
        return tree

    def _stack_use(self, file: Path) -> dict[str, int | None]:
        """Bytes of stack that each of a file's functions takes; None where they aren't a number."""
        found: dict[str, int | None] = {}
        for own in self._options.readings(file):
            with suited(file, self._headers, own) as options:
                for name, used in stack_use(file, options).items():
                    known = found.get(name, 0)
                    found[name] = None if used is None or known is None else max(used, known)
        return found

    def _constant_in(self, file: Path, expression: str) -> int | None:
        """The value of an expression in a file, the same each time that it is compiled."""
        ways = self._options.readings(file)
        found = {constant(file, it.beside(file.parent), expression) for it in ways}
        return found.pop() if len(found) == 1 else None

    def compiled_names(self, near: Node, function: bytes) -> set[str] | None:
        """Names that the code of a function has for places elsewhere, as the compiler makes it of
        the file that has a node; all of the file where it isn't known by its name there, None where
        it can't be compiled."""
        made = self._compiled(self.file_of(near))
        if made is None:
            return None
        return set[str]().union(*(it.named_in(function.decode("latin-1")) for it in made))

    def _compiled_objects(self, file: Path) -> list[ObjectFile] | None:
        """What becomes of a file, each time that it is compiled."""
        found: list[ObjectFile] = []
        with suppress(CompileError, NotTranscribable):
            for own in self._options.readings(file):
                with suited(file, self._headers, own) as options:
                    found.append(compiled(file, options))
            return found
        return None

    def _named_in(self, file: Path, name: bytes) -> list[Node]:
        """Identifiers of a name in a file, which is parsed only if it has some: trees are large."""
        if not self._in_text.has(file, name):
            return []
        word = re.compile(rb"\b%s\b" % re.escape(name))
        tree = self._tree(file)
        found = [tree.smallest(*it.span()) for it in word.finditer(tree.text)]
        return [node for node in found if node is not None and node.type in _NAMES]

    @cached_property
    def _words_of_headers(self) -> frozenset[bytes]:
        return frozenset[bytes]().union(*(WORD.findall(self._written(it)) for it in self._headers))

    def _having(self, name: bytes) -> Iterator[Path]:
        """Files that have a name when they are preprocessed."""
        return (it for it in self._naming(name) if self._in_text.has(it, name))

    def _naming(self, name: bytes) -> Iterator[Path]:
        """Files that may have a name; a header's macro may bring it into any."""
        anywhere = name in self._words_of_headers
        return (it for it in self._sources if anywhere or name in self._words(it))

    def named(self, name: bytes) -> list[Node]:
        """Every identifier of a name."""
        if name not in self._nodes:
            self._nodes[name] = [node for file in self._naming(name)
                                 for node in self._named_in(file, name)]  # fmt: skip
        return self._nodes[name]

    def is_quoted(self, name: bytes) -> bool:
        """Whether a text in C has a name, as attributes, labels and assembler do."""
        quoted = re.compile(rb'"[^"\n]*\b%s\b[^"\n]*"' % re.escape(name))
        return any(quoted.search(tree.text) for tree in self.trees())

    def in_cplusplus(self, names: Iterable[bytes]) -> tuple[str, str] | None:
        """A C++ file that has one of these names, and the name."""
        for name in sorted(names):
            if (found := self.cplusplus_naming(name)) is not None:
                return found.file.name, name.decode("latin-1")
        return None

    def calls(self, name: bytes) -> Iterator[Node]:
        """Calls of a function, and other uses of its name than declarations."""
        for node in self.named(name):
            parent = node.parent
            if parent is not None and not is_declarator(node):
                yield parent if parent.type == "call_expression" else node

    def jumps(self, name: bytes) -> Iterator[Node]:
        """Asm statements with a name in the assembler's text."""
        word = re.compile(rb"\b%s\b" % re.escape(name))
        for file in self._naming(name):
            for statement in self.asm_statements(file) if word.search(self.templates(file)) else ():
                if word.search(template_of(statement)):
                    yield statement

    def _definitions(self, name: bytes) -> list[Node]:
        """Definitions of a function."""
        found = []
        for node in self.named(name):
            declarator = node.parent
            around = enclosing_function(node)
            if (
                around is not None
                and declarator is not None
                and declarator.type == "function_declarator"
                and declarator.child_by_field_name("declarator") == node
                and function_name(around) == name
            ):
                found.append(around)
        return found

    def unread(self, name: bytes) -> Path | None:
        """A file that defines a function, as the compiler says, in words that nobody reads here: in
        front of it something has no type, or it has none itself."""
        return next((it for it in self._naming(name) if name in self.unread_in(it)), None)

    def unread_functions(self) -> Iterator[tuple[Path, bytes]]:
        """All such functions."""
        for file in self._sources:
            yield from ((file, name) for name in sorted(self.unread_in(file)))

    def _unread_in(self, file: Path) -> frozenset[bytes]:
        root = self._tree(file).root
        found = list(captured(root, _FUNCTIONS, "it"))
        if not root.has_error and all(map(is_function, found)):
            return frozenset()
        compiled = set[bytes]()
        for own in self._options.readings(file):
            with suppress(NotTranscribable), suited(file, self._headers, own) as options:
                compiled |= {name.encode() for name in functions_in(file, options)}
        return frozenset(compiled - {function_name(it) for it in found if is_function(it)})

    def homes(self, name: bytes) -> dict[Path, list[Node]]:
        """The same, by file."""
        own = {it.id for it in self.definitions(name)}
        found = {file: [it for node in self._named_in(file, name)
                        if (it := enclosing_function(node)) is not None and it.id in own]
                 for file in self._naming(name)}  # fmt: skip
        return {file: nodes for file, nodes in found.items() if nodes}

    def weak_as(self, name: bytes) -> Iterator[bytes]:
        """What `#pragma weak` says that a name is another name of, or `redefine_extname` that the
        linker knows it by."""
        pragma = re.compile(rb"^[ \t]*#[ \t]*pragma[ \t]+(?:weak[ \t]+%s[ \t]*=[ \t]*|redefine_"
                            rb"extname[ \t]+%s[ \t]+)(\w+)" % (re.escape(name), re.escape(name)),
                            re.MULTILINE)  # fmt: skip
        for file in self._having(name):
            yield from pragma.findall(self._text(file))

    def labelled(self, name: bytes) -> Iterator[bytes]:
        """Functions that C gives this name for the linker."""
        label = re.compile(rb'\b_*asm_*\s*\((?:\s*"")*\s*"%s"\s*\)' % re.escape(name))
        for file in self._having(name):
            if label.search(self._text(file)) is None:
                continue
            tree = self._tree(file)
            for match in label.finditer(tree.text):
                node = tree.smallest(*match.span())
                around = (it for it in ancestors(node) if it.type == "declaration") if node else ()
                for declaration in list(around)[:1]:
                    found = declared_name(declaration.child_by_field_name("declarator"))
                    yield from () if found is None else (text_of(found),)

    def is_another_ones(self, name: bytes) -> bool:
        """Whether C has another name for this one: an alias of it, or one that the linker doesn't
        know."""
        quoted = re.compile(rb'"\s*%s\s*"' % re.escape(name))
        return any(quoted.search(self._text(file)) for file in self._having(name))

    def texts(self) -> Iterator[bytes]:
        """Of all files, as the preprocessor leaves them."""
        return map(self._text, self._sources)

    def trees(self) -> Iterator[SyntaxTree]:
        """Of all files."""
        return map(self._tree, self._sources)

    def assignments(self, name: bytes) -> Iterator[tuple[Node, Node]]:
        """Each place that sets a variable or a member, or a part of one, and an enumerator, with
        the expression that it is set to. Not those that a recipe takes out of the port."""
        for place, value in assignments_to(self.named(name)):
            if not self._is_replaced(name, place):
                yield place, value

    def is_array(self, name: bytes) -> bool:
        """Whether a name is declared as an array somewhere."""
        parents = (node.parent for node in self.named(name))
        return any(it is not None and it.type == "array_declarator" for it in parents)

    def constant(self, near: Node, expression: str) -> int | None:
        """The value of a constant expression in the file that has a node; None if it isn't one."""
        number = literal(expression.encode("latin-1", "replace"))
        if number is not None and number.value <= _LARGEST:
            return number.value
        file = self.file_of(near)
        return self._constant(file, expression)

    def word(self, near: Node, expression: str) -> int | None:
        """The same of one that may be negative or have bit 31, as a word."""
        if (number := self.constant(near, expression)) is not None:
            return number & _LARGEST
        halves = (self.constant(near, f"(({expression}) >> {shift}) & 0xFFFF") for shift in (16, 0))
        high, low = halves
        return None if high is None or low is None else high << 16 | low

    def file_of(self, node: Node) -> Path:
        """The C file that a node is of, or that includes where it stands."""
        root = next(it for it in (node, *ancestors(node)) if it.parent is None)
        return self._files[root.id]

    def _is_replaced(self, name: bytes, place: Node) -> bool:
        """Whether a recipe has something else for what is set there."""
        text, around = self._written(self.file_of(place)), enclosing_function(place)
        if around is None:
            return begins_otherwise(name.decode("latin-1"), text)
        return new_body(function_name(around).decode("latin-1"), text) is not None

    def offset_of(self, struct: bytes, member: bytes) -> int | None:
        """The offset of a member, of a struct by its tag or another name; None if nobody knows."""
        for file in self._sources:
            if self._named_in(file, struct):
                for kind in (b"struct " + struct, struct):
                    text = f"__builtin_offsetof({kind.decode()}, {member.decode()})"
                    found = self._constant(file, text)
                    if found is not None:
                        return found
        return None

    def parameter_uses(self, function: bytes, place: int) -> list[Node]:
        """Reads of a parameter, counted from 0, in a function's definitions."""
        found: list[Node] = []
        for definition in self.definitions(function):
            name = parameter_name(definition, place)
            found += uses_in(definition, name) if name is not None else []
        return found

    def reads(self, name: bytes) -> list[Node]:
        """Reads of a variable in whatever function."""
        return [node for node in self.named(name) if is_read(node)]

    def going_to(self, file: Path, name: bytes) -> bytes | None:
        """A function of a file that does more with another's name, in text for an assembler too,
        than to compare it with a pointer; "" for none, None where the file isn't C."""
        if file not in self._sources:
            return None
        tree = self._tree(file)
        for match in re.finditer(rb"\b%s\b" % re.escape(name), tree.text):
            node = tree.smallest(*match.span())
            around = enclosing_function(node) if node is not None else None
            if node is None or around is None or function_name(around) == name:
                continue
            if not (node.type == "identifier" and (is_declarator(node) or is_compared(node))):
                return function_name(around)
        return b""

    def _asm_statements(self, file: Path) -> list[Node]:
        """Those of a C file, and of the headers in it."""
        if _ASM.search(self._text(file)) is None:
            return []
        tree = self._tree(file)
        words = (tree.smallest(*match.span()) for match in _ASM.finditer(tree.text))
        around = (word.parent for word in words if word is not None)
        return [it for it in around if it is not None and it.type == "gnu_asm_expression"]

    def outside_functions(self, file: Path) -> list[str]:
        """The texts of those that stand in no function."""
        statements = self.asm_statements(file)
        return [text_in(it) for it in statements if enclosing_function(it) is None]

    def _templates(self, file: Path) -> bytes:
        return b"\n".join(map(template_of, self.asm_statements(file)))

    def asm_naming(self, words: re.Pattern[str]) -> Iterator[Node]:
        """Asm statements with words in the assembler's text."""
        for file in self._sources:
            for statement in self.asm_statements(file):
                if words.search(text_in(statement)):
                    yield statement

    def called_by_others(self, name: bytes) -> str:
        """Who else than C that is in plain sight may call a function; "" for nobody."""
        if (found := self.cplusplus_naming(name)) is not None:
            return f"{found.file.name}, C++, has {name.decode('latin-1')}()"
        word = re.compile(rb"\b%s\b" % re.escape(name))
        if any(map(word.search, self.assembler_code())) or next(self.jumps(name), None) is not None:
            return f"assembler has {name.decode('latin-1')}()"
        heads = [text_of(it).partition(b"{")[0] for it in self.definitions(name)]
        is_own = bool(heads) and all(re.search(rb"\bstatic\b", head) for head in heads)
        if not is_own and next(self.calls(name), None) is None:
            return f"nobody here calls {name.decode('latin-1')}()"
        return ""

    def assembler_code(self) -> Iterator[bytes]:
        """The texts of the assembler files, without comments."""
        texts = map(self._written, self._assembler)
        return (blank_comments(text, dialect_of(text)) for text in texts)

    def assembler_text(self, name: bytes) -> bytes | None:
        """The text of assembler files from a label on to the next function, and of asm outside of
        functions that has it; None without any."""
        label = re.compile(rb"(?m)^\s*%s\b(?!\s*,)[^\n]*\n(.*?)(?=^\s*\.(?:type|global|globl|thumb_"
                           rb"func|size|end)\b|^\s*(?:EXPORT|PUBLIC|ENDP|END)\b|\Z)"
                           % re.escape(name), re.DOTALL)  # fmt: skip
        found = [match.group(1) for file in self._assembler
                 for match in label.finditer(self._written(file))]  # fmt: skip
        own = re.compile(rb"(?:^|[\n;:])\s*%s\s*:" % re.escape(name))
        found += [text for file in self._naming(name) if _ASM.search(self._text(file))
                  for it in self.outside_functions(file)
                  if own.search(text := it.encode("latin-1"))]  # fmt: skip
        return b"\n".join(found) if found else None

    def ends(
        self, starts: Iterable[Node], unless: Unless = lambda node, before: False
    ) -> Iterator[tuple[Node, Node]]:
        """What becomes of the values of expressions: each expression that has one of them, with
        the node around it that does something else than to keep it or hand it on. Not followed
        are expressions of which the caller knows that they have another."""
        for node, parent, further in self.steps(starts, unless):
            if further is None and parent.type != "expression_statement":
                yield node, parent

    def steps(
        self, starts: Iterable[Node], unless: Unless = lambda node, before: False
    ) -> Iterator[tuple[Node, Node, list[Node] | None]]:
        """All expressions that have these values, with the node around, and those that have it by
        that elsewhere; None for an end."""
        waiting: list[tuple[Node, Node | None]] = [(it, None) for it in starts]
        seen: set[int] = set()
        while waiting:
            node, before = waiting.pop()
            if node.id in seen or unless(node, before):
                continue
            seen.add(node.id)
            outer = outermost(node)
            parent = outer.parent
            if parent is not None:
                further = self._handed_on(outer, parent)
                waiting += [(it, parent) for it in further or ()]
                yield outer, parent, further

    def outlives(self, assignment: Node) -> list[Node]:
        """Reads of what an assignment sets, of no local variable, which its function keeps."""
        name = base_of(assignment.child_by_field_name("left"))
        around = enclosing_function(assignment)
        if name is None or around is None:
            return []
        if name.type == "identifier" and is_local(around, text_of(name)):
            return []
        return self._uses_of(name, assignment) or []

    def _handed_on(self, node: Node, parent: Node) -> list[Node] | None:
        """Expressions with the same value elsewhere; None where it is used for something."""
        if parent.type == "init_declarator" and parent.child_by_field_name("value") == node:
            return self._uses_of(declared_name(parent.child_by_field_name("declarator")), parent)
        if parent.type == "assignment_expression" and parent.child_by_field_name("right") == node:
            sign = parent.child_by_field_name("operator")
            if sign is None or text_of(sign) == b"=":
                left = parent.child_by_field_name("left")
                kept = self._uses_of(base_of(left), parent)
                return None if kept is None else [parent, *(element_of(it, left) for it in kept)]
        if parent.type == "expression_statement" and (whole := whole_of(node, parent)) is not None:
            return [whole]
        if parent.type == "extension_expression":
            return [parent]
        if parent.type == "conditional_expression":
            return None if parent.child_by_field_name("condition") == node else [parent]
        if parent.type == "generic_expression":
            return [parent] if parent.named_children[0] != node else []
        if parent.type == "comma_expression":
            return [parent] if parent.child_by_field_name("right") == node else []
        if parent.type == "return_statement":
            around = enclosing_function(node)
            return None if around is None else list(self.calls(function_name(around)))
        if parent.type == "argument_list":
            return self._into_parameters(node, parent)
        return None

    def _into_parameters(self, node: Node, arguments: Node) -> list[Node] | None:
        call = arguments.parent
        callee = call.child_by_field_name("function") if call is not None else None
        if callee is None or callee.type != "identifier":
            return None
        name = text_of(callee)
        place = arguments.named_children.index(node)
        definitions = self.definitions(name)
        if not definitions or any(place >= parameters_named(it) for it in definitions):
            return None  # `...`: whoever asks va_arg() gets it
        return self.parameter_uses(name, place)

    def _uses_of(self, name: Node | None, place: Node) -> list[Node] | None:
        """Reads of the variable or field that keeps a value."""
        if name is None:
            return None
        if name.type == "field_identifier":
            return self._member_uses(text_of(name))
        around = enclosing_function(place)
        if around is not None and is_local(around, text_of(name)):
            return before_asm_writes(name, place, uses_in(around, text_of(name)))
        return self.reads(text_of(name))

    def _uses_of_member(self, member: bytes) -> list[Node]:
        """Of whatever struct or union it is, and of what is another name for it."""
        same = {member, *self._beside_in_union(member)}
        members = (node for it in same for node in self.named(it))
        fields = (it.parent for it in members if it.type == "field_identifier")
        return [it for it in fields if it is not None and it.type == "field_expression"]

    def _beside_in_union(self, member: bytes) -> Iterator[bytes]:
        """Members that are another name for one."""
        for node in self.named(member):
            around = (it for it in ancestors(node) if it.type.endswith("_list"))
            body = next(around, None) if node.type == "field_identifier" else None
            if body is None or body.parent is None or body.parent.type != "union_specifier":
                continue
            for declaration in body.named_children:
                for it in declaration.children_by_field_name("declarator"):
                    name = declared_name(it)
                    yield from () if name is None else (text_of(name),)


def without_checks(file: Path, data: bytes) -> bytes:
    """The text of a file without what a recipe switches off in the port."""
    named = conditions_of_port(file.as_posix())
    open_ones: list[int | None] = []  # where an arm that is switched off begins
    for directive in lex(data).directives if named else ():
        if directive.name.startswith(b"if"):
            open_ones.append(directive.end if condition_of(directive) in named else None)
        elif open_ones and directive.name.startswith((b"el", b"endif")):
            start = open_ones.pop()
            if start is not None:
                off = blank(data[start : directive.start])
                data = data[:start] + off + data[directive.start :]
            if directive.name != b"endif":
                open_ones.append(None)
    return data
