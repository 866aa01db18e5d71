"""Folders of others in a port: found by what is in them, told in a line, and last in the diff."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.porter.example_domains import ROOT

ST = "/* Copyright (c) 2017 STMicroelectronics.\n * All rights reserved. */\n"
ARM = "/* Copyright (c) 2009-2018 Arm Limited. All rights reserved. */\n"
MASKS = "    __disable_irq();\n    __enable_irq();\n"
HAL = "Drivers/STM32F4xx_HAL_Driver"
FILES = {
    "Src/main.c": f"{ST}void hal(void);\nint main(void)\n{{\n{MASKS}    hal();\n}}\n",
    "Inc/main.h": f"{ST}void tell(void);\n",
    f"{HAL}/Inc/hal.h": f"{ST}void hal(void);\n",
    f"{HAL}/Src/hal.c": f"{ST}void hal(void)\n{{\n{MASKS}    __set_MSP(1);\n}}\n",
    "Drivers/CMSIS/Include/core.h": f"{ARM}static inline void __WFI(void) {{ }}\n",
}  # fmt: skip


def fvmkit(*arguments: object) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "composer.cli", "port", *map(str, arguments)],
        cwd=ROOT, capture_output=True, check=False,
    )  # fmt: skip


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write(tmp_path / "a project", FILES)


def folded(*arguments: object) -> dict[str, str]:
    """The folders of others, and why."""
    report = json.loads(fvmkit(*arguments, "--json").stdout)
    return {it["folder"]: it["why"] for it in report["vendor"]}


def test_a_library_is_one_line_by_rules_and_its_open_places_are_told_each(project: Path) -> None:
    told = fvmkit(project).stderr.decode()
    assert (
        f"\n{HAL} (its files name STMicroelectronics): 3 places in 1 file: 2 rewritten "
        "(2 mask-intrinsic), 1 escalated, each told by itself\n"
    ) in told
    assert f"{HAL}/Src/hal.c:7:5: escalated __set_MSP [system-call]: " in told
    assert "\nDrivers/CMSIS (its files name Arm Limited): 1 place in 1 file: 1 left (1 def" in told
    assert (
        "6 found, 4 rewritten, 1 left, 1 escalated "
        "(in 2 folders of others 4 found, 2 rewritten, 1 left, 1 escalated)"
    ) in told
    assert f"{HAL}/Src/hal.c:5:5: rewritten" not in told
    assert f"{HAL}/Src/hal.c:5:5: rewritten" in fvmkit(project, "-v").stderr.decode()


def test_programs_get_the_folders_and_every_site(project: Path) -> None:
    report = json.loads(fvmkit(project, "--json").stdout)
    (hal,) = [it for it in report["vendor"] if it["folder"] == HAL]
    assert hal == {
        "folder": HAL, "why": "its files name STMicroelectronics", "files": 1, "edited": 1,
        "found": 3, "rewritten": {"mask-intrinsic": 2}, "left": {},
        "escalated": {"system-call": 1},
    }  # fmt: skip
    assert [it.get("vendor") for it in report["sites"] if it["file"] == "Src/main.c"] == [None] * 2
    assert {it["vendor"] for it in report["sites"] if it["file"].startswith(HAL)} == {HAL}


@pytest.mark.parametrize("tool", [["git", "apply"], ["patch", "-p1"]])
def test_the_diff_has_the_projects_own_files_first_and_applies(
    project: Path, tool: list[str]
) -> None:
    diff = fvmkit(project).stdout
    own, head, theirs = diff.partition(
        f"# {HAL}: files of somebody else (its files name STMicroelectronics); 1 of them change:\n"
        "#   2 by the rule mask-intrinsic: ".encode()
    )
    assert head
    assert own.startswith(b"diff --git a/Src/main.c b/Src/main.c\n")
    assert b"hal.c" not in own
    assert f"+++ b/{HAL}/Src/hal.c\n".encode() in theirs
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    subprocess.run(tool, cwd=project, input=diff, check=True, stdout=subprocess.DEVNULL)
    for name in ("Src/main.c", f"{HAL}/Src/hal.c"):
        assert b"virt_int_mask" in (project / name).read_bytes()


def test_a_person_says_otherwise(project: Path) -> None:
    write(project, {"boards/x.c": f"void x(void)\n{{\n{MASKS}}}\n"})
    write(project, {"Src/more.c": "void x(void);\nvoid (*const more)(void) = x;\n"})
    assert set(folded(project)) == {HAL, "Drivers/CMSIS"}
    said = folded(project, "--vendor", "boards", "--own", "Drivers/CMSIS")
    assert said == {HAL: "its files name STMicroelectronics", "boards": "said by --vendor"}
    assert folded(project, "--vendor", "Drivers") == {"Drivers": "said by --vendor"}
    assert folded(project, "--own", "Drivers") == {}
    missing = fvmkit(project, "--own", "Dirvers")
    assert (missing.returncode, missing.stdout) == (2, b"")
    assert missing.stderr == b"fvmkit: Dirvers: no such folder in the project\n"


@pytest.mark.parametrize(
    ("more", "theirs"),
    [
        ({"lib/usb/usb.c": MASKS, "lib/usb/LICENSE": "MIT"}, "lib/usb"),
        ({"ext/usb/usb.c": MASKS, ".gitmodules": "[submodule]\n\tpath = ext/usb\n"}, "ext/usb"),
        ({"rtos/src/tasks.c": f"/* (C)ChaN, 2015. int main(void) {{ }} */{MASKS}"}, "rtos"),
    ],
)
def test_other_marks_of_a_library(tmp_path: Path, more: dict[str, str], theirs: str) -> None:
    files = {name: f"{text}" if name.startswith(".") else text for name, text in more.items()}
    for name in [it for it in files if it.endswith(".c")]:
        head, brace, code = files[name].rpartition("*/")
        files[name] = f"{head}{brace}\nvoid g(void)\n{{\n{code}}}\n"
    files["main.c"] = "void g(void);\nint main(void) { g(); for (;;); }\n"
    assert set(folded(write(tmp_path / "p", files))) == {theirs}


@pytest.mark.parametrize(
    "more",
    [
        {"USB/App/usb.c": f"{ST}/* USER CODE BEGIN 0 */\nvoid g(void)\n{{\n{MASKS}}}\n"},
        {"Startup/start.c": f"{ST}void g(void)\n{{\n{MASKS}}}\n"},  # beside main, by its maker
        {"parts/a.c": f"{ST}void g(void)\n{{\n{MASKS}}}\n", "parts/b.c": "int b;\n"},
        {"parts/a.c": f"/* Copyright 2020 The Firm */\nvoid g(void)\n{{\n{MASKS}}}\n"},
    ],
)
def test_what_a_project_has_of_its_own(tmp_path: Path, more: dict[str, str]) -> None:
    main = f"{ST}void g(void);\nint main(void) {{ g(); for (;;); }}\n"
    assert folded(write(tmp_path / "p", {**more, "Src/main.c": main})) == {}
