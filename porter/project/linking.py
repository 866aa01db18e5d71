"""What a build links: the program, of which files, the linker scripts that place it, and what the
linker's options make of names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from porter.project.changed_objects import changed_objects, renamed_symbols
from porter.project.compiler_command import compiles, is_for_target
from porter.project.given_options import absolute, words_of
from porter.project.linker_symbols import script_number
from porter.project.script_inputs import script_inputs

_LINKER = re.compile(
    r"(?:.*-)?(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+|armclang|ld|ld\.bfd|ld\.lld)(?:-[\d.]+)?(?:\.exe)?"
)
_ARCHIVER = re.compile(r"(?:.*-)?(?:ar|gcc-ar|armar)(?:\.exe)?")
_NO_LINKING = frozenset({"-c", "-S", "-E", "-M", "-MM", "-r"})
_SCRIPT = re.compile(r"(?:-T(?!text|data|bss|rodata|ldata)|--script=|--default-script=|-dT)(.*)")
"""An option with a script in it or behind it; others with -T give the address of a section."""
_RENAMING = re.compile(r"--?(wrap|defsym)(?:=(.*))?", re.DOTALL)
_ROOT = re.compile(r"(?:-[eu]|--?(?:entry|undefined|require-defined|init|fini)(?:=|\Z))(.*)")
"""Options that name what the program is to have; -e may be a longer word's beginning."""
_NO_ROOT = re.compile(r"-(?:emit.*|export.*|undef|unresolved-symbols.*|unique.*)")
_KEEPS_ALL = frozenset({"--gc-keep-exported", "--export-dynamic", "-export-dynamic", "-rdynamic"})
_LISTED = re.compile(r"(?:--just-symbols=|-R)(.*)")
_WITH_VALUE = frozenset(
    {"-z", "-m", "-h", "-soname", "-Map", "-G", "-b", "--format", "-A", "-Y", "-I", "-D", "-U",
     "-include", "-imacros", "-isystem", "-iquote", "-idirafter", "-x", "-MF", "-MT", "-MQ",
     "--param", "-B", "-specs", "-aux-info", "-dumpbase", "-Ttext", "-Tdata", "-Tbss",
     "--section-start", "-F", "-f", "-plugin", "-plugin-opt"}
)  # fmt: skip
_SECTION = re.compile(r"--?section-start(?:=(.*))?", re.DOTALL)
_NAME = re.compile(r"(?<![\w.$])[A-Za-z_.$][\w.$]*")
_ARCHIVE = (".a", ".lib")


@dataclass(frozen=True)
class Linking:
    """A call that links `program`; paths are absolute. `renamed`: names that its options give
    another meaning, with what they mean (`--wrap=f`, `--defsym=f=g`); `kept`: names that they ask
    for (`-e f`, `-u f`); `inputs`: objects, archives and the rest that it is given; `libraries`:
    the files of `-l` that none of its folders has; `keeps_all`: what is exported stays; `numbers`:
    names that they make numbers (`--defsym=f=0x40004400`), `sections` those where they say that a
    section begins."""

    program: Path
    scripts: tuple[Path, ...]
    renamed: tuple[tuple[str, str], ...] = ()
    kept: tuple[str, ...] = ()
    inputs: tuple[Path, ...] = ()
    libraries: tuple[str, ...] = ()
    keeps_all: bool = False
    numbers: tuple[tuple[str, int], ...] = ()
    sections: tuple[tuple[str, int], ...] = ()


def makes_library_alone(calls: Iterable[tuple[list[str], Path]]) -> bool:
    """Whether commands make archives and link nothing: the programs are made elsewhere."""
    commands = [words for words, _ in calls]
    archives = any(_ARCHIVER.fullmatch(Path(words[0]).name) for words in commands if words)
    return archives and all(_linker_at(words) is None for words in commands)


