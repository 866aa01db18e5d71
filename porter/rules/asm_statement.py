"""Inline assembler that masks, saves, restores, sleeps or pokes a system register."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.asm.effects import ONLY_FPCA, Machine
from porter.asm.symbols import Constant, Effect, Expression, NotUnderstood, Saved, Symbol
from porter.asm.translate import translate
from porter.context_switch.result import DISPATCHES, TEMPLATES
from porter.flow.dead_slice import Alive, DeadSlice, Slice
from porter.flow.statements import enclosing_statement
from porter.judging.unit import Unit
from porter.judging.verdict import Verdict
from porter.meaning.asm_lines import as_argument, refuse_overwritten, refuse_side_effects
from porter.meaning.call_registers import first_parameter, handed_over
from porter.meaning.expressions import is_computed_with, is_truth_test
from porter.meaning.line_events import has_line_events
from porter.meaning.mask_level import kept
from porter.meaning.naked import is_naked
from porter.meaning.named_services import REASON as SERVICE_REASON
from porter.meaning.named_services import named_service
from porter.meaning.own_event import REASON, own_event
from porter.registers.line_events import LINE_EVENTS
from porter.rules.asm_samples import SAMPLES
from porter.rules.kernel_register import is_removable
from porter.rules.rule import Rule
from porter.sites.context import Context, function_name
from porter.sites.site import Site, SiteKind
from porter.source.c_tree import Node, outermost, parse_expression
from porter.source.edit import Edit
from porter.source.evaluate import no_scope
from porter.source.inline_asm import CONSTANTS, AsmStatement, Operand

_CORE = re.compile(r"[rast]\d+|lr|ip|ra|gp|tp", re.IGNORECASE)
_SEMICOLON = re.compile(rb"[ \t]*;")


class AsmStatementRule(Rule):
    """One asm statement is one operation, however many instructions it takes."""

    id = "asm-statement"
    finds = "asm statements of cps, mrs, msr, csr*, svc, ecall, barriers, wfi and system registers"
    becomes = "virt_int_mask/unmask/save/restore/query(), virt_in_vct(), virt_svc(), hyp_vct_wait()"
    why = "these instructions do nothing in unprivileged code, and nobody is told"
    samples = SAMPLES

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Statement by statement; all its sites end alike."""
        statements: dict[AsmStatement, list[Site]] = {}
        for site in unit.pending(SiteKind.ASM):
            statements.setdefault(unit.found.asm[site], []).append(site)
        for statement, sites in statements.items():
            call = named_service(unit, sites[0], statement)
            if call is not None:
                yield from (self.rewritten(site, SERVICE_REASON, call) for site in sites)
                continue
            try:
                reason, edits = self._rewrite(unit, statement, sites[0])
            except NotUnderstood as why:
                hint = _hint(unit, statement, sites)
                for site in sites:
                    yield self.escalated(site, f"not understood: {why}{hint}")
                continue
            for site in sites:
                yield self.rewritten(site, reason, *edits)

    def _rewrite(
        self, unit: Unit, statement: AsmStatement, site: Site
    ) -> tuple[str, tuple[Edit, ...]]:
        if statement.template:
            raise NotUnderstood("a part of the template is a macro: write it out")
        if statement.form == "function":
            raise NotUnderstood("a function in assembler")
        context = unit.context(site)
        function = context.root if context is not None and context.kind == "function" else None
        if function is not None and is_naked(unit, function_name(function)):
            raise NotUnderstood("a part of a naked function, which becomes C as a whole or not")
        if (alone := _of_fpu_in_use(unit, context, statement)) is not None:
            return alone
        machine = Machine({**_given(unit, context, statement), **_initial(statement)})
        machine.run(statement.instructions)
        _refuse_left_over(unit, statement, machine)
        _refuse_unread(statement, machine.effects)
        _refuse_arguments(unit, context, statement, machine.effects)
        waits_for_event = [it.kind for it in machine.effects] == ["wait"] and site.what == "wfe"
        if waits_for_event and (whole := own_event(unit, site)) is not None and context is not None:
            unit.delete(context, whole)
            return REASON, ()
        if waits_for_event and has_line_events(unit):
            raise NotUnderstood(LINE_EVENTS)
        _note_thresholds(unit, context, machine.effects)
        if any(effect.kind == "return" for effect in machine.effects):
            raise NotUnderstood("a return")
        _refuse_unset(statement, machine)
        outputs = _outputs(statement, machine)
        saved_in = {value.name: text for text, value in outputs.items() if isinstance(value, Saved)}
        if "ipsr" in saved_in:
            gone = self._in_interrupt(unit, context, statement, saved_in["ipsr"])
            if gone is not None:
                return gone
        if "basepri" in saved_in:
            _refuse_level(unit, context, statement, saved_in["basepri"])
        used = {
            text: value
            for text, value in outputs.items()
            if _is_used(unit, context, statement, text)
        }
        lines = list(
            translate(
                machine.effects,
                {name: text for name, text in saved_in.items() if text in used},
                lambda text: _known(unit, context, text),
                lambda number: kept(unit, number),
                is_removable,
            )
        )
        lines += [f"{text} = {_c_text(value)}" for text, value in used.items()
                  if not isinstance(value, Saved)]  # fmt: skip
        refuse_overwritten(lines, used)
        refuse_side_effects(
            lines,
            [*statement.outputs, *statement.inputs],
            lambda text: _known(unit, context, text),
        )
        return _replace(unit, context, statement, lines)

    def _in_interrupt(
        self, unit: Unit, context: Context | None, statement: AsmStatement, lvalue: str
    ) -> tuple[str, tuple[Edit, ...]] | None:
        """IPSR: a question whether an interrupt runs, or a number that only checks look at."""
        if context is None or context.tree is not unit.variables.tree:
            raise NotUnderstood("mrs ipsr outside a function")
        node = context.node_at(statement.start, statement.end)
        whole = enclosing_statement(node) if node is not None else None
        name = parse_expression(lvalue.encode())
        uses = _uses(unit, context, statement, lvalue)
        if name is None or whole is None or uses is None:
            raise NotUnderstood(f"where {lvalue} is used isn't known")
        evaluator = unit.text.evaluator
        if all(is_truth_test(use, evaluator, context.scope) for use in uses):
            return None
        if uses and all(_is_returned(use) for use in uses) and not unit.number_asked(context):
            return None
        variable = unit.variables.resolve(uses[0])
        slicer = DeadSlice(
            unit.variables,
            evaluator,
            lambda item: item.id in unit.removed_writes,
            unit.reads_device,
            False,
        )
        try:
            if variable is None:
                raise Alive(f"{lvalue} is no local variable")
            found = slicer.of_variable(variable, Slice({whole.id: whole}))
        except Alive as why:
            asked = unit.number_asked(context) if all(map(_is_returned, uses)) else ""
            more = f", and {asked}" if asked else ""
            raise NotUnderstood(
                f"mrs ipsr: the number of the interrupt matters, {why}{more}"
            ) from why
        unit.remove_slice(context, found)
        return "removed: only checks look at the interrupt's number", ()


