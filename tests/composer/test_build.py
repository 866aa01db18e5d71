"""`fvmkit build`: the parts as they come out of the compiler and linker."""

from __future__ import annotations

import os
import re
import shutil
import struct
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from composer.entries import check_entries
from scanner.report.errors import FvmError
from tests.composer import systems
from tests.composer.test_compose import domain_json, fvmkit, snapshot


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A composed and built system in a path with a space; read-only."""
    folder = tmp_path_factory.mktemp("a build")
    description = systems.write(folder)
    assert fvmkit("compose", description, "--out", folder / "out").returncode == 0
    result = fvmkit("build", folder / "out")
    assert result.returncode == 0, result.stderr
    assert "[1/5] kernel" in result.stderr
    assert "warning" not in result.stderr
    return folder


@pytest.fixture
def copy(made: Path, tmp_path: Path) -> Path:
    """Its own copy with equal time stamps."""
    return shutil.copytree(made, tmp_path / "copy of it")


def words_at(elf: ELFFile, address: int, count: int) -> tuple[int, ...]:
    for segment in elf.iter_segments("PT_LOAD"):
        offset = address - segment["p_paddr"]
        if 0 <= offset < segment["p_filesz"]:
            return struct.unpack_from(f"<{count}I", segment.data(), offset)
    raise AssertionError(f"0x{address:08x} isn't loaded")


@pytest.mark.parametrize(("name", "threads"), [("hypervisor", 4), ("beater", 1), ("two", 2)])
def test_a_domain_is_where_the_kernel_expects_it(made: Path, name: str, threads: int) -> None:
    out = made / "out"
    grants = {
        g["name"]: range(g["base"], g["base"] + g["size"]) for g in domain_json(out, name)["grants"]
    }
    with (out / name / f"{name}.elf").open("rb") as stream:
        elf = ELFFile(stream)
        for segment in elf.iter_segments("PT_LOAD"):
            if segment["p_memsz"] == 0:
                continue
            area = grants["flash"] if segment["p_flags"] == 5 else grants["ram"]
            assert segment["p_flags"] in (5, 6), "read and execute, or read and write"
            assert segment["p_vaddr"] in area
            assert segment["p_vaddr"] + segment["p_memsz"] <= area.stop
            if segment["p_filesz"]:
                assert segment["p_paddr"] in grants["flash"]
        header = words_at(elf, grants["flash"].start, 10)
        assert header[:2] == (0x444D5646, 1)
        for slot in range(4):
            entry, stack = header[2 + 2 * slot : 4 + 2 * slot]
            if slot >= threads:
                assert (entry, stack) == (0, 0)
                continue
            assert entry & 1 and entry in grants["flash"]
            assert stack % 8 == 0 and stack - 1 in grants["ram"]
        if name == "two":
            (state,) = elf.get_section_by_name(".symtab").get_symbol_by_name("fvm_state")
            assert state["st_value"] == grants["ram"].start


def test_the_kernel_starts_the_flash(made: Path) -> None:
    with (made / "out/kernel/kernel.elf").open("rb") as stream:
        stack, reset = words_at(ELFFile(stream), 0x08000000, 2)
    assert 0x20000000 < stack <= 0x20002000
    assert reset & 1 and 0x08000000 < reset < 0x08006000


def test_a_second_build_does_nothing_and_a_changed_source_is_built(copy: Path) -> None:
    out = copy / "out"
    # A copy has other relative paths to the runtime; settle that first.
    assert fvmkit("compose", copy / "system.xml", "--out", out).returncode == 0
    assert fvmkit("build", out).returncode == 0
    before = snapshot(out)
    assert fvmkit("build", out).returncode == 0
    assert snapshot(out) == before
    source = copy / "one" / "main.c"
    os.utime(source)
    result = fvmkit("build", out)
    assert "main.c" in result.stderr
    changed = {n for n, content in snapshot(out).items() if content != before[n]}
    assert {Path(n).suffix for n in changed} <= {".o", ".d", ".elf", ".map", ".inputs"}
    assert all(n.startswith("one/") for n in changed)


def test_the_second_compose_reports_real_sizes_and_changes_nothing(made: Path) -> None:
    out = made / "out"
    before = snapshot(out)
    result = fvmkit("compose", made / "system.xml", "--out", out)
    assert result.returncode == 0
    assert snapshot(out) == before
    for name in ("kernel", "hypervisor", "beater", "one", "two"):
        lines = [line for line in result.stdout.splitlines() if f"  {name} (" in line]
        assert len(lines) == 2
        assert all("used" in line for line in lines)
    assert "smallest sizes for what is built" in result.stdout


def test_a_grant_smaller_than_the_built_elf_is_refused(copy: Path) -> None:
    big = systems.GUEST.replace("zero[16]", "zero[3000]").replace(
        "int main", "int keep[2500];int main"
    )
    big = big.replace("return table", "return keep[zero[7]] + table")
    (copy / "one" / "main.c").write_text(big)
    description, out = copy / "system.xml", copy / "out"
    description.write_text(systems.TINY.replace('ram="16K"', 'ram="32K"'))
    assert fvmkit("compose", description, "--out", out).returncode == 0
    assert fvmkit("build", out).returncode == 0
    before = snapshot(out)
    description.write_text(systems.TINY)
    result = fvmkit("compose", description, "--out", out)
    assert result.returncode == 1
    assert "'one' as built uses" in result.stderr
    assert "raise ram to at least" in result.stderr
    assert snapshot(out) == before


def test_an_overflow_says_what_to_raise(tmp_path: Path) -> None:
    description = systems.write(tmp_path)
    (tmp_path / "one" / "main.c").write_text(
        systems.GUEST.replace("table[8] = {1, 2, 3}", "table[5000] = {1, 2, 3}")
    )
    out = tmp_path / "out"
    assert fvmkit("compose", description, "--out", out).returncode == 0
    result = fvmkit("build", out)
    assert result.returncode == 1
    assert "'one' didn't build" in result.stderr
    asked = re.search(r"raise ram of 'one' by (\d+) bytes", result.stderr.splitlines()[-1])
    assert asked is not None
    more = -(-int(asked[1]) // 1024)
    description.write_text(systems.TINY.replace('ram="16K"', f'ram="{16 + more}K"'))
    assert more and fvmkit("compose", description, "--out", out).returncode == 0
    assert fvmkit("build", out).returncode == 0


SBRK = """#include <stdint.h>
void *_sbrk(intptr_t more)
{
    extern uint8_t _end, _estack;
    extern uint32_t _Min_Stack_Size;
    static uint8_t *used;
    uint8_t *before = used ? used : &_end;
    const uint8_t *limit = (uint8_t *)((uint32_t)&_estack - (uint32_t)&_Min_Stack_Size);
    if (before + more > limit) {
        return (void *)-1;
    }
    used = before + more;
    return before;
}
"""


def test_a_projects_own_heap_lies_between_its_data_and_its_stacks(tmp_path: Path) -> None:
    """STM32CubeIDE puts such an _sbrk() into every project; its linker script has the symbols."""
    description = systems.write(tmp_path)
    main = tmp_path / "one" / "main.c"
    main.write_text(
        SBRK + systems.GUEST.replace("return table", "(void)_sbrk(64); return table", 1)
    )
    out = tmp_path / "out"
    assert fvmkit("compose", description, "--out", out).returncode == 0
    assert fvmkit("build", out).returncode == 0
    with (out / "one/one.elf").open("rb") as stream:
        table = ELFFile(stream).get_section_by_name(".symtab")
        names = ("_end", "_estack", "__heap_limit", "fvm_stack_0_limit", "_Min_Stack_Size")
        end, top, limit, stack, reserved = (
            table.get_symbol_by_name(name)[0]["st_value"] for name in names
        )
    assert end < top == limit <= stack and reserved == 0


def test_a_compiler_error_is_shown_and_the_other_parts_are_built(tmp_path: Path) -> None:
    description = systems.write(tmp_path)
    (tmp_path / "one" / "main.c").write_text("int main(void) { return oops; }\n")
    out = tmp_path / "out"
    assert fvmkit("compose", description, "--out", out).returncode == 0
    result = fvmkit("build", out)
    assert result.returncode == 1
    assert "'oops' undeclared" in result.stderr
    assert result.stderr.splitlines()[-1].startswith("fvmkit: 'one' didn't build")
    assert (out / "two" / "two.elf").exists()


def test_a_function_that_isnt_there_is_told_where_it_is_named(tmp_path: Path) -> None:
    port = (
        '<project path="p" port="no"><source>*.c</source></project><port name="s" function="no"/>'
    )
    description = systems.write(tmp_path, ('<project builtin="heartbeat"/>', port))
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "main.c").write_text("int main(void) { for (;;) {} }\n")
    assert fvmkit("compose", description, "--out", tmp_path / "out").returncode == 0
    result = fvmkit("build", tmp_path / "out")
    assert result.returncode == 1
    assert result.stderr.splitlines()[-1] == (
        f"fvmkit: {description}:6:63: 'beater' didn't build: port 's' of 'beater' is the function"
        " 'no', which its sources don't have; write it, or correct its name here"
    )


@pytest.mark.parametrize(
    ("part", "function", "place", "what"),
    [
        ("beater", "main", "5:3", "a thread"),
        ("one", "SysTick_Handler", "9:3", "<tick>"),
        ("two", "USART2_IRQHandler", "20:5", "the handler of interrupt 'USART2'"),
        ("two", "event_handler", "25:3", "the handler of event 'to-two'"),
        ("one", "event_handler", "26:3", "the handler of event 'to-one'"),
        ("beater", "event_handler", None, ""),
        ("one", "main", None, ""),
    ],
)
def test_whatever_names_a_function_is_found(
    tmp_path: Path, part: str, function: str, place: str | None, what: str
) -> None:
    description = systems.write(tmp_path)
    output = f"fvm_startup.c:35: undefined reference to `{function}'\n"
    if place is None:
        check_entries(description, part, output, "failed")
        return
    with pytest.raises(FvmError) as caught:
        check_entries(description, part, output, "failed")
    assert str(caught.value).startswith(f"{description}:{place}: failed: {what} of '{part}'")


def test_an_entry_that_isnt_there_is_told_where_it_is_named(tmp_path: Path) -> None:
    change = ('<project path="one" port="no">', '<project path="one" port="no" entry="begin">')
    description = systems.write(tmp_path, change)
    output = "fvm_startup.c:77: undefined reference to `begin'\n"
    with pytest.raises(FvmError, match="the entry of 'one' is the function 'begin'"):
        check_entries(description, "one", output, "failed")


def test_an_unported_project_names_the_command(tmp_path: Path) -> None:
    description = systems.write(
        tmp_path, ('<project path="one" port="no">', '<project path="one">')
    )
    out = tmp_path / "out"
    assert fvmkit("compose", description, "--out", out).returncode == 0
    result = fvmkit("build", out)
    assert result.returncode == 2
    assert (
        f"run: fvmkit port {tmp_path}/one --domain {out}/one.domain.json --out {out}/ported/one"
        in result.stderr
    )


def test_a_folder_that_was_not_composed_is_exit_2(tmp_path: Path) -> None:
    result = fvmkit("build", tmp_path)
    assert result.returncode == 2
    assert "isn't a composed system" in result.stderr


def test_names_that_make_and_the_shell_would_misread(tmp_path: Path) -> None:
    description = systems.write(
        tmp_path / "a # b $HOME",
        (
            '<project path="one" port="no"><source>*.c</source>',
            '<project path="one" port="no"><source>**/*.c</source><include>in c</include>'
            "<define>SUM=(1 + 2)</define>",
        ),
    )
    folder = description.parent / "one"
    (folder / "in c").mkdir()
    (folder / "in c" / "sum.h").write_text("#define TWICE (2 * SUM)\n")
    (folder / "x y").mkdir()
    (folder / "x y" / "$main #2.c").write_text(
        '#include "sum.h"\nint sum(void) { return TWICE; }\n'
    )
    out = tmp_path / "out # $X"
    assert fvmkit("compose", description, "--out", out).returncode == 0
    result = fvmkit("build", out)
    assert result.returncode == 0, result.stderr
