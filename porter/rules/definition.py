"""The definitions of CMSIS functions in the project's own core headers."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from porter.judging.unit import Unit
from porter.judging.verdict import Verdict
from porter.registers.intrinsics import INTRINSICS
from porter.rules.rule import Rule, Sample
from porter.sites.context import Context, function_name
from porter.sites.site import Site, SiteKind
from porter.source.balanced import balanced
from porter.source.c_lexer import LexedSource, Token
from porter.source.c_tree import Node, ancestors, text_of
from porter.source.declared import declared_name
from porter.source.scoped_names import path_around
from porter.source.token_tools import body_behind, is_qualified, matching

_HEADS = frozenset({"function_declarator", "pointer_declarator"})
_BUILT_IN = frozenset({"primitive_type", "sized_type_specifier"})
_ACCESSORS = frozenset({"__get_CONTROL", "__get_APSR"})  # defined next to the others, harmless


class Definition(Rule):
    """`__disable_irq` and its like where they are defined, not used."""

    id = "definition"
    finds = "the definition, declaration or alias of a CMSIS function"
    becomes = "itself: it stays in the header, unused"
    why = "every use is a site of its own; an inline function without users makes no code"
    samples = (
        Sample(
            'static inline void __disable_irq(void) { __asm volatile("cpsid i" ::: "memory"); }',
            'static inline void __disable_irq(void) { __asm volatile("cpsid i" ::: "memory"); }',
        ),
        Sample("void __WFI(void);", "void __WFI(void);"),
        Sample(
            "unsigned get() KEEP_STATE { return __get_PRIMASK(); }",
            "unsigned get() KEEP_STATE { return virt_int_query(VIRT_PRIMASK); }",
        ),
        Sample(
            'ODD uint32_t __get_IPSR(void) { uint32_t r; ODD_ASM ("mrs %0, ipsr" : "=r"(r)); }',
            'ODD uint32_t __get_IPSR(void) { uint32_t r; ODD_ASM ("mrs %0, ipsr" : "=r"(r)); }',
        ),
        Sample(
            "#define NVIC_EnableIRQ __NVIC_EnableIRQ", "#define NVIC_EnableIRQ __NVIC_EnableIRQ"
        ),
    )

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Whatever stands in the body of such a function or macro, and its name."""
        own = {name.decode("latin-1") for name in unit.text.own}
        spans = [it for it in _spans(unit.text.lexed) if it[0] not in own]
        for site in unit.pending():
            if site.kind is SiteKind.INTRINSIC and is_qualified(*unit.token_index(site)):
                yield self.escalated(
                    site,
                    f"{site.what} belongs to a class or namespace that this project doesn't "
                    "define: what does it do?",
                )
                continue
            around = (name for name, start, end in spans if start <= site.start < end)
            name = next(around, None) or self._defined(unit, site)
            if name is not None:
                yield self.left(site, f"part of the definition of {name}; uses are rewritten")

    def _defined(self, unit: Unit, site: Site) -> str | None:
        region = unit.region(site)
        if region.name is not None:
            name = region.name.decode("latin-1")
            return name if name in INTRINSICS or name in _ACCESSORS else None
        context = unit.context(site)
        if context is not None and context.kind == "function":
            name = function_name(context.root)
            is_cmsis = name.encode() not in unit.text.own and (
                name in INTRINSICS or name in _ACCESSORS
            )
            return name if is_cmsis and _is_defined_by(context, unit.text.lexed.tokens) else None
        if site.kind is SiteKind.INTRINSIC and context is not None and context.kind == "file":
            node = context.node_at(site.start, site.end)
            if node is not None and _is_declared(node, unit):
                return site.what
        return None


def _spans(lexed: LexedSource) -> Iterator[tuple[str, int, int]]:
    """The intrinsics that a file defines, from the name to the end of the body, whether or not the
    parser can read that."""
    plain = balanced(lexed)
    depth = 0
    for index, token in enumerate(plain):
        depth += (token.text == b"{") - (token.text == b"}")
        name = token.text.decode("latin-1")
        if depth or not (name in INTRINSICS or name in _ACCESSORS):
            continue
        opening = body_behind(plain, index)
        end = matching(plain, opening) if opening is not None else None
        if end is not None:
            yield name, token.start, plain[end].end


def _is_defined_by(context: Context, tokens: list[Token]) -> bool:
    """Whether a function that the parser found is the one of its name: of what it can't read it may
    make the head of a function, with a name that is called in the body."""
    body = context.root.child_by_field_name("body")
    declarator = context.root.child_by_field_name("declarator")
    name = declared_name(declarator) if declarator is not None else None
    if body is None or name is None or declarator is None or path_around(context.root):
        return False
    index = bisect_left(tokens, context.start(name), key=lambda token: token.start)
    opening = body_behind(tokens, index)
    return opening is not None and tokens[opening].start == context.start(body)


def _is_declared(node: Node, unit: Unit) -> bool:
    """Whether a name is what a declaration outside functions declares, and not called where a macro
    stands that the parser takes for a type."""
    declaration = next((it for it in ancestors(node) if it.type == "declaration"), None)
    kind = declaration.child_by_field_name("type") if declaration is not None else None
    is_head = node.parent is not None and node.parent.type in _HEADS
    if not is_head or kind is None or (declaration is not None and path_around(declaration)):
        return False
    return kind.type in _BUILT_IN or unit.text.evaluator.types.is_type(text_of(kind))
