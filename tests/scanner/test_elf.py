"""Files that can't be trusted: refused with the reason, whatever is wrong with them."""

from __future__ import annotations

import os
import struct
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scanner import scan_file
from scanner.image.elf import load_elf
from scanner.policy import Grant, Policy
from scanner.report.errors import MissingError
from scanner.report.finding import FileReport
from scanner.scan import scan_bytes
from tests.scanner.conftest import Build
from tests.scanner.elf_writer import (
    FLASH,
    READ_ONLY,
    READ_WRITE,
    READ_WRITE_EXECUTE,
    Header,
    Load,
    halfwords,
    write_elf,
)

CODE = halfwords(0xBF00, 0x4770)


def scan(elf: bytes) -> FileReport:
    return scan_bytes(elf, "x.elf", Policy())


def reasons(elf: bytes) -> list[tuple[str, str]]:
    report = scan(elf)
    assert report.verdict == "reject"
    return [(finding.rule, finding.text) for finding in report.findings]


@pytest.mark.parametrize(
    ("elf", "rule", "text"),
    [
        (b"", "empty", "the file is empty"),
        (b"\x7fELF" + bytes(20), "elf-malformed", "truncated: 24 bytes end inside the ELF header"),
        (write_elf([Load(FLASH, CODE)], header=Header(elf_class=2)), "wrong-machine",
         "not a 32-bit program"),
        (write_elf([Load(FLASH, CODE)], header=Header(byte_order=2)), "wrong-machine",
         "not a little-endian program"),
        (write_elf([Load(FLASH, CODE)], header=Header(machine=62)), "wrong-machine",
         "ELF machine 62 is no core that the rules know"),
        (write_elf([], header=Header(kind=1)), "elf-malformed",
         "an object file: its addresses are not known before a link"),
        (write_elf([Load(FLASH, CODE)], header=Header(kind=3)), "elf-malformed",
         "not a program linked to fixed addresses"),
        (write_elf([]), "elf-malformed", "no program headers: not a linked program"),
        (write_elf([Load(FLASH, CODE)], header=Header(program_headers=60000)), "elf-malformed",
         "60000 program headers; at most 1024 are read"),
        (write_elf([Load(FLASH, CODE)], header=Header(program_headers=100)), "elf-malformed",
         "the program header table ends at byte 3252 of a file of 88 bytes: truncated, or its size"
         " lies"),
        (write_elf([Load(FLASH, CODE)], header=Header(section_offset=52, sections=9)),
         "elf-malformed",
         "the section header table ends at byte 412 of a file of 88 bytes: truncated, or its size"
         " lies"),
        (write_elf([Load(FLASH, CODE, file_size=400)]), "elf-malformed",
         "segment 0 ends at byte 484 of a file of 88 bytes: truncated, or its size lies"),
        (write_elf([Load(FLASH, CODE, memory_size=2)]), "elf-malformed",
         "4 bytes in the file for 2 bytes of memory"),
        (write_elf([Load(0xFFFFFFFE, CODE)]), "elf-malformed",
         "[0xfffffffe, 0x100000002) passes the end of the address space"),
        (write_elf([Load(FLASH, CODE)], entry=0x20000001), "elf-malformed",
         "the entry 0x20000001 is in no segment of the file"),
        (write_elf([Load(FLASH, CODE, READ_WRITE)]), "elf-malformed", "no executable segment"),
        (write_elf([Load(FLASH, CODE), Load(FLASH + 2, CODE)]), "elf-overlap",
         "[0x08000000, 0x08000004) and [0x08000002, 0x08000006) overlap in memory"),
        (write_elf([Load(FLASH, CODE), Load(0x20000000, CODE, READ_WRITE, FLASH + 2)]),
         "elf-overlap",
         "[0x08000000, 0x08000004) and [0x08000002, 0x08000006) overlap in flash"),
    ],
)  # fmt: skip
def test_each_reason(elf: bytes, rule: str, text: str) -> None:
    assert (rule, text) in reasons(elf)