def linkings(calls: Sequence[tuple[list[str], Path]]) -> list[Linking]:
    """Those among a build's commands, of whose inputs those are left that no other command makes of
    sources, with what commands on the way make of names."""
    found = [it for it in (parse_linking(*call) for call in calls) if it is not None]
    made = _made_by(calls)
    renamed: dict[tuple[str, str], None] = {}
    for words, folder in calls:
        renamed |= dict.fromkeys(renamed_symbols(words, folder))
        for changed in changed_objects(words, folder):
            made.pop(changed, None)
        if _links_partly(list(_options(words, folder))):
            whole = parse_linking([it for it in words if it != "-r"], folder)
            renamed |= dict.fromkeys(whole.renamed if whole is not None else ())
    return [replace(_without_made(it, made), renamed=(*it.renamed, *renamed)) for it in found]


def parse_linking(words: Sequence[str], folder: Path) -> Linking | None:
    """The linker call in a command line, by GCC or by ld itself; None if it is another command."""
    start = _linker_at(words)
    if start is None:
        return None
    program: Path | None = None
    scripts: list[Path] = []
    renamed: list[tuple[str, str]] = []
    kept: list[str] = []
    inputs: list[Path] = []
    folders: list[Path] = []
    named: list[str] = []
    keeps_all = False
    numbers: list[tuple[str, int]] = []
    sections: list[tuple[str, int]] = []
    rest = iter(_options(words[start + 1 :], folder))
    for word in rest:
        if word == "-o":
            program = absolute(next(rest, ""), folder)
        elif (script := _SCRIPT.fullmatch(word)) is not None:
            scripts.append(absolute(script.group(1) or next(rest, ""), folder))
        elif (option := _RENAMING.fullmatch(word)) is not None:
            value = option.group(2) or next(rest, "")
            renamed += _renamed(option.group(1), value)
            numbers += _number(value)
        elif (option := _SECTION.fullmatch(word)) is not None:
            sections += _number(option.group(1) or next(rest, ""), "0x")
        elif word in _KEEPS_ALL:
            keeps_all = True
        elif word.startswith("-L"):
            folders.append(absolute(word[2:] or next(rest, "."), folder))
        elif word.startswith("-l"):
            named.append(word[2:] or next(rest, ""))
        elif word in _WITH_VALUE:
            next(rest, None)
        elif (listed := _LISTED.fullmatch(word)) is not None:
            inputs.append(absolute(listed.group(1) or next(rest, ""), folder))
        elif (root := _ROOT.fullmatch(word)) is not None and not _NO_ROOT.fullmatch(word):
            kept += _NAME.findall(root.group(1) or next(rest, ""))
        elif not word.startswith(("-", "@")) and not compiles(word):
            inputs.append(absolute(word, folder))
    is_ours = bool(scripts or renamed or kept or numbers or sections) or is_for_target(
        words[start], words
    )
    if program is None or not is_ours:
        return None
    for brought in script_inputs(scripts, (folder, *folders)):
        if brought.startswith("-l"):
            named.append(brought[2:])
        elif (place := _first_with(brought, (folder, *folders))) is not None:
            inputs.append(place)
        elif brought.startswith("lib") and brought.endswith(".a"):
            named.append(f":{brought}")
        else:
            inputs.append(absolute(brought, folder))
    libraries: dict[str, None] = {}
    for name in named:
        file = name[1:] if name.startswith(":") else f"lib{name}.a"
        place = _first_with(file, folders)
        inputs += [place] if place is not None else []
        libraries |= {} if place is not None else {file: None}
    return Linking(
        program, tuple(scripts), tuple(renamed), tuple(kept), tuple(dict.fromkeys(inputs)),
        tuple(libraries), keeps_all, tuple(numbers), tuple(sections),
    )  # fmt: skip


def _first_with(file: str, folders: Iterable[Path]) -> Path | None:
    places = (absolute(file, it) for it in folders)
    return next((it for it in places if it.is_file()), None)


