"""asm statements of C: GNU asm with operands, and the ARMCC block and function forms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from porter.source.asm_text import Instruction, instructions
from porter.source.c_lexer import Token
from porter.source.c_strings import decode_strings
from porter.source.macros import MacroTable
from porter.source.token_tools import matching, split_arguments

ASM_WORDS = frozenset({b"asm", b"__asm", b"__asm__", b"_asm", b"__ASM"})
_QUALIFIERS = frozenset(
    {b"volatile", b"__volatile", b"__volatile__", b"goto", b"inline", b"__inline"}
)
READS_FIRST = frozenset({"msr", "str", "strb", "strh", "cmp", "cmn", "tst", "teq", "bx", "blx"})
CONSTANTS = frozenset({"i", "n", "I", "J", "K"})  # constraints that no register satisfies
IsAsm = Callable[[bytes], bool]


@dataclass(frozen=True)
class Operand:
    """One operand of GNU asm: `name` in [brackets] if any, [start, end) of the C expression."""

    constraint: str
    name: str | None
    text: bytes
    start: int
    end: int


@dataclass(frozen=True)
class AsmStatement:
    """[start, end) from the keyword to the closing parenthesis or brace, without `;`.

    `template` are the template's tokens where a macro is a part of it; `unread`: an operand that is
    spelt otherwise than as one, a macro for example; "" if there is none. `text`: what its strings
    say to the assembler, in the gnu form.
    """

    start: int
    end: int
    form: str  # gnu, block (ARMCC __asm {...}) or function (ARMCC __asm void f(void) {...})
    instructions: tuple[Instruction, ...]
    outputs: tuple[Operand, ...] = ()
    inputs: tuple[Operand, ...] = ()
    template: tuple[Token, ...] = ()
    unread: str = ""
    text: str = ""

    def without_operands(self) -> Iterator[tuple[int, int]]:
        """The parts that are no C."""
        start = self.start
        operands = (*self.outputs, *self.inputs) if self.form == "gnu" else ()
        for operand in sorted(operands, key=lambda it: it.start):
            if operand.start > start:
                yield start, operand.start
            start = operand.end
        yield start, self.end


def is_asm_word(word: bytes, macros: MacroTable) -> bool:
    """Whether a word begins an asm statement: the keyword, or a macro such as __ASM for it."""
    if word in ASM_WORDS:
        return True
    macro = macros.get(word)
    return (
        macro is not None
        and macro.parameters is None
        and 1 <= len(macro.text) <= 2
        and macro.text[0] in ASM_WORDS
    )


def find_asm(tokens: Sequence[Token], data: bytes, is_asm: IsAsm) -> Iterator[AsmStatement]:
    """Every asm statement among tokens of `data`, in order."""
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if token.kind != "identifier" or not is_asm(token.text):
            index += 1
            continue
        found, after = _statement(tokens, index, data)
        if found is not None:
            yield found
        index = after


def _statement(tokens: Sequence[Token], index: int, data: bytes) -> tuple[AsmStatement | None, int]:
    position = index + 1
    while position < len(tokens) and tokens[position].text in _QUALIFIERS:
        position += 1
    if position >= len(tokens):
        return None, position
    opening = tokens[position]
    if opening.text == b"(":
        closing = matching(tokens, position)
        if closing is None:
            return None, position
        return _gnu(tokens, index, position, closing, data), closing + 1
    if opening.kind == "string":
        end = position
        while end < len(tokens) and tokens[end].kind == "string":
            end += 1
        body = _decoded(tokens[position:end])
        text = text_of_strings(tokens[position:end])
        return AsmStatement(tokens[index].start, tokens[end - 1].end, "gnu", body, text=text), end
    if opening.text == b"{":
        return _raw_block(tokens, index, position, data, "block")
    for candidate in range(position, min(position + 40, len(tokens))):
        if tokens[candidate].text in (b";", b"="):
            break
        if tokens[candidate].text == b"{":
            return _raw_block(tokens, index, candidate, data, "function")
    return None, position


def _raw_block(
    tokens: Sequence[Token], index: int, opening: int, data: bytes, form: str
) -> tuple[AsmStatement | None, int]:
    closing = matching(tokens, opening)
    if closing is None:
        return None, opening + 1
    base = tokens[opening].end
    body = tuple(
        Instruction(part.mnemonic, part.operands, part.start + base, part.end + base, part.label)
        for part in instructions(
            data[base : tokens[closing].start], "gnu" if form == "block" else "armasm"
        )
    )
    outputs, inputs = (
        _variables(tokens[opening + 1 : closing], body) if form == "block" else ((), ())
    )
    statement = AsmStatement(tokens[index].start, tokens[closing].end, form, body, outputs, inputs)
    return statement, closing + 1


def _variables(
    tokens: Sequence[Token], body: Sequence[Instruction]
) -> tuple[tuple[Operand, ...], tuple[Operand, ...]]:
    """Names of C in an ARMCC block: those that an instruction writes, and the others."""
    written: dict[bytes, str] = {}
    read: set[bytes] = set()
    for instruction in body:
        names = [operand.encode("latin-1") for operand in instruction.operands]
        first = 0 if instruction.base in READS_FIRST else 1
        read |= set(names[first:])
        for name in names[:first]:
            written.setdefault(name, "+r" if name in read else "=r")
    outputs: dict[bytes, Operand] = {}
    inputs: dict[bytes, Operand] = {}
    for token in tokens:
        if token.kind == "identifier" and token.text in written:
            constraint = written[token.text]
            operand = Operand(constraint, None, token.text, token.start, token.end)
            outputs.setdefault(token.text, operand)
        elif token.kind == "identifier" and token.text in read:
            operand = Operand("r", None, token.text, token.start, token.end)
            inputs.setdefault(token.text, operand)
    return tuple(outputs.values()), tuple(inputs.values())


def _gnu(
    tokens: Sequence[Token], index: int, opening: int, closing: int, data: bytes
) -> AsmStatement:
    sections = _sections(tokens[opening + 1 : closing])
    template = sections[0] if sections else []
    outputs, inputs = (split_arguments(part) for part in (*sections[1:3], [], [])[:2])
    unread = next((it for it in (*outputs, *inputs) if it and _operand(it, data) is None), [])
    return AsmStatement(
        tokens[index].start,
        tokens[closing].end,
        "gnu",
        _decoded(template),
        _operands(outputs, data),
        _operands(inputs, data),
        tuple(template) if any(token.kind != "string" for token in template) else (),
        b" ".join(token.text for token in unread).decode("latin-1"),
        text_of_strings(template),
    )


def _sections(tokens: Sequence[Token]) -> list[list[Token]]:
    sections: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token.text in (b"(", b"[", b"{")) - (token.text in (b")", b"]", b"}"))
        if token.text == b":" and depth == 0:
            sections.append([])
        else:
            sections[-1].append(token)
    return sections


def _operands(parts: Sequence[Sequence[Token]], data: bytes) -> tuple[Operand, ...]:
    return tuple(it for part in parts if (it := _operand(part, data)) is not None)


def _operand(part: Sequence[Token], data: bytes) -> Operand | None:
    """`[name] "constraint" (expression)`; None for what is none."""
    name = None
    if len(part) > 3 and part[0].text == b"[" and part[2].text == b"]":
        name = part[1].text.decode("latin-1")
        part = part[3:]
    words = next((at for at, token in enumerate(part) if token.kind != "string"), len(part))
    rest = part[words:]
    if not words or len(rest) < 3 or rest[0].text != b"(" or rest[-1].text != b")":
        return None
    inner = rest[1:-1]
    text = data[inner[0].start : inner[-1].end]
    if b"\n" in text or b"/*" in text:
        text = b" ".join(token.text for token in inner)
    constraint = b"".join(it.text.strip(b'"') for it in part[:words]).decode("latin-1")
    return Operand(constraint, name, text, inner[0].start, inner[-1].end)


def in_template(texts: Iterable[bytes]) -> tuple[Instruction, ...]:
    """The instructions in the strings of a template whose macros are expanded."""
    return _decoded(as_strings(texts))


def as_strings(texts: Iterable[bytes]) -> list[Token]:
    """Those of expanded texts that are strings."""
    return [Token("string", 0, 0, it) for it in texts if it.startswith(b'"')]


def text_of_strings(template: Iterable[Token]) -> str:
    """What the strings of a template say."""
    return decode_strings(template).text.decode("latin-1")


def _decoded(template: Sequence[Token]) -> tuple[Instruction, ...]:
    decoded = decode_strings(template)
    found: list[Instruction] = []
    for part in instructions(decoded.text):
        start, _ = decoded.span(part.start, part.start)
        end = decoded.span(max(part.end - 1, part.start), part.end)[1]
        found.append(Instruction(part.mnemonic, part.operands, start, end, part.label))
    return tuple(found)