def test_an_empty_segment_may_stand_behind_the_file() -> None:
    """So do linkers write a segment of zeros: there is nothing of it to be read."""
    bss = Load(0x20000000, b"", READ_WRITE, memory_size=0x1000)
    elf = bytearray(write_elf([Load(FLASH, CODE), bss], entry=FLASH + 1))
    struct.pack_into("<I", elf, 52 + 32 + 4, 0x20000)
    assert scan(bytes(elf)).verdict == "accept"
    struct.pack_into("<I", elf, 52 + 32 + 16, 1)
    assert ("elf-malformed", True) in {
        (f.rule, "segment 1 ends at byte" in f.text) for f in scan(bytes(elf)).findings
    }


def test_a_sound_program_is_accepted() -> None:
    bss = Load(0x20000000, b"", READ_WRITE, memory_size=0x1000)
    assert scan(write_elf([Load(FLASH, CODE), bss], entry=FLASH + 1)).verdict == "accept"


def test_what_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match=r"nothing\.elf: can't open: No such file"):
        scan_file(tmp_path / "nothing.elf")
    with pytest.raises(MissingError, match="not a regular file"):
        scan_file(tmp_path)
    with pytest.raises(MissingError, match="not a regular file"):
        scan_file(os.devnull)


def test_code_in_an_untrusted_file_is_named_all_the_same() -> None:
    loads = [Load(FLASH, halfwords(0xB672, 0x4770)), Load(FLASH + 2, halfwords(0xBF00))]
    elf = write_elf(loads, entry=FLASH + 1)
    assert {rule for rule, _ in reasons(elf)} == {"elf-overlap", "cps"}


def test_memory_that_is_writable_and_executable_is_the_policys_affair() -> None:
    elf = write_elf([Load(FLASH, CODE, READ_WRITE_EXECUTE)], entry=FLASH + 1)
    found = [(f.rule, f.text) for f in scan(elf).findings]
    assert found == [("wx-segment", "[0x08000000, 0x08000004) is writable and executable")]
    assert scan(elf).verdict == "warn"
    for writable, verdict in ((False, "accept"), (True, "reject")):
        grants = (Grant("flash", "code", FLASH, 0x100, writable),)
        assert scan_bytes(elf, "x", Policy(domain="vm", grants=grants)).verdict == verdict


def test_one_content_twice_or_none_overlaps_nothing() -> None:
    code = Load(FLASH + 0x40, CODE)
    zeros = Load(FLASH, b"", READ_WRITE, file_size=0, memory_size=0x100)
    again = Load(FLASH + 0x42, CODE[2:])
    for loads in ([code, zeros], [code, again]):
        assert scan(write_elf(loads, entry=FLASH + 0x41)).verdict == "accept"


def test_an_entry_among_constants_is_followed() -> None:
    """Some linkers put start-up code into a segment that isn't executable."""
    loads = [Load(FLASH, CODE), Load(FLASH + 0x100, halfwords(0xB672, 0x4770), READ_ONLY)]
    assert [rule for rule, _ in reasons(write_elf(loads, entry=FLASH + 0x101))] == ["cps"]


@pytest.fixture(scope="module")
def real_elf(build: Build) -> bytes:
    """A program with symbols, debug information, literals and findings of most kinds."""
    source = """
    volatile unsigned x;
    static void mask(void) { __asm volatile("cpsid i\\n msr basepri, r0\\n svc 0\\n wfi"); }
    int main(void) { mask(); *(volatile unsigned *)0xE000ED04 = 1u << 28; return x * 0.5; }
    void _start(void) { main(); for (;;) ; }
    """
    return build(source, "-Os", c=True).read_bytes()


