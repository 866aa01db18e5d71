"""A site: one place in the text that must end as rewritten, left or escalated."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class SiteKind(Enum):
    """What gave the site away."""

    INTRINSIC = "intrinsic"  # a name that CMSIS or a compiler defines
    ASM = "asm"  # an instruction in an asm statement or an assembler file
    REGISTER = "register"  # an access to the system space or to a block nobody owns
    CALL = "call"  # a function of a library that isn't in the tree
    ATTRIBUTE = "attribute"  # what makes another kind of function: an interrupt handler, one in RAM
    TYPE = "type"  # a type of <stdint.h> that the project declares in its own way
    VECTOR = "vector"  # an exception handler that the project defines
    FILE = "file"  # nobody knows what is in it


@dataclass(frozen=True)
class Site:
    """[start, end) in the file; `where` names the function or macro; `what` is for people."""

    file: str
    start: int
    end: int
    kind: SiteKind
    what: str
    where: str = ""
    conditions: tuple[str, ...] = ()
