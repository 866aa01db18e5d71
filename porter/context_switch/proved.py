"""The proof of each transcribed function of a file: its original's object against the port's."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from porter.context_switch.arms import Arm
from porter.context_switch.assemble import (
    CompileError,
    assemble,
    compile_object,
    knows,
    machine_of,
)
from porter.context_switch.compiled_prototypes import CompiledPrototypes, Prototype
from porter.context_switch.conditional_text import seen
from porter.context_switch.handler import Handler
from porter.context_switch.ir import IDLE, Call, Guest
from porter.context_switch.pick import Pick, own_choice, running_task
from porter.context_switch.proof import (
    LIBRARY,
    YIELDS_OVER,
    Model,
    Proof,
    library_pick,
    mentions,
    prove,
    prove_pick,
)
from porter.context_switch.result import (
    ROLE_OTHER,
    ROLE_PART,
    ROLE_START,
    ROLE_SWITCH,
    TEMPLATES,
    NotTranscribable,
)
from porter.context_switch.services import SERVICE
from porter.context_switch.structure import flatten, only_compared
from porter.context_switch.variants import Span, Variant, variants
from porter.project.compile_options import CompileOptions
from porter.source.source_file import ASM_SUFFIXES

# What the proof takes for a call must be one: of the project's own functions none is inlined, and
# nobody relies on what a callee leaves alone.
_OPTIMISED = (
    "-O2", "-finline", "-fno-inline-small-functions", "-fno-inline-functions",
    "-fno-inline-functions-called-once", "-fno-partial-inlining", "-fno-ipa-ra", "-fno-ipa-cp",
    "-fno-ipa-sra", "-fno-ipa-icf", "-fno-ipa-pure-const", "-fno-ipa-reference",
    # Every callee returns in the proof: behind what says that it doesn't there is code too.
    "-D_Noreturn=", "-Dnoreturn=", "-D__noreturn__=",
)  # fmt: skip
_NEWER = ("-fno-ipa-modref",)  # compilers before GCC 11 don't know it, nor need it


_PLACE = re.compile(r"'(\w[^']*)' at \+(0x[0-9a-f]+)")
_ONE_WAY = "always goes one way"


class Refused(NotTranscribable):
    """The transcription of one function, `symbol`, isn't accepted."""

    def __init__(self, symbol: str, reason: str) -> None:
        super().__init__(reason)
        self.symbol = symbol


class NoYield(Refused):
    """The handler may be right: that a yield can do without it isn't proved."""

    def without(self, handler: Handler) -> Handler:
        """The handler, without that yield if it is its own."""
        return replace(handler, pick=str(self)) if handler.symbol == self.symbol else handler


@dataclass(frozen=True)
class Claim:
    """A function that begins at `start` of the original; `spans` are the parts of the text that say
    what it does, `text` is what the port has instead. `whole`: it stands for every choice of #if
    arms, not only for this build's."""

    handler: Handler
    arms: tuple[Arm, ...]
    start: int
    spans: tuple[Span, ...]
    text: bytes
    whole: bool = True


def port_object(source: Path, edited: dict[str, bytes], options: CompileOptions) -> bytes:
    """The edited files, by name, as an object of the one called like `source`; optimised as a
    project would."""
    with tempfile.TemporaryDirectory(prefix="fvmkit-") as folder:
        for name, data in edited.items():
            Path(folder, name).write_bytes(data)
        switches = (*_OPTIMISED, *(it for it in _NEWER if knows(options.compiler, it)))
        return compile_object(Path(folder, source.name), options, *switches)