def test_truncated_at_every_byte(real_elf: bytes) -> None:
    step = max(1, len(real_elf) // 1500)
    for size in [*range(0, 512), *range(512, len(real_elf), step), len(real_elf) - 1]:
        assert scan(real_elf[:size]).verdict == "reject", size


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_flipped_bytes_never_crash(real_elf: bytes, data: st.DataObject) -> None:
    elf = bytearray(real_elf)
    for _ in range(data.draw(st.integers(1, 8))):
        position = data.draw(st.integers(0, len(elf) - 1) | st.integers(0, 200))
        elf[position] = data.draw(st.integers(0, 255))
    assert scan(bytes(elf)).verdict in ("accept", "warn", "reject")


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_lying_headers_never_crash(real_elf: bytes, data: st.DataObject) -> None:
    """Words of the headers replaced by the values that overflow sums and loops."""
    elf = bytearray(real_elf)
    sections = struct.unpack_from("<I", elf, 32)[0]
    words = [*range(24, 52, 4), *range(52, 180, 4), *range(sections, len(elf) - 4, 4)]
    for _ in range(data.draw(st.integers(1, 4))):
        value = data.draw(st.sampled_from([0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFF]))
        struct.pack_into("<I", elf, data.draw(st.sampled_from(words)), value)
    assert scan(bytes(elf)).verdict in ("accept", "warn", "reject")


@settings(max_examples=200, deadline=None)
@given(body=st.binary(max_size=600))
def test_random_code_never_crashes(body: bytes) -> None:
    scan(write_elf([Load(FLASH, body)], entry=FLASH + 1))


def with_section(name: str, content: bytes, flags: int = 0, kind: int = 1) -> bytes:
    """A program whose only section besides the names is the given one."""
    names = b"\0.shstrtab\0" + name.encode() + b"\0"
    plain = write_elf([Load(FLASH, halfwords(0xB672, 0x4770))], entry=FLASH + 1)
    at = len(plain)
    table = at + len(content) + len(names)
    header = Header(section_offset=table, sections=3)
    elf = write_elf([Load(FLASH, halfwords(0xB672, 0x4770))], entry=FLASH + 1, header=header)
    elf = elf[:50] + struct.pack("<H", 1) + elf[52:]
    entries = [
        bytes(40),
        struct.pack("<10I", 1, 3, 0, 0, at + len(content), len(names), 0, 0, 1, 0),
        struct.pack("<10I", 11, kind, flags, 0, at, len(content), 0, 0, 1, 0),
    ]
    return elf + content + names + b"".join(entries)


@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    "content",
    [
        b"A" + bytes(64),
        b"A" + struct.pack("<I", 5) + b"aeabi\0\x01" + struct.pack("<I", 0),
        b"A" + struct.pack("<I", 0xFFFFFFFF) + b"aeabi\0\x01" + b"\xff" * 200000,
        b"A" + struct.pack("<I", 20) + b"aeabi\0\x01" + struct.pack("<I", 9) + b"\x06",
    ],
    ids=["zeros", "no length", "endless number", "cut off"],
)
def test_lying_build_attributes(content: bytes) -> None:
    report = scan(with_section(".ARM.attributes", content, kind=0x70000003))
    assert (report.verdict, report.arch) == ("reject", "armv7em")


def line_unit(version: int, rest: bytes) -> bytes:
    body = struct.pack("<H", version) + rest
    return struct.pack("<I", len(body)) + body


@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    "content",
    [
        b"\0" * 100000,
        b"\xff" * 100000,
        line_unit(4, struct.pack("<I", 0) + b"\x01\x01\x01\xfb\x00\x0d" + b"\xff" * 100000),
        line_unit(5, b"\x04\x00" + struct.pack("<I", 30) + b"\x01\x01\x01\xfb\x0e\x01"
                  + b"\x00" + b"\xff\xff\xff\xff\x7f" + b"\x00" * 30),
    ],
    ids=["zeros", "ones", "no line range", "endless directory count"],
)  # fmt: skip
def test_lying_line_programs(content: bytes) -> None:
    (finding,) = scan(with_section(".debug_line", content)).findings
    assert finding.source is None