def _is_returned(use: Node) -> bool:
    outer = outermost(use)
    return outer.parent is not None and outer.parent.type == "return_statement"


def _of_fpu_in_use(
    unit: Unit, context: Context | None, statement: AsmStatement
) -> tuple[str, tuple[Edit, ...]] | None:
    """CONTROL read or written where all of the project does that for FPCA alone."""
    means = [it for it in statement.instructions if it.mnemonic not in ("", "dsb", "isb", "dmb")]
    if len(means) != 1 or statement.form != "gnu" or len(means[0].operands) != 2:
        return None
    name, operands = means[0].mnemonic, [it.lower() for it in means[0].operands]
    reads = name == "mrs" and operands[1] == "control" and len(statement.outputs) == 1
    writes = name == "msr" and operands[0] == "control" and len(statement.inputs) == 1
    function = context.name if context is not None and context.kind == "function" else ""
    if not (reads or writes) or unit.control_asked(function):
        return None
    operand = (statement.outputs if reads else statement.inputs)[0].text.decode("latin-1").strip()
    if not operand.isidentifier():
        return None
    line = f"{operand} = 0" if reads else f"(void){operand}"
    _, edits = _replace(unit, context, statement, [line])
    return ONLY_FPCA, edits


def _hint(unit: Unit, statement: AsmStatement, sites: list[Site]) -> str:
    """What makes a handler one that the transcriber looks at."""
    context = unit.context(sites[0])
    function = context.root if context is not None and context.kind == "function" else None
    if function is None and any(it.label for it in statement.instructions):
        return "; move it to an assembler file, whose functions are transcribed, or write it in C"
    if unit.file.is_cplusplus and any("psp" in it.what.lower() for it in sites):
        return "; of C++ no handler is transcribed: move it to a C file, or write it in C"
    if (
        unit.file.path.suffix.lower() != ".c"
        and function is not None
        and is_naked(unit, function_name(function))
    ):
        return "; move it to a C file, whose naked functions are transcribed, or write it in C"
    return ""