def _number(value: str, prefix: str = "") -> Iterator[tuple[str, int]]:
    """A name that is set to one; `prefix`: of what has no base of its own."""
    name, _, expression = value.partition("=")
    if not expression.lower().startswith(prefix):
        expression = prefix + expression
    number = script_number(expression.encode("latin-1", "replace"), {})
    if number is not None:
        yield name, number


def _renamed(option: str, value: str) -> list[tuple[str, str]]:
    """What an option makes of names: those that others ask for are the wrapper's."""
    if option == "wrap":
        return [(value, f"__wrap_{value}"), (f"__real_{value}", value)]
    name, _, expression = value.partition("=")
    return [(name, it) for it in dict.fromkeys(_NAME.findall(expression))]


def _made_by(calls: Sequence[tuple[list[str], Path]]) -> dict[Path, list[Path]]:
    """Objects and archives that commands make, with those that they are made of."""
    found: dict[Path, list[Path]] = {}
    for words, folder in calls:
        options = list(_options(words, folder))
        named = dict(pairwise(options)).get("-o", "")
        inputs = [it for it in options[1:] if not it.startswith("-") and it != named]
        if words and _ARCHIVER.fullmatch(Path(words[0]).name):
            at = next((i for i, it in enumerate(inputs) if it.endswith(_ARCHIVE)), len(inputs))
            members = [absolute(it, folder) for it in inputs[at + 1 :]]
            for archive in inputs[at : at + 1]:
                found.setdefault(absolute(archive, folder), []).extend(members)
        elif _links_partly(options):
            objects = [absolute(it, folder) for it in inputs if not compiles(it)]
            found.setdefault(absolute(named, folder), []).extend(objects)
        elif "-c" in options or _is_assembler(words):
            sources = [it for it in inputs if compiles(it) or "-x" in options]
            for source in [named] if named else [f"{Path(it).stem}.o" for it in sources]:
                found.setdefault(absolute(source, folder), [])
    return found


def _without_made(linking: Linking, made: Mapping[Path, Sequence[Path]]) -> Linking:
    """A call without the inputs that its build makes of sources alone, and with those that others
    are made of."""
    left: dict[Path, None] = {}
    waiting, seen = list(linking.inputs), set[Path]()
    lost = []
    for library in linking.libraries:  # which the build makes first
        mine = [it for it in made if it.name == library]
        waiting += mine
        lost += [] if mine else [library]
    while waiting:
        file = waiting.pop(0)
        if file in made:
            waiting += [it for it in made[file] if it not in seen]
            seen.update(made[file])
        else:
            left[file] = None
    return replace(linking, inputs=tuple(left), libraries=tuple(lost))


def _links_partly(options: Sequence[str]) -> bool:
    """Whether a command joins objects to one."""
    is_linker = any(_LINKER.fullmatch(Path(it).name) for it in options[:4])
    return is_linker and "-r" in options and "-o" in options


def _is_assembler(words: Sequence[str]) -> bool:
    return any(re.fullmatch(r"(?:.*-)?as(?:\.exe)?", Path(it).name) for it in words[:2])


def _linker_at(words: Sequence[str]) -> int | None:
    """Where a command line that links has the linker."""
    start = next((i for i, it in enumerate(words[:4]) if _LINKER.fullmatch(Path(it).name)), None)
    return start if start is not None and not _NO_LINKING & set(words[start:]) else None


def _options(words: Sequence[str], folder: Path) -> Iterator[str]:
    """Options, those that GCC hands on to the linker (`-Wl,a,b`, `-Xlinker a`) and those of files
    (`@objects.list`) among them."""
    for word in words:
        if word.startswith("-Wl,"):
            yield from word.split(",")[1:]
        elif word.startswith("@") and (listed := folder / word[1:]).is_file():
            yield from _options([it for it in words_of(listed) if it[:1] != "@"], folder)
        elif word != "-Xlinker":
            yield word