@pytest.mark.timeout(120)
def test_a_compressed_section_that_explodes() -> None:
    bomb = struct.pack("<3I", 1, 1 << 31, 1) + zlib.compress(bytes(8 << 20))
    (finding,) = scan(with_section(".debug_line", bomb, flags=0x800)).findings
    assert finding.rule == "cps"


@pytest.mark.timeout(120)
def test_names_without_an_end() -> None:
    """Sixteen thousand sections whose names begin in two megabytes without a zero byte."""
    count, names = 16000, b"A" * (2 << 20)
    code = [Load(FLASH, halfwords(0xB672, 0x4770))]
    at = len(write_elf(code))
    header = Header(section_offset=at + len(names), sections=count)
    elf = write_elf(code, entry=FLASH + 1, header=header)
    entries = [bytes(40), struct.pack("<10I", 0, 3, 0, 0, at, len(names), 0, 0, 1, 0)]
    entries += [struct.pack("<10I", 1, 1, 0, 0, at, 4, 0, 0, 1, 0)] * (count - 2)
    (finding,) = scan(
        elf[:50] + struct.pack("<H", 1) + elf[52:] + names + b"".join(entries)
    ).findings
    assert finding.rule == "cps"


@pytest.mark.timeout(120)
@pytest.mark.parametrize("version", [4, 5])
def test_long_names_for_each_of_many_files(version: int) -> None:
    """The names of a line program, joined with its directories, would fill gigabytes."""
    long = b"A" * (1 << 17) + b"\0"
    start = struct.pack("<I", 0) + b"\x01\x01\x01\xfb\x0e\x0d" + bytes(12)
    if version == 4:
        rest = start + long + b"\0" + b"a\0\1\0\0" * 30000 + b"\0"
    else:
        forms = b"\x02\x01\x08\x02\x0b"
        rest = b"\4\0" + start + b"\1\1\x08\1" + long + forms + b"\xb0\xea\x01" + b"a\0\0" * 30000
    elf = with_section(".debug_line", line_unit(version, rest))
    tracemalloc.start()
    try:
        scan(elf)
        assert tracemalloc.get_traced_memory()[1] < 150 << 20
    finally:
        tracemalloc.stop()


def test_many_segments_over_the_same_bytes() -> None:
    data = bytes(4096)
    elf = bytearray(
        write_elf([Load(FLASH + 0x1000 * n, data if n == 0 else b"") for n in range(64)])
    )
    for number in range(1, 64):
        offset = 52 + 32 * number
        struct.pack_into("<I", elf, offset + 4, 52 + 32 * 64)
        struct.pack_into("<II", elf, offset + 16, 4096, 4096)
    assert ("elf-malformed", "the segments claim the same bytes of the file over and over") in (
        reasons(bytes(elf))
    )


@pytest.mark.parametrize(
    ("cpu", "arch"),
    [("cortex-m3", "armv7m"), ("cortex-m4", "armv7em"), ("cortex-m7", "armv7em")],
)
def test_the_architecture_comes_from_the_file(build: Build, cpu: str, arch: str) -> None:
    assert scan_file(build(".thumb_func\n_start: bx lr\n", cpu=cpu)).arch == arch


def test_code_of_another_core_is_refused(build: Build) -> None:
    a7 = build(".thumb_func\n_start: bx lr\n", cpu="cortex-a7")
    report = scan_file(a7)
    assert [f.rule for f in report.findings] == ["wrong-machine"]
    assert report.findings[0].text.startswith("built for armv7a; the rules know armv6m, armv7m")
    assert scan_file(a7, arch="armv7em").verdict == "accept"
    m33 = build(".thumb_func\n_start: bx lr\n", cpu="cortex-m33")
    assert scan_file(m33).verdict == "accept"
    assert scan_file(m33, Policy(arch="armv7em")).findings[0].rule == "wrong-machine"
    m4 = build(".thumb_func\n_start: bx lr\n")
    assert scan_file(m4, Policy(arch="armv7m")).verdict == "reject"
    assert scan_file(m4, Policy(arch="armv7em")).verdict == "accept"


