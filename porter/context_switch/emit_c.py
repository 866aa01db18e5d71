"""Statements of the small language as C, each with the instructions it stands for beside it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from porter.context_switch.emit_expression import Expressions, context_field
from porter.context_switch.ir import (
    CONTEXT,
    CORE,
    FPU,
    Assign,
    Binary,
    BlockLoad,
    BlockStore,
    Call,
    Const,
    Expr,
    Guest,
    Load,
    Note,
    Origin,
    Statement,
    Store,
    Symbol,
    Var,
    Verbatim,
)
from porter.context_switch.names import POINTER
from porter.context_switch.result import NotTranscribable
from porter.context_switch.structure import If, Node, Return
from porter.context_switch.walk import defined, reads, subexpressions, used

_BLOCK_ORDER = (*CORE, "LR")
_COMMENT_COLUMN = 52
_LINE = 100


@dataclass
class CText:
    """The lines of one function body. `spaced` is the file's habit of `( x )`."""

    expressions: Expressions
    spaced: bool
    indent: str = "    "
    lines: list[str] = field(default_factory=list)

    def body(self, nodes: tuple[Node, ...], parameters: frozenset[str] = frozenset()) -> list[str]:
        """Declarations and statements, indented by one level."""
        nodes = merge_notes(nodes)
        declared = set(parameters)
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
                self._line(level, "return;", node.origin)
            elif isinstance(node, Note):
                self._note(level, node)
            else:
                self._statement(node, level, early)

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
        texts = self._texts(statement)
        for index, text in enumerate(texts):
            if isinstance(statement, Assign) and statement.target in early:
                early.discard(statement.target)
                text = self._type(statement.target) + text
            self._line(level, text + ";", statement.origin if index == 0 else ())

    def _texts(self, statement: Statement) -> list[str]:
        match statement:
            case Assign(target=target, value=value):
                return [self._assign(target, value)]
            case Store(address=address, value=value, size=size):
                return [self._store(address, value, size)]
            case BlockStore():
                return self._block_store(statement)
            case BlockLoad():
                return self._block_load(statement)
            case Call():
                return [self._call(statement)]
            case Verbatim(text=text):
                return [text]
            case Guest(function=function, arguments=arguments):
                rendered = [
                    self.expressions.integer(argument) if isinstance(argument, Expr) else argument
                    for argument in arguments
                ]
                return [function + self.expressions.paren(", ".join(rendered))]
        raise NotTranscribable("a statement that has no C")

    def _assign(self, target: str, value: Expr) -> str:
        left = context_field(target) if target in CONTEXT else target
        if target in self.expressions.pointers:
            return f"{left} = {self.expressions.pointer(value)}"
        if isinstance(value, Binary) and value.left == Var(target):
            return f"{left} {value.operator}= {self.expressions.integer(value.right)}"
        return f"{left} = {_bare(self.expressions.integer(value))}"

    def _store(self, address: Expr, value: Expr, size: int) -> str:
        place = self.expressions.place(address, size)
        if isinstance(address, Symbol) and place == f"*{self.expressions.pointer(address)}":
            declared = self.expressions.variable(address.name)
            if declared is not None and declared.kind == POINTER and size == 4:
                void = self.expressions.cast("void *", self.expressions.integer(value))
                return f"{address.name} = {void}"
        text = _bare(self.expressions.integer(value))
        if size != 4:
            text = self.expressions.cast({1: "uint8_t", 2: "uint16_t"}[size], text)
        return f"{place} = {text}"

    def _call(self, call: Call) -> str:
        arguments = [
            self.expressions.cast("void *", self.expressions.integer(argument))
            if pointer
            else self.expressions.integer(argument)
            for argument, pointer in zip(call.arguments, call.pointers, strict=True)
        ]
        text = call.function + (self.expressions.paren(", ".join(arguments)) if arguments else "()")
        if call.result is None:
            return text
        kind = "uint32_t *" if call.result in self.expressions.pointers else "uint32_t"
        return f"{call.result} = {self.expressions.cast(kind, text)}"

    def _block_store(self, store: BlockStore) -> list[str]:
        base, count = self._base(store.base), len(store.values)
        names = tuple(value.name if isinstance(value, Var) else "" for value in store.values)
        if store.before and store.writeback:
            if macro := self._macro("STMDB", base, names):
                return [macro]
            if count == 1:
                return [f"*--{base} = {self.expressions.integer(store.values[0])}"]
        values = [self.expressions.integer(value) for value in store.values]
        if store.writeback and not store.before:
            return [f"*{base}++ = {value}" for value in values]
        first = -count if store.before and not store.writeback else 0
        texts = [f"{self._at(base, first + i)} = {value}" for i, value in enumerate(values)]
        return [f"{base} -= {count}", *texts] if store.writeback else texts

    def _block_load(self, load: BlockLoad) -> list[str]:
        base, count = self._base(load.base), len(load.targets)
        if not load.before and load.writeback:
            if macro := self._macro("LDMIA", base, load.targets):
                return [macro]
            return [self._loaded(target, f"*{base}++") for target in load.targets]
        first = -count if load.before and not load.writeback else 0
        texts = [
            self._loaded(target, self._at(base, first + i)) for i, target in enumerate(load.targets)
        ]
        return [f"{base} -= {count}", *texts] if load.writeback else texts

    def _loaded(self, target: str, place: str) -> str:
        if target in CONTEXT:
            return f"{context_field(target)} = {place}"
        if target in self.expressions.pointers:
            place = self.expressions.cast("uint32_t *", place)
        return f"{target} = {place}"

    def _macro(self, name: str, base: str, registers: tuple[str, ...]) -> str | None:
        """The block copy of <fvm/usr_reg.h>, if the registers are neighbours in USR_REG."""
        if registers == FPU:
            return f"USR_V{name}{self.expressions.paren(base)}"
        if len(registers) > 1 and registers[0] in _BLOCK_ORDER:
            first = _BLOCK_ORDER.index(registers[0])
            if registers == _BLOCK_ORDER[first : first + len(registers)]:
                arguments = ", ".join((base, registers[0], registers[-1]))
                return f"USR_{name}{self.expressions.paren(arguments)}"
        return None

    def _base(self, base: str) -> str:
        if base in CONTEXT:
            raise NotTranscribable(f"moves a block through the task's own {base.lower()}")
        return base

    def _at(self, base: str, index: int) -> str:
        return f"{base}[ {index} ]" if self.spaced else f"{base}[{index}]"

    def _type(self, name: str) -> str:
        star = "* " if self.spaced else "*"
        return f"uint32_t {star}" if name in self.expressions.pointers else "uint32_t "

    def _note(self, level: int, note: Note) -> None:
        text = f"{_written(note.origin)}: {note.why}" if note.why else _written(note.origin)
        for line in _wrap(f"/* {text}. */", _LINE - len(self.indent) * level):
            self.lines.append(self.indent * level + line)

    def _line(self, level: int, text: str, origin: Origin) -> None:
        line = self.indent * level + text
        if origin:
            comment = f"/* {_written(origin)} */"
            beside = f"{line:<{_COMMENT_COLUMN}}{comment}"
            if len(line) >= _COMMENT_COLUMN:
                beside = f"{line} {comment}"
            if len(beside) <= _LINE:
                line = beside
            else:
                self.lines.append(self.indent * level + comment)
        self.lines.append(line)


