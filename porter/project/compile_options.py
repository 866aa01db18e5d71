"""How the project compiles its files, as far as the porter's own compiler runs need it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from porter.project.given_options import LANGUAGE


@dataclass(frozen=True)
class CompileOptions:
    """`defines` without -D, `cpu_flags` all others as the compiler takes them and in their order,
    `compiler` its command, `optimize` the option that says how far it optimises, "" if nobody
    knows; `plain_asm`: whether assembler files of suffix .s get past the preprocessor, None if
    nobody knows; `by_file`: where these are all together, each file's own, several of one that is
    compiled several times."""

    include_dirs: tuple[Path, ...]
    defines: tuple[str, ...]
    cpu_flags: tuple[str, ...]
    compiler: str
    optimize: str = ""
    plain_asm: bool | None = None
    by_file: Mapping[Path, tuple[CompileOptions, ...]] = field(
        default_factory=dict, compare=False, repr=False
    )

    @property
    def language(self) -> tuple[str, ...]:
        """Options that change what the code means, each once: not the processor, not -O."""
        return tuple(
            dict.fromkeys(
                flag
                for flag in self.cpu_flags
                if flag.startswith(("-ffixed-", "-fcall-"))
                or (flag.startswith("-f") and flag in LANGUAGE)
            )
        )

    @property
    def arguments(self) -> tuple[str, ...]:
        """What the compiler is told beside folders, macros and files."""
        return (*((self.optimize,) if self.optimize else ()), *self.cpu_flags)

    def of(self, file: Path) -> CompileOptions:
        """A file's own; these for one that nothing compiles by itself, a header."""
        return self.readings(file)[0]

    def readings(self, file: Path) -> tuple[CompileOptions, ...]:
        """The same of each time that a file is compiled."""
        own = self.by_file.get(file, ())
        return tuple(replace(it, by_file=self.by_file) for it in own) or (self,)

    def beside(self, folder: Path) -> CompileOptions:
        """The same for copies elsewhere of files in a folder."""
        return replace(self, include_dirs=(folder, *self.include_dirs))

    def each(self, change: Callable[[CompileOptions], CompileOptions]) -> CompileOptions:
        """The same with a change of all of them, the files' own too."""
        own = {file: tuple(map(change, them)) for file, them in self.by_file.items()}
        return replace(change(self), by_file=own)
