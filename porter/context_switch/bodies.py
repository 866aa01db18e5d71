"""What a project has of a function, by the name that the linker knows it by."""

from __future__ import annotations

from dataclasses import dataclass

from porter.context_switch.cplusplus import CplusplusText
from porter.source.c_tree import Node


@dataclass(frozen=True)
class Body:
    """`definitions`: in C, several where files have one each; `assembler`: its text and its
    instructions, of assembler files and of asm outside of functions; `is_alias`: whether it is
    another name of a function; `cplusplus`: the C++ that has the name where nothing else defines
    it, or only weakly."""

    definitions: tuple[Node, ...]
    assembler: bytes
    is_alias: bool
    cplusplus: CplusplusText | None

    @property
    def is_in_c_alone(self) -> bool:
        """Whether C defines it, and nothing else may be meant by its name."""
        elsewhere = self.assembler or self.is_alias or self.cplusplus is not None
        return bool(self.definitions) and not elsewhere

    @property
    def is_in_assembler_alone(self) -> bool:
        """Whether assembler defines it, and nothing else may be meant by its name."""
        elsewhere = self.definitions or self.is_alias or self.cplusplus is not None
        return bool(self.assembler) and not elsewhere