def pointer_locals(nodes: tuple[Node, ...]) -> frozenset[str]:
    """Locals that hold the address of a word somewhere."""
    found: set[str] = set()

    def address(expr: Expr) -> None:
        if isinstance(expr, Binary) and expr.operator in "+-" and isinstance(expr.right, Const):
            expr = expr.left
        if isinstance(expr, Var):
            found.add(expr.name)

    for node in flatten(nodes):
        for expr in reads(node) if isinstance(node, Statement) else (node.condition,):
            for part in subexpressions(expr):
                if isinstance(part, Load) and part.size == 4:
                    address(part.address)
        if isinstance(node, Store) and node.size == 4:
            address(node.address)
        elif isinstance(node, BlockStore | BlockLoad):
            found.add(node.base)
    return frozenset(name for name in found if name not in CONTEXT)


def flatten(nodes: tuple[Node, ...]) -> list[Statement | If]:
    """All statements and ifs, outer ones first."""
    found: list[Statement | If] = []
    for node in nodes:
        if isinstance(node, If):
            found.extend([node, *flatten(node.then), *flatten(node.otherwise)])
        elif isinstance(node, Statement):
            found.append(node)
    return found


def merge_notes(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """Join what needs no C: with the statement behind it, or with the note beside it."""
    shown = {
        address
        for node in flatten(nodes)
        if not isinstance(node, Note)
        for address, _ in node.origin
    }
    merged: list[Node] = []
    waiting: list[Note] = []
    for node in nodes:
        if isinstance(node, Note):
            origin = tuple(item for item in node.origin if item[0] not in shown)
            if origin:
                waiting.append(Note(origin, node.why))
            continue
        reasons = max((n for n, note in enumerate(waiting, 1) if note.why), default=0)
        if reasons:
            merged.append(_joined(waiting[:reasons]))
        if waiting[reasons:]:
            origin = tuple(item for note in waiting[reasons:] for item in note.origin)
            node = replace(node, origin=(*origin, *node.origin))
        waiting = []
        if isinstance(node, If):
            node = If(
                node.condition, merge_notes(node.then), merge_notes(node.otherwise), node.origin
            )
        merged.append(node)
    reasons = max((n for n, note in enumerate(waiting, 1) if note.why), default=0)
    if reasons:  # what is left is the return: the closing brace says it
        merged.append(_joined(waiting[:reasons]))
    return tuple(merged)


def _joined(notes: list[Note]) -> Note:
    origin = tuple(dict.fromkeys(item for note in notes for item in note.origin))
    return Note(origin, "; ".join(dict.fromkeys(note.why for note in notes if note.why)))


def _written(origin: Origin) -> str:
    return "; ".join(text for _, text in sorted(set(origin)))


def _locals(nodes: tuple[Node, ...]) -> set[str]:
    names: set[str] = set()
    for node in flatten(nodes):
        if isinstance(node, Statement):
            names |= set(defined(node)) | used(node)
        else:
            names |= used(Assign((), "", node.condition))
    return {name for name in names if name not in CONTEXT and name not in ("PRIMASK", "BASEPRI")}


def _declared_in_place(nodes: tuple[Node, ...]) -> set[str]:
    """Locals whose first mention is an assignment at the outermost level."""
    early: set[str] = set()
    seen: set[str] = set()
    for node in nodes:
        if isinstance(node, Assign) and node.target not in seen | used(node):
            early.add(node.target)
        for inner in flatten((node,)):
            if isinstance(inner, Statement):
                seen |= set(defined(inner)) | used(inner)
            else:
                seen |= used(Assign((), "", inner.condition))
    return early - set(CONTEXT)


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


def _wrap(text: str, width: int) -> list[str]:
    lines: list[str] = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append(" *")
        lines[-1] = f"{lines[-1]} {word}" if lines[-1] else word
    return lines
