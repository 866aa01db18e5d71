"""What a handler calls is read as its own file is compiled, each time that it is, and may be in a
file that nobody reads."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from porter.context_switch.c_flow import CUnits
from porter.context_switch.project import transcribe_project
from porter.context_switch.project_data import ProjectData
from porter.context_switch.result import ESCALATED, REWRITTEN, NotTranscribable
from porter.project.compile_options import CompileOptions
from porter.project.unread_inputs import NO_INPUTS, UnreadInputs
from tests.porter.context_switch.cases import SOURCES
from tests.porter.context_switch.trees import fixture

LOAD = """\
.syntax unified
.fpu fpv4-sp-d16
.thumb
.global load
.type load, %function
load: vldmia r0!, {s16-s31}
 bx lr
"""
SCHEDULE = """\
unsigned *place; void load(unsigned **);
void schedule(void) {
#if CONDITION
 load(&place);
#endif
}
"""


def refused(
    folder: Path, texts: dict[str, str], own: dict[str, list[CompileOptions]], *inputs: UnreadInputs
) -> str:
    """Why a handler that calls schedule() may not; `own`: options of single files, beside the
    project's."""
    switch = (SOURCES / "running_task.c").read_text()
    tree = fixture(folder, switch.replace("void schedule(void);", "void  schedule(void);"))
    for name, text in texts.items():
        (folder / name).write_text(text)
    files = (*tree.files, *(folder / name for name in texts))
    by_file = {folder / name: tuple(them) for name, them in own.items()}
    options = replace(tree.options, by_file=by_file)
    data = ProjectData(files, options, CUnits(files, options), inputs=(*inputs, NO_INPUTS)[0])
    try:
        data.kept.refuse(["schedule"])
    except NotTranscribable as reason:
        return str(reason)
    return ""


def options(*flags: str, optimize: str = "", defines: tuple[str, ...] = ()) -> CompileOptions:
    cpu = ("-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16")
    return CompileOptions((), defines, (*cpu, *flags), "arm-none-eabi-gcc", optimize)


@pytest.mark.parametrize(
    ("condition", "own", "is_called"),
    [
        ("!defined ALL", [options()], True),
        ("!defined ALL", [options(defines=("ALL",))], False),
        ("defined ALL", [options()], False),
        ("defined __OPTIMIZE_SIZE__", [options(optimize="-Os")], True),
        ("defined __OPTIMIZE_SIZE__", [options(optimize="-O2")], False),
        ("defined __thumb__", [options("-U__thumb__")], False),
        ("N == 1", [options(defines=("N=2",)), options(defines=("N=1",))], True),
        ("N == 3", [options(defines=("N=2",)), options(defines=("N=1",))], False),
    ],
)
def test_a_callee_is_read_with_its_own_options(
    condition: str, own: list[CompileOptions], is_called: bool, tmp_path: Path
) -> None:
    texts = {"other.c": SCHEDULE.replace("CONDITION", condition), "load.S": LOAD}
    found = refused(tmp_path, texts, {"other.c": own, "switch.c": [options(defines=("ALL",))]})
    assert ("leads to load()" in found) == is_called, found


@pytest.mark.parametrize("weak", ["__attribute__((weak)) ", ""])
@pytest.mark.parametrize("kind", ["object", "calm object", "text", "calm text", "absent"])
def test_a_weak_body_may_be_another_files(kind: str, weak: str, tmp_path: Path) -> None:
    name = "calm" if "calm" in kind else "hook"
    beside = tmp_path / ("blob.o" if "object" in kind else "beside.tmpl")
    text = f".global {name}\n.thumb_func\n{name}: bx lr\n"
    if "object" in kind:
        command = ["arm-none-eabi-as", "-mcpu=cortex-m4", "-mthumb", "-o", str(beside), "-"]
        subprocess.run(command, input=text.encode(), check=True)
        inputs = UnreadInputs(compiled=(beside,))
    elif "text" in kind:
        beside.write_text(text)
        inputs = UnreadInputs(texts=(beside,))
    else:
        inputs = UnreadInputs(absent=(beside,))
    own = f"{weak}void hook(void) {{ }}\nvoid schedule(void) {{ hook(); }}\n"
    found = refused(tmp_path / "project", {"other.c": own}, {}, inputs)
    is_doubtful = bool(weak) and name == "hook"
    assert (f"leads to hook(), which {beside.name} may define" in found) == is_doubtful, found


@pytest.mark.parametrize("number", [1, 2])
def test_a_handler_that_is_compiled_twice_is_ported_if_it_is_the_same(
    number: int, tmp_path: Path
) -> None:
    text = (SOURCES / "running_task.c").read_text() + "int state = N;\n"
    tree = fixture(tmp_path, text)
    ways = tuple(options(defines=(f"N={it}",)) for it in (1, number))
    together = replace(tree.options, by_file={tree.files[0]: ways})
    ports = transcribe_project(tree.root, tree.files, together)
    assert {it.status for it in ports} == {REWRITTEN if number == 1 else ESCALATED}
    assert all(("compiled 2 times" in it.reason) == (number == 2) for it in ports)
