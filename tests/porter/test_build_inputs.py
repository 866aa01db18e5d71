"""A project is judged by what its build gives each file, by all that it takes in, and by what the
linker is told: what isn't seen is said and counts."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from porter.output.port_report import assumptions
from porter.result import PortResult
from tests.porter.helpers import port_files

GCC = "arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb"
OFF = "void off(void);\n"
FILES = {"off.h": OFF, "off.c": '#include "off.h"\nvoid off(void) { __asm volatile("cpsid i"); }\n'}
LINK = "arm-none-eabi-gcc -mcpu=cortex-m4 -nostdlib -T chip.ld -o fw.elf"
IDLE = "int main(void) { for (;;) { } }\n"
CALLS_GO = "void go(void);\nint main(void) { go(); }\n"
USES = '#include "off.h"\nvoid go(void) { off(); }\n'


def ported(
    folder: Path, files: dict[str, str], compiles: list[str], link: str = "", before: str = ""
) -> PortResult:
    """A project that make builds by these commands, behind the compiler's name."""
    rules = "".join(f"\t{GCC} {it}\n" for it in (*compiles, "-c off.c"))
    made = [it.partition("-o ")[2].split() or [f"{Path(it.split()[-1]).stem}.o"] for it in compiles]
    objects = " ".join(it[0] for it in made)
    files = {**FILES, "chip.ld": "ENTRY(main)\n", **files}
    files["Makefile"] = f"fw.elf:\n{before}{rules}\t{LINK} {link} off.o {objects}\n"
    return port_files(folder, {name: text.encode() for name, text in files.items()}, None)


def is_left(result: PortResult) -> bool:
    """Whether the one place is left since nothing uses it."""
    (verdict,) = [it for port in result.files for it in port.verdicts]
    assert verdict.rule in ("dropped", "asm-statement")
    return verdict.rule == "dropped"


@pytest.mark.parametrize(
    ("options", "condition"),
    [
        ("-DWANTS -UWANTS", "!defined WANTS"),
        ("-UWANTS -DWANTS", "defined WANTS"),
        ("-U__thumb__", "!defined __thumb__"),
        ("@more.rsp", "defined WANTS"),
        ("--via more.rsp", "defined WANTS"),
        ("--via=wants.rsp", "defined WANTS"),
        ("-f wants.rsp", "defined WANTS"),
        ("-Wp,-DWANTS", "defined WANTS"),
        ("-include wants.cfg", "defined WANTS"),
        ("-imacros wants.cfg", "defined WANTS"),
        ("-Os", "defined __OPTIMIZE_SIZE__"),
        ("-Ofast", "defined __FAST_MATH__"),
        ("-fPIC", "defined __PIC__"),
        ("-fgnu89-inline", "defined __GNUC_GNU_INLINE__"),
        ("-fstack-protector-all", "defined __SSP_ALL__"),
        ("-ansi", "defined __STRICT_ANSI__"),
        ("-x c++", "defined __cplusplus"),
        ("-MMD -MFb/x.d -Wp,-MD,b/y.d -g3 -flto -Wa,-adhlns=x.lst -DWANTS", "defined WANTS"),
        ("-fno-such-option -DWANTS", "defined WANTS"),
    ],
)
def test_an_arm_is_compiled_as_the_options_say(
    tmp_path: Path, options: str, condition: str
) -> None:
    """All of them, in their order; other ones leave the function unused."""
    main = f'#include "off.h"\nint main(void) {{\n#if {condition}\n off();\n#endif\n}}\n'
    files = {"main.c": main, "more.rsp": "-g @wants.rsp\n", "wants.rsp": "-DWANTS\n",
             "wants.cfg": "#define WANTS\n"}  # fmt: skip
    result = ported(tmp_path, files, [f"{options} -c main.c"])
    assert not is_left(result)
    assert any("-fno-such-option" in it for it in assumptions(result)) == ("no-such" in options)


def test_without_the_options_the_arm_is_none(tmp_path: Path) -> None:
    main = '#include "off.h"\nint main(void) {\n#ifdef WANTS\n off();\n#endif\n}\n'
    result = ported(tmp_path, {"main.c": main, "other.c": ""}, ["-c main.c", "-DWANTS -c other.c"])
    assert is_left(result) and not list(assumptions(result)) and not result.is_unseen


