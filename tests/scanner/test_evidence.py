"""A program is accepted only where its code was found, and the report says how."""

from __future__ import annotations

import json
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from scanner.cli import scan
from scanner.report.evidence import Evidence
from scanner.report.finding import FileReport
from scanner.scan import scan_bytes
from tests.scanner.conftest import Build
from tests.scanner.elf_writer import FLASH, READ_WRITE, Header, Load, halfwords, write_elf

Strip = Callable[[Path], Path]

RISCV = 243
SG = halfwords(0xE97F, 0xE97F)

FIRMWARE = """
.section .isr_vector, "a"
.word 0x20001000, _start, nmi, fault, 0, 0, 0, 0, 0, 0, 0, fault, 0, 0, fault, tick
.text
.thumb_func
_start: bl set_up
 bl work
 b .
.thumb_func
nmi: bx lr
.thumb_func
fault: b .
.thumb_func
tick: push {r4, lr}
 bl work
 pop {r4, pc}
.thumb_func
set_up: push {r3, lr}
 ldr r0, =work
 ldr r1, =alone
 bl work
 pop {r3, pc}
.thumb_func
work: push {r4, r5, r6, lr}
 adds r0, #1
 pop {r4, r5, r6, pc}
.ltorg
.thumb_func
alone: push {r4, lr}
 bl work
 pop {r4, pc}
.ltorg
.thumb_func
orphan: push {r4, r5, lr}
 bl work
 pop {r4, r5, pc}
"""


def evidence(report: FileReport) -> Evidence:
    assert report.evidence is not None
    return report.evidence


def reasons(report: FileReport) -> list[tuple[str, str]]:
    return [(f.rule, f.text) for f in report.findings if f.rejects(strict=False)]


