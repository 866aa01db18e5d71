"""Statements of the small language as C, each with the instructions it stands for beside it."""

from __future__ import annotations

from dataclasses import dataclass, field

from porter.context_switch.emit_blocks import block_load, block_store
from porter.context_switch.emit_expression import WORD, WORD_POINTER, Expressions, context_field
from porter.context_switch.ir import (
    CONTEXT,
    FRAME_OF_CALLER,
    MASKS,
    PARAMETERS,
    READ_ONLY,
    Assign,
    Binary,
    BlockLoad,
    BlockStore,
    Call,
    Const,
    ContextLoad,
    ContextStore,
    Expr,
    Guest,
    Load,
    Note,
    Origin,
    Read,
    Statement,
    Store,
    Symbol,
    Var,
    Verbatim,
)
from porter.context_switch.notes import comment, merge_notes, written
from porter.context_switch.result import NotTranscribable
from porter.context_switch.structure import If, Node, Return, conditions_and_statements
from porter.context_switch.walk import defined, used

_WITH_ASSIGNMENT = frozenset({"+", "-", "*", "&", "|", "^", "<<", ">>"})
_COMMENT_COLUMN = 52
_LINE = 100


@dataclass
class CText:
    """The lines of one function body. `spaced` is the file's habit of `( x )`."""

    expressions: Expressions
    spaced: bool
    indent: str = "    "
    lines: list[str] = field(default_factory=list)
    _returns_pointer: bool = False

    def body(
        self,
        nodes: tuple[Node, ...],
        returns_pointer: bool = False,
        declared: frozenset[str] = frozenset(),
    ) -> list[str]:
        """Declarations and statements, indented by one level; `declared` are locals already."""
        self._returns_pointer = returns_pointer
        nodes = merge_notes(nodes)
        early = _declared_in_place(nodes)
        for name in sorted(_locals(nodes) - early - declared):
            self._line(1, f"{self._type(name)}{name};", ())
        self._nodes(nodes, 1, early - declared)
        return self.lines

    def _nodes(self, nodes: tuple[Node, ...], level: int, early: set[str]) -> None:
        for node in nodes:
            if isinstance(node, If):
                self._if(node, level, early)
            elif isinstance(node, Return):
                self._line(level, f"return{self._value(node.value)};", node.origin)
            elif isinstance(node, Note):
                self._note(level, node)
            else:
                self._statement(node, level, early)

    def _value(self, value: Expr | None) -> str:
        """What is returned, with the blank in front of it."""
        if value is None:
            return ""
        text = self.expressions.integer(value)
        return f" {self.expressions.cast('void *', text) if self._returns_pointer else _bare(text)}"

    def _if(self, node: If, level: int, early: set[str]) -> None:
        condition = self.expressions.paren(self.expressions.condition(node.condition))
        space = "" if self.spaced else " "
        opening = f"if{space}{condition}"
        if self.spaced:
            self._line(level, opening, node.origin)
            self._line(level, "{", ())
        else:
            self._line(level, opening + " {", node.origin)
        self._nodes(node.then, level + 1, early)
        if node.otherwise and self.spaced:
            for text in ("}", "else", "{"):
                self._line(level, text, ())
        elif node.otherwise:
            self._line(level, "} else {", ())
        self._nodes(node.otherwise, level + 1, early)
        self._line(level, "}", ())

    def _statement(self, statement: Statement, level: int, early: set[str]) -> None:
        if isinstance(statement, Guest) and statement.function == FRAME_OF_CALLER:
            self._line(level, "/* A copy: what is written there, the caller never sees. */", ())
        texts = self._texts(statement)
        for index, text in enumerate(texts):
            if (name := _only_result(statement)) in early:
                early.discard(name)
                text = self._type(name) + text
            self._line(level, text + ";", statement.origin if index == 0 else ())

    def _texts(self, statement: Statement) -> list[str]:
        match statement:
            case Assign(target=target, value=value):
                return [self._assign(target, value)]
            case Store(address=address, value=value, size=size, volatile=volatile):
                return [self._store(address, value, size, volatile)]
            case Read(value=value):
                return [self.expressions.cast("void", self.expressions.integer(value))]
            case BlockStore():
                return block_store(statement, self.expressions)
            case BlockLoad():
                return block_load(statement, self.expressions)
            case Call():
                return [self._call(statement)]
            case Verbatim(text=text):
                return [text]
            case ContextStore(address=address, registers=registers):
                return [self._block("STORE", address, registers)]
            case ContextLoad(address=address, registers=registers):
                return [self._block("LOAD", address, registers)]
            case Guest(function=function, arguments=arguments, result=result):
                rendered = [
                    _bare(self.expressions.integer(argument))
                    if isinstance(argument, Expr)
                    else argument
                    for argument in arguments
                ]
                target = f"{result} = " if result is not None else ""
                return [target + function + self.expressions.paren(", ".join(rendered))]
        raise NotTranscribable("a statement that has no C")

    def _assign(self, target: str, value: Expr) -> str:
        left = context_field(target) if target in CONTEXT else target
        if target in self.expressions.pointers:
            return f"{left} = {self.expressions.pointer(value)}"
        if (
            isinstance(value, Binary)
            and value.left == Var(target)
            and value.operator in _WITH_ASSIGNMENT
        ):
            return f"{left} {value.operator}= {self.expressions.integer(value.right)}"
        return f"{left} = {_bare(self.expressions.integer(value))}"

    def _store(self, address: Expr, value: Expr, size: int, volatile: bool) -> str:
        place = self.expressions.place(address, size, volatile)
        if (
            isinstance(address, Symbol)
            and size == 4
            and place == f"*{self.expressions.pointer(address)}"
            and self.expressions.is_pointer_object(address.name)
        ):
            text = self.expressions.pointer(value)
            if isinstance(value, Var) and text == value.name:
                return f"{address.name} = {self.expressions.cast('void *', text)}"
            text = self.expressions.cast("void *", self.expressions.integer(value))
            return f"{address.name} = {text}"
        text = _bare(self.expressions.integer(value))
        if size != 4 and not (isinstance(value, Load) and value.size == size):
            text = self.expressions.cast({1: "uint8_t", 2: "uint16_t"}[size], text)
        return f"{place} = {text}"

    def _block(self, name: str, address: Expr, registers: tuple[str, ...]) -> str:
        """A macro of <fvm/usr_reg.h> on RV32."""
        group = "F" if registers[0].startswith("F") else ""
        arguments = (self.expressions.pointer(address), registers[0], registers[-1])
        return f"USR_{group}{name}{self.expressions.paren(', '.join(arguments))}"

    def _call(self, call: Call) -> str:
        arguments = [
            self._pointer_argument(argument) if pointer else self.expressions.integer(argument)
            for argument, pointer in zip(call.arguments, call.pointers, strict=True)
        ]
        arguments += [f"&{name}" if name else "NULL" for name in call.left]
        name = f"{call.function}_left" if call.left else call.function
        text = name + (self.expressions.paren(", ".join(arguments)) if arguments else "()")
        if call.result is None:
            return text
        kind = WORD_POINTER if call.result in self.expressions.pointers else "uint32_t"
        return f"{call.result} = {self.expressions.cast(kind, text)}"

    def _pointer_argument(self, argument: Expr) -> str:
        text = self.expressions.pointer(argument)
        if argument == Const(0):
            return "NULL"
        if text.isidentifier():
            return self.expressions.cast("void *", text)
        return self.expressions.cast("void *", self.expressions.integer(argument))

    def _type(self, name: str) -> str:
        star = "* " if self.spaced else "*"
        return f"{WORD} {star}" if name in self.expressions.pointers else "uint32_t "

    def _note(self, level: int, note: Note) -> None:
        for line in comment(note, _LINE - len(self.indent) * level):
            self.lines.append(self.indent * level + line)

    def _line(self, level: int, text: str, origin: Origin) -> None:
        line = self.indent * level + text
        if origin:
            beside_it = f"/* {written(origin)} */"
            beside = f"{line:<{_COMMENT_COLUMN}}{beside_it}"
            if len(line) >= _COMMENT_COLUMN:
                beside = f"{line} {beside_it}"
            if len(beside) <= _LINE:
                line = beside
            else:
                self.lines.append(self.indent * level + beside_it)
        self.lines.append(line)


def _locals(nodes: tuple[Node, ...]) -> set[str]:
    names: set[str] = set()
    for item in conditions_and_statements(nodes):
        names |= used(item) | (set(defined(item)) if isinstance(item, Statement) else set())
    return {name for name in names if name not in (*CONTEXT, *MASKS, *PARAMETERS, *READ_ONLY)}


def _declared_in_place(nodes: tuple[Node, ...]) -> set[str]:
    """Locals whose first mention is an assignment at the outermost level."""
    early: set[str] = set()
    seen: set[str] = set()
    for node in nodes:
        if isinstance(node, Statement) and (name := _only_result(node)) not in seen | used(node):
            early.add(name)
        seen |= _locals((node,))
    return early - {*CONTEXT, ""}


def _only_result(statement: Statement) -> str:
    """The variable of a statement that can be its declaration, or nothing."""
    if isinstance(statement, Assign):
        return statement.target
    return statement.result or "" if isinstance(statement, Call | Guest) else ""


def _bare(text: str) -> str:
    """Without the outer pair of parentheses, if they belong together."""
    if not text.startswith("(") or not text.endswith(")"):
        return text
    depth = 0
    for place, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return text[1:-1].strip() if place == len(text) - 1 else text
    return text
