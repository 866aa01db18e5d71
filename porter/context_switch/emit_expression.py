"""Expressions of the small language as C."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from porter.context_switch.ir import (
    CONTEXT,
    FPU,
    MASKS,
    RISCV_FPU,
    Binary,
    Choice,
    Condition,
    Const,
    Expr,
    LeadingZeros,
    Load,
    Symbol,
    Undefined,
    Var,
)
from porter.context_switch.kinds import ARRAY, INTEGER, POINTER
from porter.context_switch.lift_state import KIND_COMPARE
from porter.context_switch.names import Variable
from porter.context_switch.result import NotTranscribable

_SIGNED = {"ge": ">=", "lt": "<", "gt": ">", "le": "<="}
_UNSIGNED = {"eq": "==", "ne": "!=", "hs": ">=", "lo": "<", "hi": ">", "ls": "<="}
_SIGNED_PART = {24: "int8_t", 16: "int16_t"}  # by the bits above it
_NARROW = {1: "uint8_t", 2: "uint16_t", 4: "uint32_t"}
# What memory is accessed as: types of <fvm/state.h> that may alias whatever the project's own C has
# there, which a compiler may inline behind an access.
WORD = "fvm_word"
_ACCESSED = {1: "uint8_t", 2: "fvm_half", 4: WORD}
WORD_POINTER = f"{WORD} *"


@dataclass
class Expressions:
    """Renders for one handler. A name that only the assembler text knew becomes `extern void *
    volatile NAME;` where a pointer is loaded from it, which fits any object pointer at link time.

    `pointers` are the locals that point to words; `parameters` the C names of a plain function's
    parameters and whether they are pointers of whatever type; `externs` collects names that need a
    declaration, with the kind the C text uses them as."""

    pointers: frozenset[str]
    variable: Callable[[str], Variable | None]
    is_function: Callable[[str], bool]
    paren: Callable[[str], str]
    externs: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, tuple[str, bool]] = field(default_factory=dict)

    def cast(self, kind: str, text: str) -> str:
        """A cast in the file's own spacing."""
        return f"{self.paren(kind)} {text}" if self.paren("x") != "(x)" else f"({kind}){text}"

    def integer(self, expr: Expr) -> str:
        """The expression as a uint32_t, ready to be an operand."""
        match expr:
            case Const(value):
                return _constant(value)
            case Var("BASEPRI"):  # `lost_numbers`: nobody asks for more than 0 or not
                return f"virt_int_level{self.paren('VIRT_BASEPRI')}"
            case Var(name) if name in MASKS:
                return f"virt_int_query{self.paren('VIRT_' + name)}"
            case Var("IPSR"):
                return self.cast("uint32_t", f"virt_in_vct{self.paren('')}")
            case Var("CPACR"):
                return f"virt_cpacr{self.paren('')}"
            case Var("MCAUSE"):
                return f"virt_cause{self.paren('')}"
            case Var(name) if name in CONTEXT:
                return context_field(name)
            case Var(name) if name in self.parameters:
                text, pointer = self.parameters[name]
                return self.cast("uint32_t", text) if pointer else text
            case Var(name):
                return self.cast("uint32_t", name) if name in self.pointers else name
            case Symbol():
                return self.cast("uint32_t", self._symbol_address(expr))
            case Load():
                return self._loaded_integer(expr)
            case Binary("+" | "-", left, Const(step)) if step % 4 == 0 and self._is_pointer(left):
                return self.cast("uint32_t", self.paren(self.pointer(expr)))
            case Binary(">>>", Binary("<<", word, Const(lost)), Const(bits)) if (
                lost == bits and bits in _SIGNED_PART
            ):
                return self.cast("uint32_t", self.cast(_SIGNED_PART[bits], self.integer(word)))
            case Binary(">>>", left, right):
                signed = self.cast("int32_t", self.integer(left))
                return self.cast("uint32_t", self.paren(f"{signed} >> {self._amount(right)}"))
            case LeadingZeros(word):
                return self.cast("uint32_t", f"__builtin_clz{self.paren(self.integer(word))}")
            case Choice(condition, yes, no):
                asked = self.paren(self.condition(condition))
                return self.paren(f"{asked} ? {self.integer(yes)} : {self.integer(no)}")
            case Binary("^", left, Const(0xFFFF_FFFF)) if not _is_int(left):
                return f"~{self.integer(left)}"
            case Binary("<<" | ">>" as operator, left, amount):
                return self.paren(f"{self._word(operator, expr)} {operator} {self._amount(amount)}")
            case Binary(operator, left, right):
                return self.paren(f"{self._word(operator, expr)} {operator} {self.integer(right)}")
            case Condition():
                return self.condition(expr)
            case Undefined(why):
                raise NotTranscribable(f"reads a register that {why} destroyed")
        raise NotTranscribable("an expression that has no C")

    def _word(self, operator: str, expr: Binary) -> str:
        """The left side, unsigned where the result as an int might be negative, or too large."""
        text = self.integer(expr.left)
        if operator not in ("-", "*", "<<") or not _is_int(expr):
            return text
        return f"{text}u" if isinstance(expr.left, Const) else self.cast("uint32_t", text)

    def _amount(self, expr: Expr) -> str:
        return str(expr.value) if isinstance(expr, Const) else self.integer(expr)

    def pointer(self, expr: Expr) -> str:
        """The expression as a pointer to words."""
        match expr:
            case Var(name) if name in self.parameters:
                return self.cast(WORD_POINTER, self.parameters[name][0])
            case Var(name) if name in self.pointers:
                return name
            case Load(Symbol(name, 0), 4) if self._symbol_kind(name, POINTER) == POINTER:
                return self.cast(WORD_POINTER, name)
            case Symbol():
                return self.cast(WORD_POINTER, self._symbol_address(expr))
            case Binary("+" | "-" as sign, left, Const(step)) if self._is_pointer(left):
                if step % 4 == 0:
                    return f"{self.pointer(left)} {sign} {step // 4}"
        return self.cast(WORD_POINTER, self.integer(expr))

    def place(self, address: Expr, size: int, volatile: bool = False) -> str:
        """The object at an address, as an lvalue."""
        match address:
            case Symbol(name, 0) if self._is_integer(name, size):
                return name
            case Binary("+" | "-" as sign, left, Const(step)) if self._is_pointer(left):
                base, offset = left, step if sign == "+" else -step
            case Symbol(name, step) if step:
                base, offset = Symbol(name), step
            case _:
                base, offset = address, 0
        if size == 4 and offset % 4 == 0:
            text = self.pointer(base)
            if volatile:
                text = self.cast(f"volatile {WORD_POINTER}", text)
            simple = text.isidentifier()
            if offset:
                return self.element(text, offset // 4)
            return f"*{text}" if simple or text.startswith("(") else f"*{self.paren(text)}"
        if isinstance(address, Symbol):
            whole = self._symbol_address(address)
        else:
            whole = self.integer(address)
        kind = f"{'volatile ' if volatile else ''}{_ACCESSED[size]} *"
        return f"*{self.cast(kind, self._operand(whole))}"

    def element(self, pointer: str, index: int) -> str:
        """A word of an array."""
        whole = pointer if pointer.isidentifier() else self.paren(pointer)
        return f"{whole}[ {index} ]" if self.paren("x") != "(x)" else f"{whole}[{index}]"

    def condition(self, expr: Expr) -> str:
        """A condition code over resolved flags."""
        if not isinstance(expr, Condition) or not isinstance(expr.kind, Const):
            raise NotTranscribable("a condition tests flags of more than one instruction")
        if expr.code in ("eq", "ne") and self._is_pointer(expr.left):
            other = "NULL" if expr.right == Const(0) else self.pointer(expr.right)
            return f"{self.pointer(expr.left)} {_UNSIGNED[expr.code]} {other}"
        left, right = self.integer(expr.left), self.integer(expr.right)
        if expr.code in ("eq", "ne"):
            return f"{left} {_UNSIGNED[expr.code]} {right}"
        if expr.kind.value == KIND_COMPARE and expr.code in _UNSIGNED:
            return f"{left} {_UNSIGNED[expr.code]} {right}"
        if expr.kind.value == KIND_COMPARE and expr.code in _SIGNED:
            signed = [self.cast("int32_t", side) for side in (left, right)]
            return f"{signed[0]} {_SIGNED[expr.code]} {signed[1]}"
        if expr.code in ("mi", "pl"):
            if expr.kind.value == KIND_COMPARE:
                left = self.paren(f"{left} - {right}")
            return f"{self.cast('int32_t', left)} {'<' if expr.code == 'mi' else '>='} 0"
        raise NotTranscribable(
            f"condition {expr.code.upper()} after an instruction whose carry or overflow isn't kept"
        )

    def _is_pointer(self, expr: Expr) -> bool:
        return isinstance(expr, Var) and expr.name in self.pointers

    def _operand(self, text: str) -> str:
        plain = text.lstrip("&").isidentifier() or text.startswith("(")
        return text if plain else self.paren(text)

    def _loaded_integer(self, expr: Load) -> str:
        if expr.signed:
            kind = f"{'volatile ' if expr.volatile else ''}{_ACCESSED[expr.size]}"
            whole = self.cast(f"{kind} *", self._operand(self.integer(expr.address)))
            narrow = self.cast("int8_t" if expr.size == 1 else "int16_t", f"*{whole}")
            return self.cast("uint32_t", narrow)
        if isinstance(expr.address, Symbol) and expr.address.offset == 0:
            name = expr.address.name
            if expr.size == 4 and self._symbol_kind(name, INTEGER) == POINTER:
                return self.cast("uint32_t", name)
            if self._is_integer(name, expr.size) and not self._is_unsigned(name):
                # Widened as the instruction does, not as the declared type would be.
                return self.cast(_NARROW[expr.size], name)
        return self.place(expr.address, expr.size, expr.volatile)

    def is_pointer_object(self, name: str) -> bool:
        """Whether C knows a named object as a pointer."""
        declared = self.variable(name)
        kind = declared.kind if declared is not None else self.externs.get(name)
        return kind == POINTER

    def _is_integer(self, name: str, size: int) -> bool:
        """Whether C can name an integer of just the size that is accessed."""
        declared = self.variable(name)
        if declared is None:
            kind = INTEGER if size == 4 else _NARROW[size]
            return self._symbol_kind(name, kind) == kind
        return declared.kind == INTEGER and declared.size == size

    def _is_unsigned(self, name: str) -> bool:
        declared = self.variable(name)
        return declared is None or declared.unsigned

    def _symbol_kind(self, name: str, wanted: str) -> str:
        """How C sees a named object; an undeclared one is declared as what is wanted first."""
        declared = self.variable(name)
        if declared is not None:
            return declared.kind
        if self.is_function(name):
            return "function"
        return self.externs.setdefault(name, wanted)

    def _symbol_address(self, symbol: Symbol) -> str:
        kind = self._symbol_kind(symbol.name, INTEGER)
        text = symbol.name if kind in ("function", ARRAY) else f"&{symbol.name}"
        if symbol.offset:
            text = self.cast("uint32_t", text)
            sign = "+" if symbol.offset > 0 else "-"
            return self.paren(f"{text} {sign} {abs(symbol.offset)}")
        return text


def context_field(name: str) -> str:
    """The place of one of the task's registers in USR_REG."""
    group = "Fpu" if name in (*FPU, *RISCV_FPU, "FCSR") else "Reg"
    return f"USR_REG->{group}.{name}"


def _is_int(expr: Expr) -> bool:
    """Whether the C of an expression is an int: narrow types become one (C11, 6.3.1.1)."""
    match expr:
        case Const(value):
            return value < 1 << 31
        case Load(size=size, signed=signed):
            return size < 4 and not signed
        case Binary("<<" | ">>", left, _):
            return _is_int(left)
        case Binary(">>>", _, _):
            return False
        case Binary(_, left, right) | Choice(_, left, right):
            return _is_int(left) and _is_int(right)
    return False


def _constant(value: int) -> str:
    return str(value) if value < 10 else f"0x{value:X}" if value < 1 << 31 else f"0x{value:X}u"