@pytest.mark.parametrize("number", [1, 2, 3])
def test_each_time_that_a_file_is_compiled_counts(tmp_path: Path, number: int) -> None:
    go = f'#include "off.h"\nvoid go(void) {{\n#if N == {number}\n off();\n#endif\n}}\n'
    main = "void go(void);\nint main(void) { go(); }\n"
    compiles = ["-c main.c", *(f"-DN={it} -o go{it}.o -c go.c" for it in (1, 2))]
    assert is_left(ported(tmp_path, {"main.c": main, "go.c": go}, compiles)) == (number == 3)


def test_sources_that_nobody_looks_into_use_what_they_name(tmp_path: Path) -> None:
    """One beside the project, and others in languages that no suffix says."""
    (tmp_path / "sdk.c").write_text(USES)
    for place, command in {
        "../sdk.c": "-I. -c ../sdk.c", "go.tmpl": "-x c -c go.tmpl", "go.i": "-c go.i",
        "go.cp": "-c go.cp",
    }.items():  # fmt: skip
        root = tmp_path / place.strip("./")
        root.mkdir() if not root.exists() else None
        root = root if root.is_dir() else tmp_path / "project"
        files = {"main.c": IDLE, **({} if ".." in place else {place: USES})}
        result = ported(root, files, ["-c main.c", command])
        assert not is_left(result) and result.is_unseen
        assert any(f"nobody looked into: {place};" in it for it in assumptions(result))


def test_a_source_that_is_not_there_may_use_anything(tmp_path: Path) -> None:
    made = "\techo made > made.c\n"
    result = ported(tmp_path, {"main.c": IDLE}, ["-c main.c", "-c made.c"], before=made)
    assert not is_left(result) and result.is_unseen
    assert any("aren't there, or can't be read: made.c;" in it for it in assumptions(result))


@pytest.mark.parametrize(
    "kind", ["object", "archive", "search", "not there", "script", "group", "included"]
)
def test_what_is_linked_without_source_uses_what_it_asks_for(tmp_path: Path, kind: str) -> None:
    """The linker's own names are read from it; one that asks for nothing uses nothing."""
    for name, text in {"blob": "void off(void); void go(void) { off(); }", "calm": ""}.items():
        (tmp_path / f"{name}.c").write_text(text)
        command = [*GCC.split(), "-c", f"{name}.c", "-o", f"{name}.o"]
        subprocess.run(command, cwd=tmp_path, check=True)
        archive = ["arm-none-eabi-ar", "rc", f"lib{name}.a", f"{name}.o"]
        subprocess.run(archive, cwd=tmp_path, check=True)
    (tmp_path / "blob.c").unlink()
    (tmp_path / "calm.c").unlink()
    for name in ("calm", "blob"):
        given = {"object": f"../{name}.o", "archive": f"../lib{name}.a",
                 "search": f"-L.. -l{name}", "not there": "../none.o", "script": "",
                 "group": "-L.. -T more.ld", "included": "-T more.ld"}[kind]  # fmt: skip
        brings = {"script": f"INPUT(../{name}.o)", "group": f"GROUP(-lc AS_NEEDED(lib{name}.a))",
                  "included": "INCLUDE inputs.ld"}.get(kind, "")  # fmt: skip
        files = {"main.c": IDLE, "inputs.ld": f'INPUT("../{name}.o")\n', "more.ld": brings}
        files["chip.ld"] = f"ENTRY(main)\n{brings if kind == 'script' else ''}\n"
        result = ported(tmp_path / name, files, ["-c main.c"], given)
        assert is_left(result) == (name == "calm" and kind != "not there")
        assert result.is_unseen and result.beside + result.missing


def test_the_compilers_own_libraries_of_a_script_use_nothing(tmp_path: Path) -> None:
    files = {"main.c": IDLE, "chip.ld": "ENTRY(main)\nGROUP(-lgcc libc.a -lnosys libm.a)\n"}
    result = ported(tmp_path, files, ["-c main.c"])
    assert is_left(result) and not result.is_unseen


@pytest.mark.parametrize(
    "option",
    ["-Wl,-e,off", "-Wl,-u,off", "-u off", "-Wl,--undefined=off", "-Wl,--require-defined=off",
     "-Wl,--gc-keep-exported", "names.link", "-T names.odd"],
)  # fmt: skip
def test_the_linker_is_told_to_use_it(tmp_path: Path, option: str) -> None:
    files = {"main.c": IDLE, "names.link": "EXTERN(off)\n", "names.odd": "EXTERN(off)\n"}
    result = ported(tmp_path, files, ["-c main.c"], option)
    assert not is_left(result) and not result.is_unseen


