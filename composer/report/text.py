"""Text that somebody else chose, and C source in colours."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pygments.lexers.c_cpp import CLexer
from pygments.token import Comment, Keyword, Literal, Name, String, _TokenType

LINE_LETTERS = 400  # the rest of a longer line is cut: no source that people wrote has it
COLOURED_LETTERS = 400_000  # of one piece of source; more is shown without colours

# Class of the page's style sheet by kind of token; the first that fits.
_CLASSES = (
    (Comment.Preproc, "cp"),
    (Comment.PreprocFile, "cs"),
    (Comment, "cc"),
    (Keyword.Type, "ct"),
    (Keyword, "ck"),
    (String, "cs"),
    (Literal, "cn"),
    (Name.Function, "cf"),
)


@dataclass(frozen=True)
class Piece:
    """A stretch of a line in one colour; "" is the colour of plain text."""

    css: str
    text: str


CodeLine = tuple[Piece, ...]


def printable(text: str) -> str:
    """Without what is invisible or reorders letters: a reviewer must see what is there."""
    hidden = "\N{REPLACEMENT CHARACTER}"
    return "".join(c if c.isprintable() or c == "\t" else hidden for c in text)


def decoded(data: bytes) -> list[str]:
    """Lines of a source file, whatever its encoding, safe to show."""
    lines = data.decode("utf-8", "replace").split("\n")
    return [shortened(printable(line.removesuffix("\r"))) for line in lines]


def shortened(line: str) -> str:
    """A line that ends with an ellipsis where it was cut."""
    return line if len(line) <= LINE_LETTERS else line[: LINE_LETTERS - 1] + "…"


def coloured(lines: list[str]) -> list[CodeLine]:
    """One code line for each line. Broken C is coloured as far as the lexer gets."""
    if sum(map(len, lines)) > COLOURED_LETTERS:
        return [(Piece("", line),) for line in lines]
    result: list[list[Piece]] = [[]]
    lexer = CLexer(stripnl=False, ensurenl=False)
    for kind, text in lexer.get_tokens("\n".join(lines)):
        css = _class(kind)
        first, *rest = text.split("\n")
        if first:
            result[-1].append(Piece(css, first))
        result += [[Piece(css, part)] if part else [] for part in rest]
    result += [[] for _ in range(len(lines) - len(result))]
    return [tuple(_joined(line)) for line in result[: len(lines)]]


def _class(kind: _TokenType) -> str:
    return next((css for parent, css in _CLASSES if kind in parent), "")


def _joined(pieces: list[Piece]) -> list[Piece]:
    """Neighbours of one colour as one."""
    joined: list[Piece] = []
    for piece in pieces:
        if joined and joined[-1].css == piece.css:
            joined[-1] = Piece(piece.css, joined[-1].text + piece.text)
        else:
            joined.append(piece)
    return joined


def function_lines(lines: list[str], name: str) -> range | None:
    """Indices of the lines on which a C function is defined, if it is."""
    head = re.compile(rf"[A-Za-z_].*\b{re.escape(name)}\s*\(")
    shown = coloured(lines)
    for first, line in enumerate(lines):
        if not head.match(line) or line.rstrip().endswith(";"):
            continue
        depth, opened = 0, False
        for last in range(first, len(lines)):
            code = "".join(p.text for p in shown[last] if p.css not in ("cc", "cs", "cp"))
            depth += code.count("{") - code.count("}")
            opened = opened or "{" in code
            if opened and depth <= 0:
                return range(first, last + 1)
            if not opened and ";" in code:
                break
    return None
