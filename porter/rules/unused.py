"""What is left over when other rules took statements out."""

from __future__ import annotations

from collections.abc import Iterator

from porter.flow.statements import is_pure
from porter.flow.variables import Variable
from porter.judging.unit import Unit
from porter.judging.verdict import Verdict
from porter.rules.rule import Rule, Sample
from porter.source.asm_names import spells
from porter.source.c_tree import Node, text_of
from porter.source.declarations import outer_declaration
from porter.source.edit import Edit


class Unused(Rule):
    """Variables that only removed code used, and the sites inside removed code."""

    id = "unused"
    finds = "a variable that nothing reads any more once the removed code is gone"
    becomes = "nothing"
    why = "a port should read as if somebody had written it"
    samples = (
        Sample(
            "#define CPUID (*(volatile unsigned *)0xE000ED00)\n"
            "void assert(int);\n"
            "void f(void)\n{\n    unsigned id = CPUID;\n\n    assert(id != 3);\n    g();\n}\n",
            "#define CPUID (*(volatile unsigned *)0xE000ED00)\n"
            "void assert(int);\n"
            "void f(void)\n{\n    g();\n}\n",
        ),
    )

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Deletes declarations until nothing changes; their sites are accounted for with them."""
        while new := set(_unused(unit)) - unit.deletions:
            unit.deletions |= new
        return iter(())


def _unused(unit: Unit) -> Iterator[Edit]:
    if not unit.deletions and not unit.rewritten_spans and not unit.replaced:
        return
    tree = unit.variables.tree

    def is_gone(node: Node) -> bool:
        return unit.is_gone(text_of(node), tree.start(node), tree.end(node))

    by_declaration: dict[int, tuple[Node, list[Node]]] = {}
    for variable in unit.variables.used_in(is_gone):
        declarators = list(unit.variables.declarators(variable))
        kept = [use for use in unit.variables.uses(variable) if not is_gone(use)]
        stores = [store for use in kept if (store := _plain_store(unit, use)) is not None]
        if len(stores) < len(kept) or _is_named_in_asm(unit, variable):
            continue
        for store in stores:
            yield Edit(tree.start(store), tree.end(store), b"")
        for declarator in declarators:
            value = declarator.child_by_field_name("value")
            if value is None or is_pure(value, unit.text.evaluator):
                declaration = outer_declaration(declarator)
                by_declaration.setdefault(declaration.id, (declaration, []))[1].append(declarator)
    for declaration, declarators in by_declaration.values():
        yield from _edits(unit, declaration, declarators)


def _is_named_in_asm(unit: Unit, variable: Variable) -> bool:
    """Whether assembler text that stays uses a variable of the file: `ldr r1, =level`."""
    return variable.function is None and any(
        spells(token, variable.name) and not unit.is_gone(variable.name, token.start, token.end)
        for token in unit.text.written.asm_text
    )


def _plain_store(unit: Unit, use: Node) -> Node | None:
    """The statement `variable = value;` that a use is the left side of."""
    assignment = use.parent
    statement = assignment.parent if assignment is not None else None
    if (
        assignment is None
        or statement is None
        or assignment.type != "assignment_expression"
        or assignment.child_by_field_name("left") != use
        or statement.type != "expression_statement"
        or statement.parent is None
        or statement.parent.type != "compound_statement"
    ):
        return None
    value = assignment.child_by_field_name("right")
    return statement if value is not None and is_pure(value, unit.text.evaluator) else None


def _edits(unit: Unit, declaration: Node, gone: list[Node]) -> Iterator[Edit]:
    tree = unit.variables.tree
    siblings = declaration.children_by_field_name("declarator")
    kept = [sibling for sibling in siblings if sibling not in gone]
    if not kept:
        start = unit.start_with_noise(tree, tree.start(declaration))
        yield Edit(start, tree.end(declaration), b"")
        return
    for index, sibling in enumerate(siblings):
        if sibling not in gone:
            continue
        if any(later in kept for later in siblings[index + 1 :]):
            yield Edit(tree.start(sibling), tree.start(siblings[index + 1]), b"")
        else:
            yield Edit(tree.end(siblings[index - 1]), tree.end(sibling), b"")
