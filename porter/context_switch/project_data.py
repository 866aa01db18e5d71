"""What the rest of the project says of the names that a handler mentions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from porter.context_switch.argument_words import CArgumentWords
from porter.context_switch.assemble import alike, assembled
from porter.context_switch.c_flow import CUnits
from porter.context_switch.calculated_calls import CalculatedCalls, WholeFunctions
from porter.context_switch.callees import Callees
from porter.context_switch.calls_made import CallsMade
from porter.context_switch.compiled_prototypes import CompiledPrototypes
from porter.context_switch.default_handlers import is_default_handler
from porter.context_switch.initial_data import InitialData
from porter.context_switch.kept_registers import KeptRegisters
from porter.context_switch.lost_writes import LostWrites
from porter.context_switch.other_names import OtherNames
from porter.context_switch.parts import Parts
from porter.context_switch.private_registers import PrivateRegisters
from porter.context_switch.resumers import Resumers
from porter.context_switch.services import Services
from porter.context_switch.set_later import SetLater
from porter.context_switch.taken_addresses import TakenAddresses
from porter.context_switch.unread import Unread
from porter.context_switch.volatile_types import VolatileTypes
from porter.project.compile_options import CompileOptions
from porter.project.linker_symbols import LinkerAlias, LinkerSymbol
from porter.project.section_addresses import PlacedSection
from porter.project.unread_inputs import NO_INPUTS, UnreadInputs
from porter.project.vectors import SVC, Vectors
from porter.source.comments import without_comments
from porter.source.source_file import HEADER_SUFFIXES


class ProjectData:
    """`initial` is what variables hold at the beginning, `set_later` what C sets them to, `units`
    the C files, `volatiles` and `prototypes` what the compiler says of types and functions,
    `private` what assembler functions do with registers, `resumers` what else goes on with tasks,
    `callees` what a call may come to, `kept` what callees do with registers that calls keep,
    `whole` whether they come to the middle of functions, `lost_writes` what they read that a port
    doesn't write, `parts` functions that only handlers come to, `services` what supervisor calls
    name. `linked`: numbers from linker scripts, `aliases` other names, `inputs`
    what is linked beside the files, `placed` where sections lie."""

    def __init__(
        self,
        files: Iterable[Path],
        options: CompileOptions,
        units: CUnits,
        linked: Iterable[LinkerSymbol] = (),
        aliases: Iterable[LinkerAlias] = (),
        vectors: Vectors | None = None,
        inputs: UnreadInputs = NO_INPUTS,
        placed: Iterable[PlacedSection] = (),
    ) -> None:
        files = list(files)
        aliases, linked = list(aliases), list(linked)
        self._files = files
        self._in_scripts = {it.name for it in linked} | {it.name for it in aliases}
        self._renamed = {it.of for it in aliases}
        self._text = cache(lambda file: without_comments(file.read_bytes()))
        objects = cache(lambda file: alike(assembled(file, it) for it in options.readings(file)))
        self.units, self._vectors = units, vectors or Vectors()
        self.initial = InitialData(files, objects, self._text, linked, aliases, placed)
        self.set_later = SetLater(self.units)
        self.volatiles = VolatileTypes(files, options)
        self.prototypes = CompiledPrototypes(files)
        self.resumers = Resumers(files, options, self.units, aliases, inputs)
        self.services = Services(files, self.units)
        others = OtherNames(self.units, aliases)
        made = CallsMade(self.resumers, self.units, others, self.services, inputs)
        taken = TakenAddresses(self.resumers, self.units, self._vectors, made)
        self.callees = Callees(made, taken.taking)
        self.parts = Parts(made, lambda: taken.taking(None), self.units, self._named_otherwise)
        words = CArgumentWords(self.units, lambda: taken.taking(None)).of
        self.private = PrivateRegisters(files, objects, words)
        self.kept = KeptRegisters(
            self.resumers, self.callees, self.parts, Unread(self.units), words
        )
        self.whole = WholeFunctions(
            self.callees, CalculatedCalls(self.units), lambda: taken.calculated
        )
        self.lost_writes = LostWrites(self.resumers, self.callees, self.units)

    def serves_calls_alone(self, names: Iterable[str]) -> bool:
        """Whether a function serves supervisor calls and nothing else."""
        return self._vectors.served_by(names) == {SVC}

    def is_default_handler(self, names: Iterable[str]) -> bool:
        """Whether a function serves only exceptions that a machine doesn't have."""
        names = list(names)
        is_ones_own = bool(self._vectors.served_by(names))
        return not is_ones_own and is_default_handler(names, self.units, self.resumers)

    def _named_otherwise(self, name: str) -> bool:
        """Whether something may be another name of it, or has it as a string: a linker script, a
        pragma, an assembler's assignment, an alias."""
        word = re.escape(name.encode("latin-1"))
        other = re.compile(
            rb'"\s*%s\s*"|\.(?:set|equ|equiv|eqv|thumb_set|weakref)\s+[\w.$]+\s*,\s*%s\b'
            rb"|\bpragma\s+weak\s+\w+\s*=\s*%s\b|^\s*[\w.$]+\s*(?:=|\bEQU\b)\s*%s\s*$"
            % (word, word, word, word),
            re.IGNORECASE | re.MULTILINE,
        )
        return name in self._in_scripts | self._renamed or any(
            other.search(self._text(file)) is not None for file in self._files
        )

    def sources_have(self, words: re.Pattern[bytes]) -> bool:
        """Whether words occur in a source file, no header."""
        sources = (it for it in self._files if it.suffix.lower() not in HEADER_SUFFIXES)
        return any(words.search(self._text(it)) is not None for it in sources)

    def also_in(self, name: str, source: Path) -> str | None:
        """What else than a file has a name in its text, for whatever."""
        word = re.compile(rb"(?<![\w.$])%s(?![\w.$])" % re.escape(name.encode("latin-1")))
        for file in self._files:
            if file != source and word.search(self._text(file)):
                return file.name
        return "a linker script" if name in self._in_scripts else None
