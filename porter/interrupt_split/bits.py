"""Which bits of a register the handler looks at, and which flags a condition asks for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from porter.interrupt_split.expression import ALL_BITS, Expr, peeled
from porter.interrupt_split.statement import Statement, accesses, walk_all

Variable = tuple[int, str]
_DEPTH = 20  # locals that are copies of locals


@dataclass(frozen=True)
class Flag:
    """A condition is true only if one of `bits` is set in what was read."""

    read: Expr
    bits: int


@dataclass(frozen=True)
class Definition:
    """A local gets a value, by `=` or by an operator that keeps part of the old one."""

    operator: str
    value: Expr


class Values:
    """Where the values of locals come from and go to."""

    def __init__(self, statements: Sequence[Statement]) -> None:
        self.definitions: dict[Variable, list[Definition]] = {}
        self.uses: dict[Variable, list[Expr]] = {}
        self._assigned: dict[int, Variable] = {}
        for statement in walk_all(statements):
            for local in statement.locals:
                if local.value is not None:
                    definition = Definition("=", local.value)
                    self.definitions.setdefault(local.variable, []).append(definition)
                    self._assigned[id(local.value)] = local.variable
        for _, item in accesses(statements):
            if item.kind == "set" and item.value is not None:
                definition = Definition(item.operator, item.value)
                self.definitions.setdefault(item.variable, []).append(definition)
            elif item.kind == "local":
                self.uses.setdefault(item.variable, []).append(item)

    # --- backwards -------------------------------------------------------------------------

    def origin(self, expr: Expr, depth: int = 0) -> tuple[Expr, int] | None:
        """The register read that a value is, and the bits that are left of it."""
        expr = peeled(expr)
        if expr.kind == "read":
            return expr, ALL_BITS
        if expr.kind == "set" and expr.operator == "=" and expr.value is not None:
            return self.origin(expr.value, depth)
        if expr.kind == "local" and depth < _DEPTH:
            known = self.definitions.get(expr.variable, [])
            if len(known) == 1 and known[0].operator == "=":
                return self.origin(known[0].value, depth + 1)
        if expr.kind == "pure" and expr.operator == "&":
            left, right = (peeled(part) for part in expr.parts)
            for value, mask in ((left, right), (right, left)):
                if mask.kind == "const":
                    value, shift = _unshifted(value)
                    found = self.origin(value, depth)
                    bits = mask.number << shift & ALL_BITS
                    return None if found is None else (found[0], found[1] & bits)
        return None

    def flags(self, expr: Expr, positive: bool = True) -> Iterator[Flag]:
        """What must be set for a condition to be true, or false if not `positive`."""
        expr = peeled(expr)
        parts = expr.parts
        if expr.kind == ("and" if positive else "or"):
            for part in parts:
                yield from self.flags(part, positive)
        elif expr.kind in ("and", "or"):
            yield from self._either(parts, positive)
        elif expr.kind == "pure" and expr.operator == "unary_expression":
            if expr.text.startswith("!") and parts:
                yield from self.flags(parts[0], not positive)
        elif expr.kind == "choice" and len(parts) == 3:
            yes, no = (peeled(part) for part in parts[1:])
            if yes.kind == no.kind == "const" and bool(yes.number) != bool(no.number):
                yield from self.flags(parts[0], positive == bool(yes.number))
        elif expr.kind == "pure" and expr.operator in ("==", "!=", ">") and len(parts) == 2:
            yield from self._compared(expr, positive)
        elif positive and (found := self.origin(expr)) is not None:
            yield Flag(*found)

    def _either(self, parts: list[Expr], positive: bool) -> Iterator[Flag]:
        """One of several flags of the same register."""
        found = [list(self.flags(part, positive)) for part in parts]
        if all(len(flags) == 1 for flags in found):
            first = found[0][0].read.register
            if all(flags[0].read.register == first for flags in found):
                bits = 0
                for flags in found:
                    bits |= flags[0].bits
                yield Flag(found[0][0].read, bits)

    def _compared(self, expr: Expr, positive: bool) -> Iterator[Flag]:
        left, right = expr.parts
        if peeled(left).kind == "const":
            left, right = right, left
        number = peeled(right)
        if number.kind != "const":
            return
        if number.number == 0:
            yield from self.flags(left, positive == (expr.operator != "=="))
        elif positive == (expr.operator == "=="):
            found = self.origin(left)
            if found is not None and found[1] != ALL_BITS:
                yield Flag(*found)
            else:
                yield from self.flags(left, True)

    # --- what the mid-section can't see ---------------------------------------------------

    def what_hides(self, expr: Expr, seen: frozenset[Variable] = frozenset()) -> str | None:
        """What in an expression only the VM knows, None if nothing is."""
        for item in expr.walk():
            if item.kind in ("memory", "call", "hardware", "asm"):
                return item.name or item.text.strip()
            if item.kind == "local" and item.variable not in seen:
                known = self.definitions.get(item.variable)
                if not known:
                    return item.name
                for definition in known:
                    hidden = self.what_hides(definition.value, seen | {item.variable})
                    if hidden is not None:
                        return f"{item.name} = {hidden}"
        return None

    # --- forwards --------------------------------------------------------------------------

    def used(self, read: Expr) -> Iterator[tuple[Expr, int]]:
        """The places where a read value ends, and the bits that matter there."""
        yield from self._climb(read, ALL_BITS, frozenset())

    def _climb(
        self, expr: Expr, bits: int, seen: frozenset[Variable], shift: int = 0
    ) -> Iterator[tuple[Expr, int]]:
        parent = expr.parent
        variable = self._assigned.get(id(expr))
        if variable is not None:
            for use in self.uses.get(variable, ()) if variable not in seen else ():
                yield from self._climb(use, bits, seen | {variable})
        elif parent is None:
            yield expr, bits
        elif parent.kind == "expansion" or (
            parent.kind == "pure" and parent.operator in ("()", "cast")
        ):
            if parent.pieces[:1] == ["(void)"]:
                return
            yield from self._climb(parent, bits, seen, shift)
        elif parent.kind == "pure" and _unshifted(parent)[0] is expr:
            yield from self._climb(parent, bits, seen, shift + _unshifted(parent)[1])
        elif parent.kind == "set" and parent.operator == "=" and parent.variable not in seen:
            for use in self.uses.get(parent.variable, ()):
                yield from self._climb(use, bits, seen | {parent.variable})
            if parent.parent is not None:
                yield from self._climb(parent, bits, seen)
        elif parent.kind == "pure" and parent.operator == "&":
            other = next((p for p in parent.parts if p is not expr), None)
            mask = peeled(other) if other is not None else None
            if mask is not None and mask.kind == "const":
                yield from self._climb(parent, bits & (mask.number << shift), seen)
            else:
                yield parent, bits
        else:
            yield parent, bits


def _unshifted(expr: Expr) -> tuple[Expr, int]:
    """X and N of `X >> N`, any other expression and 0."""
    if expr.kind == "pure" and expr.operator == ">>" and len(expr.parts) == 2:
        by = peeled(expr.parts[1])
        if by.kind == "const" and 0 <= by.number < 32:
            return expr.parts[0], by.number
    return expr, 0