def _refuse_unread(statement: AsmStatement, effects: list[Effect]) -> None:
    """Operands that a macro makes are operands."""
    named = any("%" in text for it in statement.instructions for text in it.operands)
    calls = any(effect.kind in ("call", "supervisor") for effect in effects)
    if statement.unread and (named or calls):
        raise NotUnderstood(f"the operand '{statement.unread}' is a macro's: write it out")


def _refuse_arguments(
    unit: Unit, context: Context | None, statement: AsmStatement, effects: list[Effect]
) -> None:
    """The handler of a trap finds the registers of the task, which a call in C changes."""
    if not any(effect.kind in ("call", "supervisor") for effect in effects):
        return
    passed = [it for it in statement.inputs if it.constraint not in CONSTANTS]
    what = (
        "with operands"
        if statement.outputs or passed
        else handed_over(unit, context, statement.start, statement.end)
    )
    if what:
        raise NotUnderstood(
            f"ecall or svc {what}: its handler may read or set them; "
            f"{TEMPLATES}/{DISPATCHES} shows what to write instead"
        )


def _note_thresholds(unit: Unit, context: Context | None, effects: list[Effect]) -> None:
    for effect in effects:
        if effect.kind == "mask" and effect.register.startswith("basepri"):
            number = None
            if isinstance(effect.value, Constant):
                number = effect.value.value
            elif isinstance(effect.value, Expression):
                number = _known(unit, context, effect.value.text)
            if number is not None:
                unit.facts.note_threshold(kept(unit, number))


def _initial(statement: AsmStatement) -> dict[str, Symbol]:
    values: dict[str, Symbol] = {}
    operands = [*statement.outputs, *statement.inputs]
    for number, operand in enumerate(operands):
        is_input = number >= len(statement.outputs) or operand.constraint.startswith("+")
        if not is_input:
            continue
        value = Expression(as_argument(operand.text))
        for name in _names(statement, number, operand):
            values[name] = value
        if operand.constraint.isdigit() and int(operand.constraint) < len(statement.outputs):
            tied = int(operand.constraint)
            for name in _names(statement, tied, statement.outputs[tied]):
                values[name] = value
    return values


def _given(unit: Unit, context: Context | None, statement: AsmStatement) -> dict[str, Symbol]:
    """What MSR finds in r0."""
    if context is None or context.kind != "function" or context.tree is not unit.variables.tree:
        return {}
    node = context.node_at(statement.start, statement.end)
    whole = enclosing_statement(node) if node is not None else None
    writes = any(it.base == "msr" for it in statement.instructions)
    if whole is None or not writes or statement.inputs or statement.outputs:
        return {}
    name = first_parameter(context.root, whole)
    return {"r0": Expression(name.decode("latin-1"))} if name else {}


def _refuse_left_over(unit: Unit, statement: AsmStatement, machine: Machine) -> None:
    """A mask that is read into a register of its own name is for what follows, and so is an address
    at which the statement does nothing."""
    for name, value in machine.values.items() if not machine.effects else ():
        is_address = isinstance(value, Constant) and unit.registers.is_address(value.value)
        if is_address and _CORE.fullmatch(name):
            raise NotUnderstood(f"leaves an address in {name}, which is for what follows")
    for number, it in enumerate(statement.instructions):
        if it.base not in ("mrs", "csrr") or len(it.operands) != 2 or statement.form != "gnu":
            continue
        register = it.operands[0].strip()
        rest = " ".join(text for later in statement.instructions[number + 1 :]
                        for text in (later.mnemonic, *later.operands))  # fmt: skip
        if _CORE.fullmatch(register) and not re.search(rf"\b{register}\b", rest, re.IGNORECASE):
            raise NotUnderstood(f"{it} leaves a value in {register}, which may be for what follows")


def _names(statement: AsmStatement, number: int, operand: Operand) -> Iterator[str]:
    if statement.form == "block":
        yield operand.text.decode("latin-1")
        return
    yield f"%{number}"
    if operand.name is not None:
        yield f"%[{operand.name}]"


def _outputs(statement: AsmStatement, machine: Machine) -> dict[str, Symbol]:
    """Each output's C text and what it holds afterwards."""
    found: dict[str, Symbol] = {}
    for number, operand in enumerate(statement.outputs):
        for name in _names(statement, number, operand):
            if name in machine.values:
                found[operand.text.decode("latin-1")] = machine.values[name]
    return found


