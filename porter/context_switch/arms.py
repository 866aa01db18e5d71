"""A function whose #if arms mean different things: the C of each, under the same conditions."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from porter.context_switch.assemble import CompileError, assemble
from porter.context_switch.c_function import Writer
from porter.context_switch.handler import Handler, transcribe
from porter.context_switch.names import Names
from porter.context_switch.pick import Pick, Running, running_task
from porter.context_switch.result import ROLE_SWITCH, NotTranscribable
from porter.context_switch.variants import Key, Span, Variant, variants
from porter.project.compile_options import CompileOptions
from porter.project.compiler_facts import predefined

_CORES = ("cortex-m0", "cortex-m3", "cortex-m4", "cortex-m7")


@dataclass(frozen=True)
class Arm:
    """What a function is where these conditions hold, or why it isn't transcribed there."""

    choices: tuple[tuple[Key, int], ...]
    handler: Handler | str


@dataclass(frozen=True)
class Transcribed:
    """A function; `arms` if an #if in it makes a difference."""

    handler: Handler
    arms: tuple[Arm, ...]

    def handlers(self) -> tuple[Handler, ...]:
        """What it is in this build and in every arm."""
        arms = (arm.handler for arm in self.arms)
        return (self.handler, *(handler for handler in arms if isinstance(handler, Handler)))


class Arms:
    """Looks at the functions of one file."""

    def __init__(
        self, source: Path, data: bytes, options: CompileOptions, defines: Callable[[str], bool]
    ) -> None:
        """`defines`: whether a file of the project may define a macro."""
        self._source, self._data, self._options = source, data, options
        self._defines = defines

    def of(self, handler: Handler, spans: Sequence[Span], names: Names) -> tuple[Arm, ...]:
        """All arms of a function whose text is `spans`; none where they make no difference.

        NotTranscribable if a condition isn't understood.
        """
        found = [
            Arm(variant.choices, self._handler(variant, handler, names))
            for variant in variants(self._data, self._source.name, spans, self.known)
        ]
        texts = {_text(arm, names) for arm in found}
        return () if texts <= {_text(Arm((), handler), names)} else tuple(found)

    def _handler(self, variant: Variant, handler: Handler, names: Names) -> Handler | str:
        with tempfile.TemporaryDirectory(prefix="fvmkit-") as folder:
            copy = Path(folder, self._source.name)
            copy.write_bytes(variant.data)
            try:
                assembly = assemble(copy, self._options)
                for function in assembly.object.functions:
                    if handler.symbol in function.names:
                        return transcribe(assembly, function, handler.role, names)
            except CompileError:
                return "can't be assembled with the options of this machine"
            except NotTranscribable as error:
                return str(error)
        return "isn't there"

    def known(self, name: str) -> bool:
        """Whether the compiler or the project may define a name."""
        return self._defines(name) or name in known_to(self._options)


@lru_cache(maxsize=8)
def known_to(options: CompileOptions) -> frozenset[str]:
    """Macros that this compiler, for whatever core, defines, and those of the project's -D."""
    found = {define.partition("=")[0].partition("(")[0] for define in options.defines}
    for core in _CORES:
        for unit in ("-mfloat-abi=soft", "-mfloat-abi=hard"):
            found |= predefined(options.compiler, (f"-mcpu={core}", "-mthumb", unit)).keys()
    return frozenset(found)


def with_pick_of_all(handler: Handler, arms: tuple[Arm, ...], names: Names) -> Handler:
    """The handler without its pick, where another arm has another one."""
    picks = [arm.handler.pick for arm in arms if isinstance(arm.handler, Handler)]
    if not isinstance(handler.pick, Pick):
        return handler
    expected = _pick_key(handler.pick, names)
    if all(isinstance(it, Pick) and _pick_key(it, names) == expected for it in picks):
        return handler
    return replace(handler, pick="its #if arms differ in what lies between save and restore")


def _text(arm: Arm, names: Names) -> str:
    if isinstance(arm.handler, str):
        return arm.handler
    whole = replace(arm.handler, nodes=arm.handler.everything)
    return "\n".join(Writer(names, spaced=False).plain(whole))


def _pick_key(pick: Pick, names: Names) -> tuple[bool, Running | list[str]]:
    """What a yield does by a pick."""
    choice = Handler("", ROLE_SWITCH, pick.nodes, "", 0)
    running = running_task(pick)
    return pick.short, running or Writer(names, spaced=False).plain(choice)
