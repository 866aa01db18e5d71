"""What the rest of the project says of the names that a handler mentions."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from porter.context_switch.assemble import assembled
from porter.context_switch.c_flow import CUnits
from porter.context_switch.compiled_prototypes import CompiledPrototypes
from porter.context_switch.initial_data import InitialData
from porter.context_switch.private_registers import PrivateRegisters
from porter.context_switch.resumers import Resumers
from porter.context_switch.volatile_types import VolatileTypes
from porter.project.compile_options import CompileOptions
from porter.project.linker_symbols import LinkerAlias, LinkerSymbol


class ProjectData:
    """`initial` is what variables hold at the beginning, `units` the C files, `volatiles` and
    `prototypes` what the compiler says of types and functions, `private` what assembler functions
    do with registers, `resumers` what else goes on with tasks. `linked`: numbers from
    linker scripts, `aliases` other names."""

    def __init__(
        self,
        files: Iterable[Path],
        options: CompileOptions,
        linked: Iterable[LinkerSymbol] = (),
        aliases: Iterable[LinkerAlias] = (),
    ) -> None:
        files = list(files)
        objects = cache(lambda file: assembled(file, options))
        self.initial = InitialData(files, objects, linked, aliases)
        self.units = CUnits(files, options)
        self.volatiles = VolatileTypes(files, options)
        self.prototypes = CompiledPrototypes(files)
        self.private = PrivateRegisters(files, objects)
        self.resumers = Resumers(files, options)