class Prover:
    """Proves the functions of one file. `source` and `data` are the original, `port` the name of
    the file that holds the C among the `edited` ones, `known` the names that conditions may ask
    for, as when the arms were transcribed."""

    def __init__(
        self,
        source: Path,
        data: bytes,
        port: Path,
        edited: dict[str, bytes],
        options: CompileOptions,
        prototypes: CompiledPrototypes,
        known: Callable[[str], bool],
    ) -> None:
        self._prototypes, self._known = prototypes, known
        self._source, self._data = source, data
        self._port, self._edited = port, edited
        self._options = options
        self._command = (options.compiler, *options.cpu_flags)

    def proofs(self, claims: Sequence[Claim]) -> dict[str, Proof]:
        """By symbol. Raises Refused for the first function without proof, NoYield where only its
        fast yield has none."""
        recipes = [claim.handler.recipe for claim in claims]
        extra = frozenset(recipe.needs for recipe in recipes if recipe is not None)
        ported = port_object(self._port, self._edited, self._options)
        found: dict[str, Proof] = {}
        for claim in claims:
            symbol = claim.handler.symbol
            try:
                found[symbol] = self._proof(claim, ported, extra)
            except NoYield:
                raise
            except (NotTranscribable, CompileError) as reason:
                template = machine_of(self._options).template
                why = _as_written(str(reason), claim.handler, template)
                raise Refused(symbol, f"transcribed, but {why}") from reason
        return found

    def _proof(self, claim: Claim, ported: bytes, extra: frozenset[str]) -> Proof:
        """That of the project's own configuration; every other choice of #if arms is proved too."""
        original = self._original(self._source.read_bytes())  # as its own assembler reads it
        handler = claim.handler
        model = _model(handler, extra)
        self._check_prototypes(handler, model)
        if claim.whole and not claim.arms:
            for other in self._configurations(claim):
                prove(other, ported, handler.symbol, model, self._command)
        for arm, before, after in self._arms(claim):
            prove(before, after, arm.symbol, _model(arm, extra), self._command)
        proof = prove(original, ported, handler.symbol, model, self._command)
        return replace(proof, yields=self._yields(handler, original, ported, model))

    def _check_prototypes(self, handler: Handler, model: Model) -> None:
        """What is called, and what C calls, takes and returns what the transcriber read."""
        for name, words in model.arguments:
            compiled = self._prototypes.of(name, self._source, self._options)
            if compiled is not None and (compiled.problem or compiled.words != words):
                raise NotTranscribable(
                    f"{name}() is called with {words} words, as its declaration reads, and as "
                    f"compiled it {compiled}: let all its declarations say the same"
                )
        if handler.role not in (ROLE_OTHER, ROLE_PART, ROLE_START):
            return
        compiled = self._prototypes.of(handler.symbol, self._source, self._options)
        own = Prototype(len(handler.signature.parameters), handler.signature.returns)
        if compiled is not None and compiled != own:
            raise NotTranscribable(
                f"it {own}, as its declaration reads, and as compiled it {compiled}: let all its "
                "declarations say the same"
            )

    def _original(self, data: bytes) -> bytes:
        with tempfile.TemporaryDirectory(prefix="fvmkit-") as folder:
            copy = Path(folder, self._source.name)
            copy.write_bytes(data)
            if self._source.suffix.lower() in ASM_SUFFIXES:
                return assemble(copy, self._options.of(self._source)).object.raw
            return compile_object(copy, self._options)

    def _configurations(self, claim: Claim) -> Iterator[bytes]:
        """Objects of the original for choices of arms that came out as the same C."""
        for variant in self._variants(claim):
            try:
                yield self._original(variant.data)
            except CompileError:
                continue  # an #error, or an instruction that this machine doesn't have

    def _variants(self, claim: Claim) -> list[Variant]:
        return variants(self._data, "", claim.spans, self._known)

    def _arms(self, claim: Claim) -> Iterator[tuple[Handler, bytes, bytes]]:
        """Objects of both for choices of arms that came out differently."""
        if not claim.arms:
            return
        before = {variant.choices: variant for variant in self._variants(claim)}
        text = self._edited[self._port.name]
        for arm in claim.arms:
            if not isinstance(arm.handler, Handler):
                continue  # #error stands there
            lines = claim.text.decode("latin-1").splitlines()
            here = "\n".join(seen([_bare(line) for line in lines], dict(arm.choices)))
            edited = text.replace(claim.text, here.encode("latin-1"), 1)
            ported = port_object(
                self._port, {**self._edited, self._port.name: edited}, self._options
            )
            yield arm.handler, self._original(before[arm.choices].data), ported

    def _yields(self, handler: Handler, original: bytes, ported: bytes, model: Model) -> int:
        """How many cooperative yields were compared; 0 where the port registers none of this."""
        if not isinstance(handler.pick, Pick):
            return 0
        running = running_task(handler.pick)
        own = own_choice(handler.symbol)
        text = self._edited[self._port.name]
        if own.choose.encode() in text:
            library = library_pick(own.variable, own.choose, own.is_stack, own=True)
            edited = {**self._edited, self._port.name: text + b"\n" + library.encode()}
            pick = port_object(self._port, edited, self._options)
        elif running is not None and any(mentions(ported, it) for it in YIELDS_OVER):
            with tempfile.TemporaryDirectory(prefix="fvmkit-") as folder:
                source = Path(folder, "pick.c")
                source.write_text(library_pick(running.variable, running.choose, running.is_stack))
                pick = compile_object(source, self._options, "-O2")
        else:
            return 0
        symbols, short = (handler.symbol, LIBRARY), handler.pick.short
        try:
            return prove_pick(original, pick, symbols, model, short, self._command, (own.variable,))
        except NotTranscribable as reason:
            raise NoYield(handler.symbol, f"not proved, {reason}") from reason


def _as_written(reason: str, handler: Handler, template: str) -> str:
    """The reason with an instruction's own text in place of what it is behind the linker."""
    match = _PLACE.search(reason)
    text = dict(handler.texts).get(int(match[2], 16)) if match else None
    if match is None or text is None or text[:1].lower() != match[1][:1]:  # of another #if arm
        return reason
    told = f"{reason[: match.start()]}'{text}'{reason[match.end() :]}"
    if not told.endswith(_ONE_WAY):
        return told
    shows = f"; {TEMPLATES}/{template} shows what to write instead"
    return (
        f"{told}: no state from which the proof begins leads the other way, so what stands there "
        "can't be proved; a guest may get there all the same. Let C that the handler calls decide, "
        f"or take out what never runs{shows if handler.role == ROLE_SWITCH else ''}"
    )


def _bare(line: str) -> str:
    """A directive without its indentation."""
    return line.strip() if line.lstrip().startswith("#") else line


def _model(handler: Handler, extra: frozenset[str]) -> Model:
    nodes = handler.everything
    calls = [node for node in flatten(nodes) if isinstance(node, Call)]
    arguments = {call.function: len(call.arguments) for call in calls}
    first = handler.first
    ending = frozenset(call.function for call in calls if call.never_returns)
    moving = frozenset(call.function for call in calls if call.moves_stack)
    return Model(
        handler.role,
        tuple(arguments.items()),
        extra - set(arguments),
        handler.signature.returns,
        first is not None,
        frozenset(name for name, _ in first.variables) if first is not None else frozenset(),
        moving,
        only_compared(nodes),
        ending,
        any(isinstance(node, Guest) and node.function == IDLE for node in flatten(nodes)),
        frozenset(call.function for call in calls if call.asks_stack),
        SERVICE in arguments and any("msp" in text.lower() for _, text in handler.texts),
    )