def run(*arguments: object) -> Result:
    return CliRunner().invoke(scan, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def firmware(build: Build, strip: Strip) -> Path:
    """A stripped program, linked to 0x08000000."""
    return strip(build(FIRMWARE))


@pytest.fixture(scope="module")
def raw(firmware: Path) -> bytes:
    """The same without anything that says where it lies."""
    binary = firmware.with_suffix(".bin")
    command = ["arm-none-eabi-objcopy", "-O", "binary", firmware.name, binary.name]
    subprocess.run(command, cwd=firmware.parent, check=True)
    return binary.read_bytes()


@pytest.mark.parametrize("arch", ["armv6m", "armv7em", "armv8m.main", "rv32imac"])
@pytest.mark.parametrize("content", [bytes(4096), b"\xff" * 4096], ids=["zeros", "ones"])
def test_memory_without_code_is_no_program(arch: str, content: bytes) -> None:
    report = scan_bytes(content, arch=arch, base=FLASH)
    assert [rule for rule, _ in reasons(report)] == ["no-code"]
    machine = RISCV if arch.startswith("rv") else 40
    elf = write_elf(
        [Load(FLASH, content)], entry=FLASH + (machine == 40), header=Header(machine=machine)
    )
    assert "no-code" in [rule for rule, _ in reasons(scan_bytes(elf, arch=arch))]


def test_code_for_arm_state_is_no_program() -> None:
    """The vectors of an ARM7 are branches."""
    words = [0xE59FF018] * 8 + [0x40] * 8 + [0xE3A00000, 0xE12FFF1E] * 64
    code = struct.pack(f"<{len(words)}I", *words)
    assert [rule for rule, _ in reasons(scan_bytes(code, base=0))] == ["no-code"]
    report = scan_bytes(write_elf([Load(0x8000, code)], entry=0x8000))
    assert reasons(report) == [
        ("no-code", "where it says that it starts is no code of this core: 0x00008000")
    ]


def test_what_control_comes_to_is_counted(firmware: Path) -> None:
    report = scan_bytes(firmware.read_bytes())
    assert report.verdict == "accept"
    found = evidence(report)
    assert (found.entries, found.vectors, found.functions) == (1, 4, 0)
    assert found.unreached == 8  # orphan
    assert found.reached < found.executable


def test_with_symbols_functions_are_ways_in(build: Build) -> None:
    source = "int twice(int x) { return 2 * x; } void _start(void) { for (;;) ; }"
    found = evidence(scan_bytes(build(source, "-Os", c=True).read_bytes()))
    assert (found.functions, found.unreached) == (2, 0)
    assert found.reached == found.executable


def test_functions_of_riscv_that_nothing_calls_are_counted() -> None:
    ret, down, up = "8280", "4111", "4101"  # c.ret; c.addi sp, -16; c.addi sp, 16
    code = bytes.fromhex(ret + (down + "0100" + up + ret) * 3 + down + "0100" + "6101" + ret)
    found = evidence(scan_bytes(code, arch="rv32imac", base=0))
    assert found.unreached == 3 * 6


def test_where_a_raw_binary_lies_is_found(raw: bytes, tmp_path: Path) -> None:
    report = scan_bytes(raw)
    assert report.verdict == "accept"
    assert evidence(report).remarks == (
        "guessed base 0x08000000: 3 of 4 code pointers lead to beginnings of functions there",
    )
    (tmp_path / "firmware.bin").write_bytes(raw)
    (tmp_path / "picture.bin").write_bytes(bytes(range(256)) * 8)
    result = run(tmp_path)
    assert (result.exit_code, "firmware.bin: accepted" in result.stdout) == (0, True)
    assert "not scanned, no program: " in result.stderr
    refused = run("--no-guess", tmp_path / "firmware.bin")
    assert (refused.exit_code, "nothing says where it lies" in refused.stdout) == (1, True)


def test_a_binary_does_not_lie_where_its_pointers_lead_nowhere(raw: bytes) -> None:
    for base in (FLASH + 0x4000, FLASH - 0x4000):
        assert [rule for rule, _ in reasons(scan_bytes(raw, base=base))] == ["no-code"]


def test_a_wrong_base_inside_the_binary_is_told(build: Build) -> None:
    """The pointers lead into it, but into the middle of functions."""
    bodies = [" + ".join([f"g({n}u)"] * (1 + n * n % 7)) for n in range(100)]
    functions = "".join(f"unsigned f{n}(void) {{ return {it}; }}\n" for n, it in enumerate(bodies))
    handlers = ", ".join(f"(void *)f{n}" for n in range(20, 35))
    source = (
        'unsigned g(unsigned x) { __asm volatile(""); return x + 1; }\n'
        f"{functions} void _start(void) {{ for (;;) ; }}\n"
        '__attribute__((section(".isr_vector")))\n'
        f"void *const vectors[] = {{(void *)0x20001000, {handlers}}};\n"
    )
    elf = build(source, "-O1", "-fno-inline", "-fno-optimize-sibling-calls", c=True)
    binary = elf.with_suffix(".bin")
    subprocess.run(["arm-none-eabi-objcopy", "-O", "binary", elf, binary], check=True)
    data = binary.read_bytes()
    assert reasons(scan_bytes(data, base=FLASH)) == []
    ((rule, text),) = reasons(scan_bytes(data, base=FLASH - 0x80))
    assert rule == "raw-range"
    assert "base 0x08000000: " in text


def test_the_rules_of_every_core_that_fits_apply() -> None:
    """SG is a door on ARMv8-M, and a strange load on the others."""
    code = halfwords(0xE003) + SG + SG + halfwords(0x4770)
    report = scan_bytes(code, base=FLASH, entries=(FLASH,))
    assert (report.arch, report.besides) == ("armv7em", ("armv6m", "armv7m", "armv8m.main"))
    assert {(f.rule, f.certainty) for f in report.findings} == {("sg", "possible")}
    reached = scan_bytes(SG + halfwords(0x4770), base=FLASH, entries=(FLASH,))
    assert (reached.arch, reached.verdict) == ("armv8m.main", "reject")
    named = scan_bytes(code, base=FLASH, entries=(FLASH,), arch="armv7em")
    assert (named.besides, named.verdict) == ((), "accept")


@pytest.mark.parametrize(
    ("code", "cores"),
    [
        (halfwords(0x2000, 0x4770), {"armv6m", "armv7m", "armv7em", "armv8m.main"}),
        (halfwords(0xB100, 0x4770), {"armv7m", "armv7em", "armv8m.main"}),  # cbz
        (halfwords(0xEE30, 0x0A20, 0x4770), {"armv7em", "armv8m.main"}),  # vadd.f32
        (halfwords(0xF380, 0x880A, 0x4770), {"armv8m.main"}),  # msr msplim, r0
        (halfwords(0xE8D0, 0x1FAF, 0x4770), {"armv8m.main"}),  # lda r1, [r0]
        (halfwords(0xE8D0, 0x1F4F, 0x4770), {"armv7m", "armv7em", "armv8m.main"}),  # ldrexb
    ],
)
def test_what_a_program_uses_tells_the_core(code: bytes, cores: set[str]) -> None:
    report = scan_bytes(code, base=FLASH, entries=(FLASH,))
    assert {report.arch, *report.besides} == cores


def test_documents_have_the_evidence(firmware: Path) -> None:
    (file,) = json.loads(run("--json", firmware).stdout)["files"]
    assert file["evidence"]["vectors"] == 4
    assert "vectors" in run("--format", "html", firmware).stdout


def test_control_that_leaves_the_file_is_told(build: Build) -> None:
    """A direct call, a table's function and a literal: into a ROM, RAM, a boot loader."""
    source = """
    void rom(void); void boot(void);
    static void (*volatile kept)(void);
    int _start(void) {
        rom();
        ((void (*)(void))0x20000101)();
        kept = boot;
        return 0;
    }
    """
    symbols = ("-Wl,--defsym=rom=0x08800001", "-Wl,--defsym=boot=0x1fff0001")
    report = scan_bytes(build(source, "-O1", *symbols, c=True).read_bytes())
    told = {f.text.split(",")[0] for f in report.findings if f.rule == "outside"}
    assert told == {"control goes to 0x08800000", "control goes to 0x20000100"}
    assert report.verdict == "warn"


def test_code_that_start_up_puts_into_ram_is_judged() -> None:
    """It stands among initialised data, in a segment that isn't executable."""
    calls = halfwords(0xF000, 0xF87E, 0xE7FE)  # bl to 0x100 behind the code; b .
    fast = Load(FLASH + 0x100, halfwords(0xB672, 0x4770), READ_WRITE, load_address=FLASH + 0x200)
    report = scan_bytes(write_elf([Load(FLASH, calls), fast], entry=FLASH + 1))
    assert [(f.rule, f.certainty) for f in report.findings] == [("cps", "certain")]
    idle = Load(FLASH, halfwords(0xE7FE))
    assert scan_bytes(write_elf([idle, fast], entry=FLASH + 1)).verdict == "accept"


def test_a_jump_of_riscv_that_leaves_the_file_is_told() -> None:
    code = bytes.fromhex("6f100000 8280")  # jal x0, +0x1000; ret
    report = scan_bytes(code, arch="rv32imac", base=0)
    assert [(f.rule, f.text) for f in report.findings] == [
        ("outside", "control goes to 0x00001000, where the file has no code")
    ]


def test_a_flood_of_jumps_out_of_the_file_is_counted() -> None:
    code = halfwords(*[0xD1FE, 0xF400, 0x9000] * 3000, 0x4770)  # bne .; b.w far away
    report = scan_bytes(write_elf([Load(FLASH, code)], entry=FLASH + 1))
    assert len([f for f in report.findings if f.rule == "outside"]) <= 1001
