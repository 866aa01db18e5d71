"""The text of the mid-section: C that runs in a native process, and the record's header."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from porter.interrupt_split.capture import (
    Assign,
    Block,
    Consumed,
    Field,
    If,
    Leave,
    Node,
    Read,
    Switch,
    Write,
    all_nodes,
    expressions_of,
)
from porter.interrupt_split.device import DeviceRegister
from porter.interrupt_split.expression import Expr
from porter.interrupt_split.judge import judge_text, needs_judge, tells_characters
from porter.interrupt_split.pretty import outermost_stripped, tidied
from porter.interrupt_split.record import struct_name, struct_text
from porter.project.domain import Split

# Names of the text below, and members of struct fvm_split_section.
_OWN = frozenset(
    {"record", "words", "consumed", "capture", "judge", "length", "verdict", "section", "signal",
     "done", "post", "memory", "size", "count", "bool", "offsetof", "size_t"}
)  # fmt: skip
_TYPES = {1: "uint8_t", 2: "uint16_t", 4: "uint32_t"}


@dataclass(frozen=True)
class MidSection:
    """All that the text needs. `source` is the handler's file as its readers know it."""

    line: str  # the interrupt's name
    split: Split
    handler: str
    source: str
    fields: Sequence[Field]
    captured: dict[int, Field]
    steps: Sequence[Node]

    def header(self) -> str:
        """usart1_record.h."""
        guard = f"{struct_name(self.line).upper()}_H"
        text = struct_text(struct_name(self.line), self.split.device, self.fields)
        return (
            f"#ifndef {guard}\n#define {guard}\n\n#include <stdint.h>\n\n"
            f"/* What {self.handler} ({self.source}) gets of one interrupt. */\n{text}\n#endif\n"
        )

    def code(self) -> str:
        """usart1_mid.c."""
        record = struct_name(self.line)
        body = "\n".join(self._steps(self.steps, 1))
        judge = needs_judge(self.split)
        parts = [
            f"/* Mid-section of {self.line}: what {self.handler} in {self.source} reads and "
            "acknowledges.\n * The rest of that handler runs in its VM, once for each record. */",
            f"#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n\n"
            f'#include <fvm/split.h>\n\n#include "fvm_domain.h"\n#include "{record}.h"',
            "\n".join(self._definitions()),
            self._file_variables(),
            f"/* Reads and acknowledges as the handler does. True if that was the cause of the "
            f"interrupt. */\nstatic bool capture(uint32_t *words)\n{{\n"
            f"    struct {record} *record = (struct {record} *)words;\n"
            f"    bool consumed = false;\n\n    *record = (struct {record}){{0}};\n"
            f"{self._reset()}{body}\n    return consumed;\n}}",
            judge_text(self.split, self.fields, self._has_other_causes) if judge else "",
            self._section(judge),
        ]
        return "\n\n".join(part for part in parts if part) + "\n"

    @cached_property
    def _names(self) -> dict[tuple[int, str], str]:
        """The handler's locals, each under a name of its own."""
        taken = {*self._reserved, *self._constants}
        names: dict[tuple[int, str], str] = {}
        for node in all_nodes(self.steps):
            if isinstance(node, Assign) and node.variable not in names:
                name, number = node.variable[1], 1
                while name in taken:
                    number += 1
                    name = f"{node.variable[1]}_{number}"
                taken.add(name)
                names[node.variable] = name
        return names

    @cached_property
    def _registers(self) -> dict[str, DeviceRegister]:
        """Those that it accesses, by the names that it gives them."""
        registers: dict[str, DeviceRegister] = {}
        for node in all_nodes(self.steps):
            if isinstance(node, Read):
                registers[self._register(node.field.register)] = node.field.register
            elif isinstance(node, Write) and node.access.register is not None:
                registers[self._register(node.access.register)] = node.access.register
        return registers

    @cached_property
    def _constants(self) -> dict[str, int]:
        """The project's constants that it can write by their names."""
        constants: dict[str, int] = {}
        for node in all_nodes(self.steps):
            for expression in expressions_of(node):
                for item in expression.walk():
                    constants |= item.constants
        return {name: n for name, n in constants.items() if name not in self._reserved}

    @cached_property
    def _reserved(self) -> frozenset[str]:
        """Names that nothing of the project's can have here."""
        split = self.split
        names = {*_OWN, *self._registers, *(field.name for field in self.fields)}
        names |= {split.section, split.policy or "", struct_name(self.line)}
        if split.frame is not None:
            names.add(tells_characters(split.frame.register))
        return frozenset(names)

    # --- definitions -----------------------------------------------------------------------

    def _definitions(self) -> Iterator[str]:
        registers, constants = self._registers, self._constants
        for name, register in sorted(registers.items(), key=lambda item: item[1].address):
            kind = _TYPES[register.width]
            yield f"#define {name} (*(volatile {kind} *)0x{register.address:08X}U)"
        if constants:
            yield ""
        for name, value in constants.items():
            yield f"#define {name} {_number(value)}"

    def _register(self, register: DeviceRegister) -> str:
        """A name for each register and width."""
        suffix = "" if register.width == self._widest(register) else f"_{8 * register.width}"
        return f"{self.split.device}_{register.name}{suffix}"

    def _widest(self, register: DeviceRegister) -> int:
        used = [field.register for field in self.fields]
        used += [
            node.access.register
            for node in all_nodes(self.steps)
            if isinstance(node, Write) and node.access.register is not None
        ]
        return max(other.width for other in used if other.address == register.address)

    @property
    def _has_other_causes(self) -> bool:
        """Whether records come that the frame rule has nothing to say about."""
        frame = self.split.frame
        if frame is None:
            return False
        return any(
            isinstance(node, Write)
            or (
                isinstance(node, Read)
                and node.field.register.kind.effect == "data"
                and node.field.register.name != frame.register
            )
            for node in all_nodes(self.steps)
        )

    def _file_variables(self) -> str:
        if not self._has_other_causes:
            return ""
        frame = self.split.frame
        register = frame.register if frame is not None else ""
        return f"static bool {tells_characters(register)}; /* by the last capture */"

    def _reset(self) -> str:
        frame = self.split.frame
        if not self._has_other_causes or frame is None:
            return ""
        return f"    {tells_characters(frame.register)} = false;\n"

    # --- steps -----------------------------------------------------------------------------

    def _steps(self, nodes: Sequence[Node], depth: int) -> Iterator[str]:
        indent = "    " * depth
        shown = 0
        for node in nodes:
            if node.line != shown and isinstance(node, Read | Write | Assign | Switch | If):
                yield f"{indent}/* {self.source}:{node.line} */"
                shown = node.line
            yield from self._step(node, indent, depth)

    def _step(self, node: Node, indent: str, depth: int) -> Iterator[str]:
        match node:
            case Read(field=field):
                yield f"{indent}record->{field.name} = {self._register(field.register)};"
                frame = self.split.frame
                if self._has_other_causes and frame and field.register.name == frame.register:
                    yield f"{indent}{tells_characters(frame.register)} = true;"
            case Write(access=access) if access.register is not None and access.value is not None:
                value = self._value(access.value)
                yield f"{indent}{self._register(access.register)} {access.operator} {value};"
            case Assign(variable=variable, type=kind, operator=operator, value=value):
                text = self._value(value) if value is not None else "0"
                name = f"{kind} {self._names[variable]}" if kind else self._names[variable]
                yield f"{indent}{name} {operator} {text};"
            case Consumed(field=None):
                yield f"{indent}consumed = true;"
            case Consumed(field=Field(name=name), bits=bits):
                yield f"{indent}consumed = consumed || (record->{name} & 0x{bits:X}U) != 0;"
            case Leave():
                yield f"{indent}return consumed;"
            case Block(body=body):
                yield f"{indent}{{"
                yield from self._steps(body, depth + 1)
                yield f"{indent}}}"
            case If():
                yield from self._if(node, indent, depth)
            case Switch():
                yield from self._switch(node, indent, depth)

    def _if(self, node: If, indent: str, depth: int) -> Iterator[str]:
        condition = self._value(node.condition)
        if not node.body and not node.other:
            return
        body, other = node.body, node.other
        if not body:
            condition, body, other = f"!({condition})", other, []
        yield f"{indent}if ({condition}) {{"
        yield from self._steps(body, depth + 1)
        if other:
            yield f"{indent}}} else {{"
            yield from self._steps(other, depth + 1)
        yield f"{indent}}}"

    def _switch(self, node: Switch, indent: str, depth: int) -> Iterator[str]:
        yield f"{indent}switch ({self._value(node.value)}) {{"
        for case in node.cases:
            label = "default" if case.label is None else f"case {self._value(case.label)}"
            yield f"{indent}{label}:"
            if any(isinstance(step, Assign) and step.type for step in case.body):
                yield f"{indent}{{"
                yield from self._steps(case.body, depth + 1)
                yield f"{indent}}}"
            else:
                yield from self._steps(case.body, depth + 1)
            if not case.falls:
                yield f"{indent}    break;"
            elif case.body:
                yield f"{indent}    /* fall through */"
        yield f"{indent}}}"

    def _value(self, expr: Expr) -> str:
        return outermost_stripped(tidied(self._text(expr)))

    def _text(self, expr: Expr) -> str:
        found = self.captured.get(id(expr))
        if found is not None:
            return f"record->{found.name}"
        if expr.kind == "const" and self._reserved.intersection(expr.constants):
            return _number(expr.number)
        if expr.kind in ("local", "set"):
            return self._names.get(expr.variable, expr.name)
        if expr.kind == "expansion" and expr.parts[0].kind in ("read", "local", "const"):
            return self._text(expr.parts[0])
        return "".join(p if isinstance(p, str) else self._text(p) for p in expr.pieces)

    # --- the section itself ----------------------------------------------------------------

    def _section(self, judge: bool) -> str:
        record = struct_name(self.line)
        rows = [
            f"void {self.split.section}(void);",
            "",
            f"void {self.split.section}(void)",
            "{",
            "    static const struct fvm_split_section section = {",
            f"        .signal = FVM_CAP_{self.line},",
            f"        .done = FVM_CAP_{self.line}_DONE,",
            f"        .post = FVM_CAP_{self.line}_POST,",
            f"        .memory = FVM_SHM_{self.line}_RING,",
            f"        .size = FVM_SHM_{self.line}_RING_SIZE,",
            f"        .words = sizeof(struct {record}) / sizeof(uint32_t),",
            "        .capture = capture,",
        ]
        if judge:
            rows.append("        .judge = judge,")
        if self.split.counts:
            rows.append("        .count =")
            rows.append("            {")
            for count in self.split.counts:
                place = f"offsetof(struct {record}, {count.register}) / sizeof(uint32_t)"
                rows.append(f"                {{{place}, 0x{count.bits:X}U}}, /* {count.name} */")
            rows.append("            },")
        rows += ["    };", "", "    fvm_split_run(&section);", "}"]
        return "\n".join(rows)


def _number(value: int) -> str:
    return f"0x{value & 0xFFFFFFFF:X}U" if value >= 0 else f"({value})"
