"""C sources of Arm's compiler 5, which Keil's MDK shipped, as GNU's compiler reads them.

An assembler function, `__asm void PendSV_Handler(void) { MRS r0, psp ... }`, becomes a naked one
with an asm statement a line; every line stays where it is. The preprocessor works on such a body as
it does on C, so each line becomes a string only behind it. An assembler block within a function,
`__asm { msr basepri, r }`, becomes an empty statement: it names variables of C, and a function that
isn't assembler as a whole is none that is transcribed.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from porter.context_switch.dialect import gnu_text
from porter.context_switch.literals import value_of
from porter.context_switch.own_conditions import body_in_c
from porter.context_switch.place import Place
from porter.context_switch.result import NotTranscribable
from porter.project.compile_options import CompileOptions
from porter.source.c_lexer import lex
from porter.source.comments import blank
from porter.source.inline_asm import AsmStatement, find_asm

_WORDS = (b"__asm", b"__ASM")
_MAYBE = re.compile(rb"\b__(?:asm|ASM)\s*(?:\{|[A-Za-z_])")
_PROTOTYPE = re.compile(rb"\b__(?:asm|ASM)(?=\s+[A-Za-z_][\w\s*]*\([^(){};]*\)\s*;)")
_OF_C = re.compile(rb"__cpp\s*\(((?:[^()]|\([^()]*\))*)\)")
_NAME = re.compile(r"\s*&?\s*(\w+)\s*")
_TEXT = ("fvm_text(...)=fvm_text_(__VA_ARGS__)", "fvm_text_(...)=#__VA_ARGS__")
# Keywords and intrinsics that GNU's compiler doesn't have; barriers are the machine's business.
_KEYWORDS = (
    "__forceinline=inline __attribute__((always_inline))",
    "__weak=__attribute__((weak))",
    "__align(n)=__attribute__((aligned(n)))",
    "__packed=__attribute__((packed))",
    *(f"{word}=" for word in ("__irq", "__pure", "__value_in_regs", "__softfp", "__smc(n)")),
    "__int64=long long",
    "__clz(x)=((x) == 0 ? 32 : __builtin_clz(x))",
    *(f"{name}(x)=((void)(x))" for name in ("__dsb", "__isb", "__dmb", "__breakpoint")),
)  # fmt: skip
# Intrinsics whose names CMSIS gives to functions of its own.
_ALSO_OF_CMSIS = ("__disable_irq", "__enable_irq", "__disable_fiq", "__enable_fiq", "__nop",
                  "__wfi", "__wfe", "__sev", "__schedule_barrier")  # fmt: skip
_DECLARED = re.compile(rf"\b({'|'.join(_ALSO_OF_CMSIS)})\s*\(\s*void\s*\)".encode())
_HAS_FPU = "__TARGET_FPU_VFP=1"
_UNIFIED = ("-masm-syntax-unified", "-Wa,-mimplicit-it=thumb")


@lru_cache(maxsize=256)  # asked each time that a file is compiled, with whatever options
def is_armcc(data: bytes) -> bool:
    """Whether C text has assembler functions or blocks of this compiler."""
    return _MAYBE.search(data) is not None and any(map(_is_own, _statements(data)))


def gnu_source(data: bytes, file: str) -> bytes:
    """The text of a file for GNU's compiler, with as many lines. NotTranscribable for conditions of
    the assembler's own that aren't understood."""
    data = with_conditions(data)
    edited = bytearray(_PROTOTYPE.sub(lambda match: blank(match.group()), data))
    for statement in reversed([own for own in _statements(data) if _is_own(own)]):
        text = data[statement.start : statement.end]
        place = Place(file).behind(data.count(b"\n", 0, statement.start))
        edited[statement.start : statement.end] = (
            _function(text, place) if statement.form == "function" else b";" + blank(text[1:])
        )
    return bytes(edited)


def with_conditions(data: bytes) -> bytes:
    """The text with as many lines, conditions of the assembler in its functions as C has them where
    they are understood."""
    if not is_armcc(data):
        return data
    edited = bytearray(data)
    for statement in reversed([own for own in _statements(data) if own.form == "function"]):
        head, brace, body = data[statement.start : statement.end].partition(b"{")
        edited[statement.start : statement.end] = head + brace + body_in_c(body)
    return bytes(edited)


@contextmanager
def readable(source: Path) -> Iterator[Path]:
    """The file, or a copy that GNU's compiler understands."""
    data = source.read_bytes()
    if not is_armcc(data):
        yield source
        return
    with tempfile.TemporaryDirectory(prefix="fvmkit-") as folder:
        copy = Path(folder, source.name)
        copy.write_bytes(gnu_source(data, source.name))
        yield copy