def _refuse_unset(statement: AsmStatement, machine: Machine) -> None:
    """A register variable gets its value by its register's name."""
    registers = any(not name.startswith("%") for name in machine.values)
    if statement.form != "gnu" or not (machine.effects or registers):
        return
    named = " ".join(text for it in statement.instructions for text in it.operands)
    for number, operand in enumerate(statement.outputs):
        names = list(_names(statement, number, operand))
        is_set = any(name in machine.values for name in names)
        is_named = any(re.search(rf"{re.escape(name)}(?!\d)", named) for name in names)
        if not is_set or (registers and not is_named):
            text = operand.text.decode("latin-1")
            raise NotUnderstood(f"what the output {text} gets isn't known: a register variable?")


def _c_text(value: Symbol) -> str:
    if isinstance(value, Expression):
        return value.text
    number = getattr(value, "value", None)
    if number is None:
        raise NotUnderstood("an output whose value isn't known")
    return f"0x{number:X}U"


def _known(unit: Unit, context: Context | None, text: str) -> int | None:
    node = parse_expression(text.encode("latin-1"))
    scope = context.scope if context is not None else no_scope
    return unit.text.evaluator.number(node, scope) if node is not None else None


def _uses(
    unit: Unit, context: Context | None, statement: AsmStatement, lvalue: str
) -> list[Node] | None:
    """Reads of a local variable outside the statement; None if that can't be told."""
    if context is None or context.kind != "function" or context.tree is not unit.variables.tree:
        return None
    tree = context.tree
    declared = None
    uses: list[Node] = []
    for node in unit.variables.named(lvalue.encode("latin-1"), context.root):
        declared = declared or unit.variables.resolve(node)
        if not statement.start <= tree.start(node) < statement.end:
            uses.append(node)
    if declared is None or declared.function is None:
        return None
    return [use for use in uses if use in set(unit.variables.uses(declared))]


def _refuse_level(
    unit: Unit, context: Context | None, statement: AsmStatement, lvalue: str
) -> None:
    """NotUnderstood where C computes with BASEPRI: a machine's mask is set or not."""
    if compared := unit.level_compared(context):
        raise NotUnderstood(
            f"mrs basepri: its level is used, '{compared}', not only whether it is 0"
        )
    uses = _uses(unit, context, statement, lvalue)
    if context is None or uses is None:
        return
    evaluator = unit.text.evaluator
    if any(is_computed_with(use, evaluator, context.scope) for use in uses):
        raise NotUnderstood(f"mrs basepri: its level is used, not only whether {lvalue} is 0")


def _is_used(unit: Unit, context: Context | None, statement: AsmStatement, lvalue: str) -> bool:
    uses = _uses(unit, context, statement, lvalue)
    return uses is None or bool(uses)


def _replace(
    unit: Unit, context: Context | None, statement: AsmStatement, lines: list[str]
) -> tuple[str, tuple[Edit, ...]]:
    node = context.node_at(statement.start, statement.end) if context is not None else None
    whole = enclosing_statement(node) if node is not None else None
    if statement.form == "block":  # a statement without a semicolon behind it
        text = "; ".join(lines) + ";"
        edit = Edit(statement.start, statement.end, text.encode("latin-1"))
        return "one operation of the virtual machine", (edit,)
    if not lines:
        reason = "removed: means nothing in a virtual machine"
        if context is not None and whole is not None and context.kind == "function":
            unit.delete(context, whole)
            return reason, ()
        return reason, (Edit(statement.start, statement.end, b"(void)0"),)
    edit = _one_statement(unit, context, whole, statement, lines)
    unit.rewritten_spans.append(edit)
    return "one operation of the virtual machine", (edit,)


def _one_statement(
    unit: Unit,
    context: Context | None,
    whole: Node | None,
    statement: AsmStatement,
    lines: list[str],
) -> Edit:
    """Lines of C for a statement that may stand alone behind an `if`, with an `else` behind it."""
    text = "; ".join(lines).replace("}; ", "} ")
    if len(lines) == 1 and not text.endswith("}"):
        return Edit(statement.start, statement.end, text.encode("latin-1"))
    data = unit.file.data
    semicolon = _SEMICOLON.match(data, statement.end)
    parent = whole.parent if whole is not None else None
    if context is not None and parent is not None and data.startswith(b"{", context.start(parent)):
        end = statement.end
        if text.endswith("}") and semicolon is not None:
            end = semicolon.end()  # no empty statement behind it
        return Edit(statement.start, end, text.encode("latin-1"))
    text += "" if text.endswith("}") else ";"
    if context is None or context.kind != "function" or semicolon is None:
        text = f"do {{ {text} }} while (0)"
        return Edit(statement.start, statement.end, text.encode("latin-1"))
    return Edit(statement.start, semicolon.end(), f"{{ {text} }}".encode("latin-1"))
