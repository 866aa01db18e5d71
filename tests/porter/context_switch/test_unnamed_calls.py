"""Functions that the compiler or a library calls without a word in C are callees as others are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from porter.context_switch.c_flow import CUnits
from porter.context_switch.project_data import ProjectData
from porter.context_switch.result import NotTranscribable
from tests.porter.context_switch.cases import SOURCES
from tests.porter.context_switch.trees import M4F, fixture

POP = "ldr r1, [r0]\n vldmia r1!, {s16-s31}\n str r1, [r0]\n bx lr\n"
HEAD = ".syntax unified\n.fpu fpv4-sp-d16\n.thumb\n.text\n"
COPIES = "struct s { char b[300]; } a, b;\nvoid schedule(void) { a = b; }\n"
# A function of the project in assembler, C that comes to it, and options.
REACHED = {
    "memcpy": (COPIES, ()),
    "__aeabi_ldivmod": ("long long n, m;\nvoid schedule(void) { n /= m; }\n", ()),
    "__cyg_profile_func_enter": ("void schedule(void) { }\n", ("-finstrument-functions",)),
    "__stack_chk_fail": (
        "int n;\nvoid fill(char *);\nvoid schedule(void) { char c[64]; fill(c); n = c[3]; }\n",
        ("-fstack-protector-all",),
    ),
    "__atomic_load_8": ("long long n;\nvoid schedule(void) { __atomic_load_n(&n, 0); }\n", ()),
    "_write": ("int printf(const char *, ...);\nvoid schedule(void) { printf(\"%d\", 1); }\n", ()),
    "__malloc_lock": ("void *malloc(unsigned);\nvoid *p;\nvoid schedule(void) { p = malloc(8); }\n",
                      ()),
    "__aeabi_ldiv0": ("long long n, m;\nvoid schedule(void) { n /= m; }\n", ()),
}  # fmt: skip
APART = {
    "memcpy": ("struct s { int n; } a, b;\nvoid schedule(void) { a = b; }\n", ()),
    "__aeabi_ldivmod": ("int n, m;\nvoid schedule(void) { n /= m; }\n", ()),
    "__cyg_profile_func_enter": ("void schedule(void) { }\n", ()),
    "__stack_chk_fail": (REACHED["__stack_chk_fail"][0], ()),
    "_write": ("unsigned strlen(const char *), n;\nvoid schedule(void) { n = strlen(\"a\"); }\n",
               ()),
    "_exit": ("long long n, m;\nvoid schedule(void) { n /= m; }\n", ()),
    "__own": (COPIES, ()),
}  # fmt: skip


def refused(folder: Path, name: str, c: str, more: tuple[str, ...]) -> str:
    """What the handler of a project is refused for in which assembler has the name."""
    text = (SOURCES / "running_task.c").read_text()
    tree = fixture(folder, text.replace("schedule(void);", "schedule (void);") + c, (*M4F, *more))
    (folder / "own.S").write_text(f"{HEAD}.global {name}\n.type {name}, %function\n{name}: {POP}")
    files = (*tree.files, folder / "own.S")
    data = ProjectData(files, tree.options, CUnits(files, tree.options))
    try:
        data.kept.refuse(["schedule"])
    except NotTranscribable as reason:
        return str(reason)
    return ""


@pytest.mark.parametrize("name", REACHED)
def test_what_the_compiler_or_a_library_calls_is_looked_at(name: str, tmp_path: Path) -> None:
    found = refused(tmp_path, name, *REACHED[name])
    assert f"leads to {name}() of own.S, which" in found and "s16-s31" in found


@pytest.mark.parametrize("name", APART)
def test_what_nothing_here_comes_to_is_not(name: str, tmp_path: Path) -> None:
    assert not refused(tmp_path, name, *APART[name])


def test_of_a_file_that_cant_be_compiled_whatever_compilers_call(tmp_path: Path) -> None:
    c = "void other(void) { undeclared = 1; }\nvoid schedule(void) { }\n"
    assert "leads to memcpy() of own.S" in refused(tmp_path, "memcpy", c, ())


@pytest.mark.parametrize("opens", [True, False])
def test_a_division_of_ones_own_may_open_interrupts(opens: bool, tmp_path: Path) -> None:
    text = (SOURCES / "running_task.c").read_text().replace("schedule(void);", "schedule (void);")
    text += "long long n, m;\nvoid schedule(void) { n /= m; }\n"
    tree = fixture(tmp_path, text, M4F)
    own = f"cpsid i\n {'cpsie i' if opens else 'nop'}\n bx lr\n"
    (tmp_path / "own.S").write_text(
        f"{HEAD}.global __aeabi_ldivmod\n.type __aeabi_ldivmod, %function\n__aeabi_ldivmod: {own}"
    )
    found = replace(tree, files=(*tree.files, tmp_path / "own.S")).port()
    (port,) = (it for it in found if it.name == "PendSV_Handler")
    told = "__aeabi_ldivmod(), which choosing a task may call, opens interrupts" in port.reason
    assert port.status == "rewritten" and told is opens


def test_what_a_header_has_for_each_file_is_called_by_its_name_alone(tmp_path: Path) -> None:
    """Of what the compiler left out of a file that includes it, all of that file's names count."""
    text = (SOURCES / "running_task.c").read_text().replace("schedule(void);", "schedule (void);")
    header = (
        'static inline void __WFI(void) { __asm volatile ("wfi"); }\n'
        "static inline int one(void) { return 1; }\n"
    )
    idle = '#include "own.h"\nvoid idle(void) { __WFI(); }\n'
    schedule = '#include "own.h"\nint n;\nvoid schedule(void) { n = one(); }\n'
    tree = fixture(tmp_path, text, (*M4F, "-O0"))
    for name, content in (("a.c", idle), ("own.h", header), ("schedule.c", schedule)):
        (tmp_path / name).write_text(content)
    files = (tmp_path / "a.c", *tree.files, tmp_path / "schedule.c", tmp_path / "own.h")
    data = ProjectData(files, tree.options, CUnits(files, tree.options))
    assert {it.name for it in data.callees.of(["schedule"])} == {"schedule", "one"}
    assert "__WFI" in {it.name for it in data.callees.of(["idle"])}
