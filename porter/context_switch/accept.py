"""The first look at a transcription: it must compile, and hold nothing privileged."""

from __future__ import annotations

import re
import tempfile
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from porter.context_switch.armcc import readable
from porter.context_switch.assemble import Assembly, CompileError, assemble, flags, machine_of, run
from porter.context_switch.codes import privileged_in
from porter.context_switch.result import NotTranscribable
from porter.project.compile_options import CompileOptions

_STRICT = (
    "-Werror=int-conversion",
    "-Werror=incompatible-pointer-types",
    "-Werror=implicit-function-declaration",
    "-Werror=return-type",
)
_PLACE = re.compile(r"^[^:]*:\d+:(?:\d+:)?\s*")


def with_runtime(options: CompileOptions) -> CompileOptions:
    """The project's options plus the guest API's headers."""
    runtime = Path(str(files("fvm-runtime")))
    own = runtime / "arch" / machine_of(options).runtime
    include = (runtime / "include", own / "include")
    return replace(options, include_dirs=(*options.include_dirs, *include))


def check(
    source: Path, edited: dict[str, bytes], symbols: list[str], options: CompileOptions
) -> None:
    """Compile the edited files. `edited` is by file name: the source, and headers beside it.

    Raises NotTranscribable with the compiler's complaint or the privileged instruction found.
    """
    with tempfile.TemporaryDirectory(prefix="fvmkit-") as folder:
        for name, data in edited.items():
            Path(folder, name).write_bytes(data)
        copy = Path(folder, source.name)
        told = _strictly(copy, options)
        known = {_PLACE.sub("", it) for it in _strictly(source, options)} if told else set()
        if new := [error for error in told if _PLACE.sub("", error) not in known]:
            raise NotTranscribable(f"the C doesn't compile: {new[0]}")
        try:
            assembly = assemble(copy, options)
        except CompileError as error:
            raise NotTranscribable(f"the C doesn't compile: {error}") from error
    for symbol in symbols:
        _refuse_privileged(assembly, symbol)


def _strictly(source: Path, options: CompileOptions) -> tuple[str, ...]:
    """What a compiler that takes no conversion and no call on trust complains about. Of what the
    project has of that itself its own compiler may have warned; it is no matter of a port's."""
    if not source.is_file():
        return ()
    try:
        with readable(source) as text:
            run([options.compiler, *flags(source, options), *_STRICT, "-fsyntax-only", str(text)])
    except CompileError as error:
        return error.all
    return ()


def _refuse_privileged(assembly: Assembly, symbol: str) -> None:
    if symbol in assembly.naked:
        raise NotTranscribable("stays naked: another declaration or a macro says so")
    for function in assembly.object.functions:
        if function.name != symbol:
            continue
        if left := privileged_in(assembly, function):
            raise NotTranscribable(f"still has {left}")
