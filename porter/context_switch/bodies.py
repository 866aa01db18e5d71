"""What a project has of a function, by the name that the linker knows it by."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from porter.context_switch.cplusplus import CplusplusText
from porter.source.c_tree import Node


@dataclass(frozen=True)
class Body:
    """`definitions`: in C, several where files have one each; `assembler`: its text and its
    instructions, of assembler files and of asm outside of functions; `is_alias`: whether it is
    another name of a function; `cplusplus`: the C++ that has the name where nothing else defines
    it, or only weakly; `beside`: what is linked, nobody reads, and may define it then."""

    definitions: tuple[Node, ...]
    assembler: bytes
    is_alias: bool
    cplusplus: CplusplusText | None
    beside: Path | None = None

    @property
    def is_elsewhere(self) -> bool:
        """Whether nothing of the project's C or assembler defines it."""
        return not (self.definitions or self.assembler or self.is_alias)

    @property
    def is_in_c_alone(self) -> bool:
        """Whether C defines it, and nothing else may be meant by its name."""
        return bool(self.definitions) and not (self.assembler or self._elsewhere)

    @property
    def is_in_assembler_alone(self) -> bool:
        """Whether assembler defines it, and nothing else may be meant by its name."""
        return bool(self.assembler) and not (self.definitions or self._elsewhere)

    @property
    def _elsewhere(self) -> bool:
        return self.is_alias or self.cplusplus is not None or self.beside is not None
