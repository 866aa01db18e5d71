"""__disable_irq() and its relatives."""

from __future__ import annotations

from collections.abc import Iterator

from porter.judging.unit import Call, Unit
from porter.judging.verdict import Verdict
from porter.registers.intrinsics import MASK_CLEAR, MASK_SET
from porter.rules.rule import Rule, Sample
from porter.sites.site import Site, SiteKind
from porter.source.c_tree import PARENTHESES, Node, enclosing_function, text_of
from porter.source.edit import Edit

_TAKES_VALUE = frozenset(
    {"assignment_expression", "return_statement", "binary_expression", "if_statement",
     "argument_list", "unary_expression", "conditional_expression", "initializer_list",
     "switch_statement", "while_statement", "do_statement"}
)  # fmt: skip
_BEFORE_VALUE = frozenset({b"=", b"return", b"!", b"==", b"!=", b"|", b"&"})


class MaskIntrinsic(Rule):
    """Global masking by name."""

    id = "mask-intrinsic"
    finds = "__disable_irq(), __enable_irq(), __disable_interrupt(), __enable_interrupt()"
    becomes = "virt_int_mask(VIRT_PRIMASK), virt_int_unmask(VIRT_PRIMASK)"
    why = "CPS does nothing in unprivileged code: the section would not be protected"
    samples = (
        Sample(
            "void f(void) { __disable_irq(); g(); __enable_irq(); }",
            "void f(void) { virt_int_mask(VIRT_PRIMASK); g(); virt_int_unmask(VIRT_PRIMASK); }",
        ),
        Sample("#define LOCK() __disable_irq()", "#define LOCK() virt_int_mask(VIRT_PRIMASK)"),
        Sample(
            "int f(void) { int was = __disable_irq(); return was; }",
            "int f(void) { int was = virt_int_save(VIRT_PRIMASK); return was; }",
        ),
        Sample(
            "void f(int on) { on ? __enable_irq() : __disable_irq(); }",
            "void f(int on) { on ? virt_int_unmask(VIRT_PRIMASK) : virt_int_mask(VIRT_PRIMASK); }",
        ),
        Sample("int f(int a) { return a ? (int)__enable_irq() : 0; }", "", escalates=True),
        Sample("void (*off)(void) = __disable_irq;", "", escalates=True),
    )

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Each call on its own; a use that is no call is not understood."""
        for site in unit.pending(SiteKind.INTRINSIC):
            if site.what not in MASK_SET | MASK_CLEAR:
                continue
            call = unit.call(site)
            if call is None or call.arguments:
                yield self.escalated(site, f"{site.what} is used otherwise than by a call")
                continue
            name = b"virt_int_mask" if site.what in MASK_SET else b"virt_int_unmask"
            if _is_value(unit, site, call):
                if site.what not in MASK_SET:
                    yield self.escalated(site, f"the result of {site.what} is used")
                    continue
                name = b"virt_int_save"
            edit = Edit(call.start, call.end, name + b"(VIRT_PRIMASK)")
            yield self.rewritten(site, f"{name.decode()} of PRIMASK", edit)


def _user(node: Node) -> Node | None:
    """What gets an expression's value, through `c ? a : b`."""
    parent = node.parent
    while parent is not None and (
        parent.type in PARENTHESES
        or (
            parent.type == "conditional_expression"
            and node != parent.child_by_field_name("condition")
        )
    ):
        node, parent = parent, parent.parent
    return parent


def _is_value(unit: Unit, site: Site, call: Call) -> bool:
    """Whether the old state is taken from the call, as Arm's own compiler gives it."""
    context = unit.context(site)
    node = context.node_at(call.start, call.end) if context is not None else None
    if node is None:  # nobody could parse it
        tokens, index = unit.token_index(site)
        return index > 0 and tokens[index - 1].text in _BEFORE_VALUE
    parent = _user(node)
    if parent is not None and parent.type == "cast_expression":
        return not text_of(parent).replace(b" ", b"").startswith(b"(void)")
    if parent is not None and parent.type == "return_statement":
        function = enclosing_function(parent)
        kind = function.child_by_field_name("type") if function is not None else None
        return kind is None or text_of(kind) != b"void"
    if parent is not None and parent.type == "init_declarator":
        return context is not None and context.kind == "function"
    return parent is not None and parent.type in _TAKES_VALUE
