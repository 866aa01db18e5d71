"""How the project compiles its files, as far as the porter's own compiler runs need it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class CompileOptions:
    """`defines` without -D, `cpu_flags` as the compiler takes them, `compiler` its command,
    `optimize` the option that says how far it optimises, "" if nobody knows; `plain_asm`: whether
    assembler files of suffix .s get past the preprocessor, None if nobody knows."""

    include_dirs: tuple[Path, ...]
    defines: tuple[str, ...]
    cpu_flags: tuple[str, ...]
    compiler: str
    optimize: str = ""
    plain_asm: bool | None = None

    @property
    def language(self) -> tuple[str, ...]:
        """Options that change what the code means, each once: not the processor, not -O."""
        return tuple(dict.fromkeys(flag for flag in self.cpu_flags if flag.startswith("-f")))