@pytest.mark.parametrize("told_by", ["make", "compile_commands.json"])
@pytest.mark.parametrize("option", ["-Wl,--defsym=go=off", "-Wl,--wrap=go", ""])
def test_a_name_gets_another_meaning(tmp_path: Path, option: str, told_by: str) -> None:
    """compile_commands.json says nothing of it, but the makefile beside it does."""
    off = "__wrap_go" if "wrap" in option else "off"
    main = "void go(void);\nint main(void) { go(); }\n"
    files = {"main.c": main, "go.h": "void go(void);\n", "off.h": f"void {off}(void);\n",
             "go.c": '#include "go.h"\n__attribute__((weak)) void go(void) { }\n',
             "off.c": FILES["off.c"].replace("off(", f"{off}(")}  # fmt: skip
    if told_by != "make":
        entries = [{"directory": str(tmp_path), "arguments": [*GCC.split(), "-c", name]}
                   for name in ("main.c", "go.c", "off.c")]  # fmt: skip
        files["compile_commands.json"] = json.dumps(entries)
    result = ported(tmp_path, files, ["-c main.c", "-c go.c"], option)
    assert is_left(result) == (not option)
    assert any("--defsym" in it for it in assumptions(result)) == (told_by != "make" and not option)
    assert not result.is_unseen


def test_where_nobody_tells_of_the_link_that_is_said(tmp_path: Path) -> None:
    """The ported program is linked by its description, so that nothing of it depends on that."""
    entries = [{"directory": str(tmp_path), "arguments": [*GCC.split(), "-c", name]}
               for name in ("main.c", "off.c")]  # fmt: skip
    files = {**FILES, "main.c": IDLE, "compile_commands.json": json.dumps(entries)}
    result = port_files(tmp_path, {name: text.encode() for name, text in files.items()}, None)
    assert is_left(result)
    assert not result.is_unseen
    assert any("tells no options of the linker" in it for it in assumptions(result))


@pytest.mark.parametrize(
    ("options", "is_followed"),
    [
        ("--redefine-sym go=off", True),
        ("--redefine-sym=go=off", True),
        ("--redefine-syms names.txt", True),
        ("-g --strip-debug", None),
        ("--weaken", False),
        ("--globalize-symbol=go", False),
        ("--prefix-symbols=my_", False),
        ("--update-section .text=other.bin", False),
    ],
)
def test_what_objcopy_makes_of_an_object_counts(
    tmp_path: Path, options: str, is_followed: bool | None
) -> None:
    """New names are followed; an object that isn't any more what its source says is told."""
    names = "go off # the new one\n"
    files = {"main.c": CALLS_GO, "go.c": "void go(void) { }\n", "names.txt": names}
    root = tmp_path / "project"
    root.mkdir()
    changed = f"-c main.c\n\tarm-none-eabi-objcopy {options} main.o"
    result = ported(root, files, ["-c go.c", changed])
    assert is_left(result) == (is_followed is None)
    assert result.is_unseen == (is_followed is False)


@pytest.mark.parametrize("option", ["--defsym=go=off", "--wrap=go", ""])
def test_a_link_on_the_way_gives_names_another_meaning(tmp_path: Path, option: str) -> None:
    off = "__wrap_go" if "wrap" in option else "off"
    files = {"main.c": CALLS_GO, "go.c": "void go(void) { }\n", "off.h": f"void {off}(void);\n",
             "off.c": FILES["off.c"].replace("off(", f"{off}(")}  # fmt: skip
    partly = f"-c main.c\n\tarm-none-eabi-ld -r {option} -o some.o main.o"
    result = ported(tmp_path, files, ["-c go.c", partly])
    assert is_left(result) == (not option)


@pytest.mark.parametrize(
    ("says", "leads"),
    [
        ("go = . + 1;", True),
        ("PROVIDE(go = .);", False),
        ("_end = .;", False),
        ("go = 0x1001;", True),
    ],
)
def test_a_name_that_a_script_places_is_what_lies_there(
    tmp_path: Path, says: str, leads: bool
) -> None:
    sections = f"SECTIONS {{ .text : {{ {says} *(.text.off) *(.text*) }} }}\n"
    files = {
        "main.c": CALLS_GO,
        "go.c": "void go(void) { }\n",
        "chip.ld": f"ENTRY(main)\n{sections}",
    }
    assert is_left(ported(tmp_path, files, ["-c main.c", "-c go.c"])) == (not leads)


def test_a_pragma_that_renames_is_followed(tmp_path: Path) -> None:
    main = "#pragma redefine_extname go off\nvoid go(void);\nint main(void) { go(); }\n"
    assert not is_left(ported(tmp_path, {"main.c": main}, ["-c main.c"]))
