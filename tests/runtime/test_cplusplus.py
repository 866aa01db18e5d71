"""The headers are C, and C++ from C++11 on may include them: its calls find the C libraries.

A guest of C++ is built from its description, and has what the language needs to run.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from composer.sources import runtime_folder
from composer.verify.verify import verify
from tests.support.built import Built
from tests.support.counted import run

RUNTIME = runtime_folder()
FOLDERS = [RUNTIME / "include", RUNTIME / "arch" / "armv7m" / "include"]
HEADERS = sorted({f"fvm/{file.name}" for folder in FOLDERS for file in folder.glob("fvm/*.h")})
CALLS = """
struct fvm_usr_reg saved;
void use(uint32_t *sp)
{
    virt_int_mask(VIRT_PRIMASK);
    virt_yield();
    USR_STMDB(sp, R4, LR);
    (void)hyp_evt_snd(virt_vct_pending(0));
    (void)fvm_signal_wait(fvm_create_signal(1, 2, 3));
    (void)fvm_invoke(1, 2, 3, 4, sp);
    (void)fvm_ring_room(nullptr);
    (void)fvm_split_take(nullptr, sp, 1);
    hyp_reboot();
}
"""


def compiled(text: str, standard: str, target: Path) -> None:
    subprocess.run(
        ["arm-none-eabi-g++", "-x", "c++", f"-std={standard}", "-Wall", "-Wextra", "-Werror",
         "-mcpu=cortex-m4", "-mthumb", "-O2", *(f"-I{folder}" for folder in FOLDERS),
         "-c", "-o", str(target), "-"],
        input=text, text=True, check=True,
    )  # fmt: skip


@pytest.mark.parametrize("standard", ["c++11", "c++20"])
@pytest.mark.parametrize("header", HEADERS)
def test_a_header_alone_is_cplusplus(header: str, standard: str, tmp_path: Path) -> None:
    compiled(f"#include <{header}>\n", standard, tmp_path / "object.o")


def test_what_it_calls_has_the_names_of_the_c_libraries(tmp_path: Path) -> None:
    includes = "".join(f"#include <{header}>\n" for header in HEADERS)
    compiled(includes + CALLS, "c++11", tmp_path / "object.o")
    text = subprocess.run(
        ["arm-none-eabi-nm", "--undefined-only", "--format=just-symbols", tmp_path / "object.o"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    found = {name for name in text.split() if not name.startswith("__aeabi_")}
    assert found == {
        "fvm_create_signal", "fvm_ring_room", "fvm_split_take", "fvm_state", "guest_switch",
        "hyp_evt_snd", "hyp_reboot", "virt_usr_reg", "virt_vct_pending",
    }  # fmt: skip


def test_a_guest_of_cplusplus_runs(system: Callable[[str], Built]) -> None:
    said = run(system("cplusplus").elf, {"cplusplus": 1}, 300).values("cplusplus")
    assert said == {
        "constructed": 12,  # in their order, before main
        "virtual": 9 + 16,
        "template": 5,
        "static_local": 33,  # made once
        "new": 11,
        "deleted": 0,
        "new_array": 7,
        "in_lambda": 1,
        "masked": 1,  # by a constructor
        "unmasked": 0,  # by its destructor
        "done": 1,  # the tick's handler is C++
    }


def test_verify_accepts_it(system: Callable[[str], Built]) -> None:
    built = system("cplusplus")
    assert verify(built.elf, built.description).ok


@pytest.mark.parametrize(("libraries", "has_support"), [("", True), ("-lstdc++", False)])
def test_the_makefile_says_what_the_description_says(
    libraries: str, has_support: bool, system: Callable[[str], Built], tmp_path: Path
) -> None:
    text = system("cplusplus").description.read_text("utf-8")
    options = f'cxx-standard="c++20" ldflags="--specs=nano.specs --specs=nosys.specs {libraries}"'
    description = tmp_path / "other.xml"
    description.write_text(text.replace('port="no" ', f'port="no" {options} '), "utf-8")
    subprocess.run(
        [sys.executable, "-m", "composer.cli", "compose", description, "--out", tmp_path / "out"],
        check=True, capture_output=True,
    )  # fmt: skip
    makefile = (tmp_path / "out" / "cplusplus" / "Makefile").read_text("utf-8")
    assert "-std=c++20" in makefile and "-fno-exceptions -fno-rtti" in makefile
    assert ("support.c" in makefile) == has_support
