"""Function names and source lines, against binutils."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from scanner import scan_file
from scanner.image.demangle import readable
from scanner.image.elf import load_elf
from tests.scanner.conftest import Build

SOURCE = """
static inline __attribute__((always_inline)) void mask(void) { __asm volatile("cpsid i"); }
static int helper(int x) { mask(); return x * 3; }
int twice(int x) { return helper(x) + helper(x + 1); }
void unused(void) { mask(); }
void _start(void) {
    mask();
    twice(3);
    for (;;) ;
}
"""


def addr2line(elf: Path, address: int) -> str:
    command = ["arm-none-eabi-addr2line", "-e", elf.name, hex(address)]
    answer = subprocess.run(command, cwd=elf.parent, check=True, capture_output=True, text=True)
    path, line = place(answer.stdout)
    return f"{path}:{line}"


def place(answer: str) -> tuple[str, str]:
    """File name and line of an answer that may end in ` (discriminator 2)`."""
    path, line = answer.strip().split(" (")[0].rsplit(":", 1)
    return Path(path).name, line


@pytest.mark.parametrize("version", ["-gdwarf-2", "-gdwarf-3", "-gdwarf-4", "-gdwarf-5"])
@pytest.mark.parametrize("flags", [("-O0",), ("-O2", "-ffunction-sections", "-Wl,--gc-sections"),
                                   ("-Os", "-gz=zlib")])  # fmt: skip
def test_lines_agree_with_addr2line(build: Build, version: str, flags: tuple[str, ...]) -> None:
    elf = build(SOURCE, version, *flags, c=True)
    findings = scan_file(elf).findings
    assert len(findings) >= 2
    for finding in findings:
        assert finding.address is not None
        assert finding.source == addr2line(elf, finding.address)


def test_every_address_of_a_library_program(build: Build) -> None:
    """Many units, some compiled elsewhere and in other versions of the format."""
    source = """
    #include <stdio.h>
    int main(void) { return printf("%f\\n", 1.5); }
    void _start(void) { main(); }
    """
    elf = build(source, "-O2", "--specs=nosys.specs", "-Wl,-u,_printf_float", c=True)
    image = load_elf(elf.read_bytes())
    (code,) = [segment for segment in image.segments if segment.executable]
    addresses = range(code.address, code.address + len(code.data), 46)
    command = ["arm-none-eabi-addr2line", "-e", elf.name, *map(hex, addresses)]
    answer = subprocess.run(command, cwd=elf.parent, check=True, capture_output=True, text=True)
    assert image.lines is not None
    lines = image.lines.locate(addresses)
    known = 0
    for address, expected in zip(addresses, answer.stdout.splitlines(), strict=True):
        path, number = place(expected)
        if address in lines and number not in ("?", "0"):
            known += 1
            file, line = lines[address].rsplit(":", 1)
            assert (Path(file).name, line) == (path, number), hex(address)
        elif number not in ("?", "0"):
            pytest.fail(f"no line for {address:#x}: {expected}")
    assert known > 100


def test_labels_name_code_that_has_no_function(build: Build) -> None:
    elf = build(".thumb_func\n_start: b middle\nmiddle: cpsid i\n bx lr\n")
    (finding,) = scan_file(elf).findings
    assert (finding.function, finding.source) == ("middle", f"{elf.stem}.s:7")


def test_of_aliases_the_global_one_is_named(build: Build) -> None:
    elf = build(
        ".weak fallback\n.thumb_set fallback, real\n.global real\n.type real, %function\n"
        ".thumb_func\n_start: b real\n real: cpsid i\n bx lr\n.size real, . - real\n"
    )
    assert [f.function for f in scan_file(elf).findings] == ["real"]


def test_names_cannot_drive_a_terminal(build: Build) -> None:
    elf = build('.thumb_func\n_start: b "x\x1b[31m"\n"x\x1b[31m": cpsid i\n bx lr\n')
    assert [f.function for f in scan_file(elf).findings] == ["x?[31m"]


def test_labels_inside_of_a_function_are_not_its_name(build: Build) -> None:
    labels = "".join(f"lab{number}: nop\n" for number in range(100))
    elf = build(
        f".global f\n.type f, %function\n.thumb_func\n_start: b f\nf: nop\n{labels}"
        ' cpsid i\n".L9":\n bx lr\n.size f, . - f\n'
    )
    assert [f.function for f in scan_file(elf).findings] == ["f"]


def test_what_an_assembler_keeps_for_itself_names_nothing(build: Build) -> None:
    source = ".thumb_func\n_start: nop\n.Lpcrel_hi0: cpsid i\n bx lr\n"
    elf = build(source, "-Wa,--keep-locals", "-Wl,--discard-none")
    names = subprocess.run(["arm-none-eabi-nm", elf], check=True, capture_output=True).stdout
    assert b".Lpcrel_hi0" in names
    assert [f.function for f in scan_file(elf).findings] == ["_start"]


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("_ZN6Driver4initEi", "Driver::init(int)"),
        ("_ZNK3boxILi3EE3getEv", "box<3>::get() const"),
        ("_ZN4core3ptr17h0123456789abcdefE", "core::ptr"),
        ("_RNvC7mycrate3foo", "mycrate::foo"),
        ("_Zone", "_Zone"),
        ("_Random_seed", "_Random_seed"),
    ],
)
def test_names_are_those_of_the_source(build: Build, symbol: str, name: str) -> None:
    elf = build(f".thumb_func\n_start: b {symbol}\n{symbol}: cpsid i\n bx lr\n")
    assert [f.function for f in scan_file(elf).findings] == [name]


def test_a_name_that_means_gigabytes_stays_as_it_is() -> None:
    doubled = "".join(f"S_IS{digit}_S{digit}_E" for digit in "0123456789ABCDEFGHIJKLMNOPQRSTU")
    name = f"_Z1fSt4pairIiiE{doubled}"
    assert readable(name) == name
    assert readable("_Z1fIJ" + "i" * 400 + "EEvDpDpDpT_").startswith("_Z1f")