def test_a_file_without_section_headers_is_scanned(build: Build) -> None:
    elf = bytearray(build(".thumb_func\n_start: cpsid i\n bx lr\n").read_bytes())
    struct.pack_into("<I", elf, 32, 0)
    struct.pack_into("<HH", elf, 48, 0, 0)
    image = load_elf(bytes(elf))
    assert image.symbols is None
    assert scan(bytes(elf)).verdict == "reject"


@pytest.mark.parametrize(
    ("field", "change"),
    [(1, lambda _kind: 8), (3, lambda address: address + 64), (4, lambda offset: offset - 8)],
    ids=["content", "address", "offset"],
)
def test_sections_say_what_segments_say(
    build: Build, field: int, change: Callable[[int], int]
) -> None:
    """objcopy makes an image by sections, this scanner and a debugger's load go by segments."""
    elf = bytearray(build(".thumb_func\n_start: bx lr\n .space 64, 0x11\n").read_bytes())
    assert scan(bytes(elf)).verdict == "accept"
    (table,) = struct.unpack_from("<I", elf, 32)
    (count,) = struct.unpack_from("<H", elf, 48)
    places = [table + 40 * number for number in range(count)]
    code = next(at for at in places if struct.unpack_from("<I", elf, at + 8)[0] & 6 == 6)
    (value,) = struct.unpack_from("<I", elf, code + 4 * field)
    struct.pack_into("<I", elf, code + 4 * field, change(value))
    report = scan(bytes(elf))
    assert (report.verdict, report.findings[0].rule) == ("reject", "elf-malformed")
    assert "sections and segments disagree" in report.findings[0].text


def test_a_segment_that_ends_before_its_section_is_refused(build: Build) -> None:
    elf = bytearray(build(".thumb_func\n_start: bx lr\n .space 64, 0x11\n").read_bytes())
    (table,) = struct.unpack_from("<I", elf, 28)
    (size,) = struct.unpack_from("<I", elf, table + 16)
    struct.pack_into("<I", elf, table + 16, size - 32)
    assert "sections and segments disagree" in scan(bytes(elf)).findings[0].text


def test_more_sections_and_segments_than_any_linker_makes_are_refused() -> None:
    loads = [Load(FLASH + 4 * number, CODE) for number in range(1024)]
    bare = write_elf(loads, entry=FLASH + 1)
    header = Header(section_offset=len(bare), sections=2000)
    section = struct.pack("<10I", 0, 1, 2, FLASH, len(bare) - 4, 4, 0, 0, 4, 0)
    report = scan(write_elf(loads, entry=FLASH + 1, header=header) + section * 2000)
    assert any("no linker's output" in finding.text for finding in report.findings)


@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    "pattern",
    [
        halfwords(0xF04F, 0x4060),  # mov.w r0, #0xe0000000
        halfwords(0x4800, 0x6001, 0xED04, 0xE000),  # ldr, str, their literal
        halfwords(0xB672),
        halfwords(0xF000, 0xF800),  # bl to the next
        halfwords(0xBF01),
        halfwords(0xE7FF),  # b to the next
        halfwords(0x28FE, 0xD8FF, 0xE8DF, 0xF000),  # a table of 255 cases: what comes behind it
    ],
    ids=["constants", "accesses", "masks", "calls", "conditions", "jumps", "tables"],
)
def test_a_flood_takes_bounded_time(pattern: bytes) -> None:
    code = pattern * ((1 << 20) // len(pattern))
    report = scan(write_elf([Load(FLASH, code)], entry=FLASH + 1))
    assert len([f for f in report.findings if f.rule != "no-code"]) <= 1001
