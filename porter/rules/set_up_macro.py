"""Macros that only set up what the boot table sets up: `__HAL_RCC_GPIOA_CLK_ENABLE()`."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from porter.flow.statements import is_pure
from porter.judging.unit import Unit
from porter.judging.verdict import Verdict
from porter.meaning.unmade_set_up import unmade
from porter.program.macro_uses import MacroUse
from porter.rules.boot_table import REASON, is_set_up, run_again
from porter.rules.rule import Rule, Sample
from porter.sites.access import Access
from porter.sites.context import Context, body_of
from porter.sites.site import Site, SiteKind
from porter.source.c_tree import Node, strip_parentheses, text_of, walk
from porter.source.declared import declared_name
from porter.source.edit import Edit
from porter.source.evaluate import Evaluator

_BEFORE_STATEMENTS = frozenset({b";", b"{", b"}", b")", b":", b"else", b"do", b","})
_EFFECTS = frozenset({b"(", b"=", b"++", b"--", b"|=", b"&=", b"+=", b"-=", b"^="})
_HEADER = (
    "typedef struct { volatile unsigned CR, ENR; } RCC_TypeDef;\n"
    "#define RCC ((RCC_TypeDef *)0x40023800)\n#define SET(r, b) ((r) |= (b))\n"
)


class SetUpMacro(Rule):
    """The whole body goes when every part of it is set-up or serves it."""

    id = "set-up-macro"
    finds = "a macro body of nothing but writes to RCC, PWR, SYSCFG or GPIO modes"
    becomes = "((void)0), do { } while (0)"
    why = "two firmwares would both write them; the kernel does it once"
    samples = (
        Sample(_HEADER + "#define ON() (RCC->ENR |= 1u)\n", _HEADER + "#define ON() ((void)0)\n"),
        Sample(
            _HEADER + "#define ON() do { volatile unsigned t; SET(RCC->ENR, 1u); \\\n"
            "                      t = RCC->ENR; (void)t; } while (0)\n",
            _HEADER + "#define ON() do { } while (0)\n",
        ),
        Sample(_HEADER + "#define ON RCC->ENR |= 1u;\n", _HEADER + "#define ON ((void)0);\n"),
        Sample(
            _HEADER + "#define ON(b) (RCC->ENR |= (b))\nint next(void);\n"
            "void f(void) { ON(next()); }",
            "",
            escalates=True,
        ),
        Sample(
            _HEADER + "#define ON(b) (RCC->ENR |= (b))\nunsigned f(void) { return ON(1); }",
            "",
            escalates=True,
        ),
        Sample(
            _HEADER + "#define ON(x) do { RCC->ENR |= 1u; (x)++; } while (0)\n",
            _HEADER + "#define ON(x) do { (x)++; } while (0)\n",
        ),
    )

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Macro by macro."""
        groups: dict[int, list[Site]] = {}
        for site in unit.pending(SiteKind.REGISTER):
            if unit.region(site).name is not None:
                groups.setdefault(unit.region(site).start, []).append(site)
        for sites in groups.values():
            region = unit.region(sites[0])
            context = unit.context(sites[0])
            replacement = self._replacement(unit, context, sites) if context is not None else None
            if replacement is None:
                continue
            used = next(filter(_matters, unit.macro_uses(region.name or b"")), None)
            if used is not None:
                file = used.text.file
                reason = (
                    f"{REASON}; but in {file.name}:{file.line(used.start)} the macro's value is "
                    "used, or what it is given has effects"
                )
                yield from (self.escalated(site, reason) for site in sites)
                continue
            if region.tokens[-1].text == b";":  # who uses it may write none of his own
                replacement += b";"
            edit = Edit(region.start, region.end, replacement)
            for site in sites:
                yield self.rewritten(site, f"removed: {REASON}", edit)

    @staticmethod
    def _replacement(unit: Unit, context: Context, sites: list[Site]) -> bytes | None:
        accesses = [access for site in sites if (access := unit.access(site)) is not None]
        if len(accesses) < len(sites) or not all(is_set_up(access) for access in accesses):
            return None
        if any(access.use not in ("read", "write") for access in accesses):
            return None
        if any(run_again(unit, it) or unmade(unit, it) for it in accesses):
            return None
        writes = {access.whole.id: access for access in accesses if access.use == "write"}
        body = body_of(context)
        if body is None or not writes:
            return None
        if body.type.endswith("_statement"):
            names = {
                text_of(name)
                for node in walk(body)
                if node.type in ("init_declarator", "declaration")
                for declarator in node.children_by_field_name("declarator")
                if (name := declared_name(declarator)) is not None
            }
            serves = _serves(body, writes, names, unit.text.evaluator)
            return b"do { } while (0)" if serves else None
        return b"((void)0)" if strip_parentheses(body).id in writes else None


def _matters(use: MacroUse) -> bool:
    """Whether a use has the macro's value, or effects in what it is given."""
    tokens = use.text.lexed.tokens
    index = bisect_left(tokens, use.start, key=lambda token: token.start)
    if index == len(tokens) or tokens[index].start != use.start:
        return False  # in the body of another macro, which has uses of its own
    last = bisect_left(tokens, use.end, key=lambda token: token.start)
    given = [token.text for token in tokens[index + 2 : last - 1]]
    is_value = index > 0 and tokens[index - 1].text not in _BEFORE_STATEMENTS
    return is_value or not _EFFECTS.isdisjoint(given)


def _serves(node: Node, writes: dict[int, Access], names: set[bytes], evaluator: Evaluator) -> bool:
    """Whether a statement is set-up, or only computes with the macro's own variables."""
    if node.type == "compound_statement":
        return all(_serves(child, writes, names, evaluator) for child in node.named_children)
    if node.type == "do_statement":
        body, condition = node.child_by_field_name("body"), node.child_by_field_name("condition")
        once = condition is not None and evaluator.number(condition) == 0
        return once and body is not None and _serves(body, writes, names, evaluator)
    if node.type == "declaration":
        return is_pure(node, evaluator)
    if node.type != "expression_statement":
        return node.type == "comment"
    if not node.named_children:
        return True
    expression = strip_parentheses(node.named_children[0])
    if expression.id in writes:
        value = writes[expression.id].value
        return value is None or is_pure(value, evaluator)
    if expression.type == "assignment_expression":
        left = expression.child_by_field_name("left")
        right = expression.child_by_field_name("right")
        own = left is not None and text_of(strip_parentheses(left)) in names
        return own and right is not None and is_pure(right, evaluator)
    if expression.type == "call_expression" and text_of(expression).startswith(b"UNUSED("):
        return True
    return is_pure(expression, evaluator)