@contextmanager
def suited(
    source: Path, headers: Iterable[Path], options: CompileOptions
) -> Iterator[CompileOptions]:
    """Options under which the file compiles: where it is of this compiler, its headers are read
    from copies, and the words that only it knows are macros."""
    if not is_armcc(source.read_bytes()):
        yield options
        return
    with tempfile.TemporaryDirectory(prefix="fvmkit-") as folder:
        declared: set[bytes] = set()
        for header in headers:
            words, text = _header(header, header.stat().st_mtime_ns)
            declared |= words
            if text is not None:
                _copy(header, text, (source.parent, *options.include_dirs), folder)
        missing = tuple(
            f"{name}()=((void)0)" for name in _ALSO_OF_CMSIS if name.encode() not in declared
        )
        fpu = any(flag.startswith("-mfpu=") for flag in options.cpu_flags)
        machine = (_HAS_FPU,) if fpu and "-mfloat-abi=soft" not in options.cpu_flags else ()
        yield replace(
            options,
            defines=(*options.defines, *_TEXT, *_KEYWORDS, *missing, *machine),
            cpu_flags=(*options.cpu_flags, *_UNIFIED, f"-iquote{folder}", f"-I{folder}"),
        )


@lru_cache(maxsize=1 << 13)
def _header(header: Path, _changed: int) -> tuple[frozenset[bytes], bytes | None]:
    """Which of the intrinsics a header declares, and its text for GNU's compiler where it is of
    this one. Every such source reads all of them."""
    data = header.read_bytes()
    text = _source_or_error(data, header.name) if is_armcc(data) else None
    return frozenset(_DECLARED.findall(data)), text


def _source_or_error(data: bytes, header: str) -> bytes:
    """A header's text; of one that isn't understood a text that says so where it is included."""
    try:
        return gnu_source(data, header)
    except NotTranscribable as error:
        return f"#error {error}\n".encode()


def _copy(header: Path, text: bytes, include_dirs: Iterable[Path], folder: str) -> None:
    """Under each name by which it can be included."""
    for place in include_dirs:
        if header.is_relative_to(place):
            copy = Path(folder, header.relative_to(place))
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(text)


def _statements(data: bytes) -> Iterator[AsmStatement]:
    return find_asm(lex(data).tokens, data, lambda word: word in _WORDS)


def _is_own(statement: AsmStatement) -> bool:
    return statement.form != "gnu"


def _function(text: bytes, place: Place) -> bytes:
    """From the keyword to the closing brace."""
    head, _, rest = text.partition(b"{")
    body = _OF_C.sub(_of_c, rest[: rest.rindex(b"}")])
    # What stands behind the brace isn't at the margin, where the assembler has its labels.
    place = place.behind(head.count(b"\n"))
    lines = gnu_text(b" " + body, place, conditions=False).decode("latin-1").split("\n")
    asm = "\n".join(
        line if not line.strip() or line.lstrip().startswith("#") else _statement(line)
        for line in lines
    )
    return b"__attribute__((naked))" + head[len(_WORDS[0]) :] + b"{" + asm.encode("latin-1") + b"}"


def _of_c(match: re.Match[bytes]) -> bytes:
    """What `__cpp(...)` is for the assembler: a number, or a name."""
    text = match[1].decode("latin-1")
    if (value := value_of(text)) is not None:
        return str(value).encode()
    name = _NAME.fullmatch(text)
    return match.group() if name is None else name[1].encode("latin-1")


def _statement(line: str) -> str:
    return f"__asm volatile(fvm_text({line.strip()}));"
