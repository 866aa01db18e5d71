"""Intel HEX, S-records, UF2 and raw binaries: read as they mean it, refused where they lie."""

from __future__ import annotations

import os
import random
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scanner.image.load import load_image, no_program
from scanner.image.model import Image
from scanner.policy import Policy
from scanner.report.finding import FileReport
from scanner.scan import scan_bytes, scan_file
from tests.scanner.conftest import Build
from tests.scanner.elf_writer import FLASH, halfwords

CODE = halfwords(0x1000, 0x2000, 0x0009, 0x0800, 0xB672, 0xF3EF, 0x8010, 0x4770)
"""Initial SP, reset vector FLASH + 8; cpsid i; mrs r0, primask; bx lr."""

APP = FLASH + 0x10000

Write = Callable[[list[tuple[int, bytes]]], bytes]


def hex_record(kind: int, address: int, content: bytes = b"") -> bytes:
    body = struct.pack(">BHB", len(content), address, kind) + content
    return b":" + (body + bytes([-sum(body) & 0xFF])).hex().upper().encode() + b"\n"


HEX_END = hex_record(1, 0)


def hex_file(pieces: list[tuple[int, bytes]]) -> bytes:
    lines = []
    for address, content in pieces:
        lines.append(hex_record(4, 0, struct.pack(">H", address >> 16)))
        lines.append(hex_record(0, address & 0xFFFF, content))
    return b"".join(lines) + HEX_END


def srec_record(kind: int, width: int, address: int, content: bytes = b"") -> bytes:
    body = bytes([width + len(content) + 1]) + address.to_bytes(width, "big") + content
    return b"S%d" % kind + (body + bytes([~sum(body) & 0xFF])).hex().upper().encode() + b"\r\n"


SREC_END = srec_record(7, 4, 0)


def srec_file(pieces: list[tuple[int, bytes]]) -> bytes:
    head = srec_record(0, 2, 0, b"program")
    return head + b"".join(srec_record(3, 4, *piece) for piece in pieces) + SREC_END


def uf2_block(
    number: int, count: int, address: int, content: bytes, flags: int = 0x2000,
    family: int = 0x57755A57, size: int | None = None,
) -> bytes:  # fmt: skip
    length = len(content) if size is None else size
    head = struct.pack("<8s6I", b"UF2\nWQ]\x9e", flags, address, length, number, count, family)
    return head + content.ljust(476, b"\0") + b"\x30\x6f\xb1\x0a"


def uf2_file(pieces: list[tuple[int, bytes]]) -> bytes:
    return b"".join(uf2_block(n, len(pieces), *piece) for n, piece in enumerate(pieces))


WRITERS: dict[str, Write] = {"hex": hex_file, "srec": srec_file, "uf2": uf2_file}


def scan(data: bytes, **options: Any) -> FileReport:
    return scan_bytes(data, "x", Policy(), **options)


def memory(image: Image) -> dict[int, bytes]:
    return {segment.address: bytes(segment.data) for segment in image.segments}


@pytest.mark.parametrize("write", WRITERS.values(), ids=list(WRITERS))
@pytest.mark.parametrize("cut", [4, 8, 10, 11, 12, 14])
def test_instructions_straddle_records(write: Write, cut: int) -> None:
    pieces = [(FLASH, CODE[:cut]), (FLASH + cut, CODE[cut:])]
    for order in (pieces, pieces[::-1]):
        image = load_image(write(order))
        assert memory(image) == {FLASH: CODE}
        report = scan(write(order))
        assert [(f.rule, f.address, f.offset, f.certainty) for f in report.findings] == [
            ("cps", FLASH + 8, None, "certain"),
            ("mrs", FLASH + 10, None, "certain"),
        ]


@pytest.mark.parametrize("write", WRITERS.values(), ids=list(WRITERS))
def test_a_gap_joins_nothing(write: Write) -> None:
    pieces = [(FLASH, halfwords(0x4770, 0xF3EF)), (FLASH + 8, halfwords(0x8010, 0x4770))]
    assert memory(load_image(write(pieces))) == dict(pieces)
    assert scan(write(pieces), entries=(FLASH,)).verdict == "accept"


@pytest.mark.parametrize("write", WRITERS.values(), ids=list(WRITERS))
def test_two_contents_for_one_address(write: Write) -> None:
    for second, content in ((FLASH + 2, CODE), (FLASH, CODE[::-1])):
        (finding, *_) = scan(write([(FLASH, CODE), (second, content)])).findings
        assert finding.rule.endswith("-overlap")
        assert finding.address == second
    for second, content in ((FLASH, CODE), (FLASH + 4, CODE[4:] + CODE), (FLASH + 2, CODE[2:6])):
        data = write([(FLASH, CODE), (second, content)])
        assert memory(load_image(data)) == {FLASH: CODE + content[len(CODE) - second + FLASH :]}


def test_raw_binaries_need_their_address() -> None:
    (finding,) = scan(CODE).findings
    assert (finding.rule, "--base" in finding.text) == ("unknown-format", True)
    report = scan(CODE, base=FLASH)
    assert [(f.rule, f.address, f.offset) for f in report.findings] == [
        ("cps", FLASH + 8, 8), ("mrs", FLASH + 10, 10),
    ]  # fmt: skip


@pytest.mark.parametrize("entry", [FLASH + 4, FLASH + 5])
def test_the_entry_of_a_raw_binary_makes_certain(entry: int) -> None:
    code = halfwords(0xFFFF, 0xFFFF, 0xB672, 0x4770)
    unknown = scan(code, base=FLASH).findings
    assert [(f.rule, f.certainty) for f in unknown] == [("no-code", "certain"), ("cps", "possible")]
    assert [f.certainty for f in scan(code, base=FLASH, entries=(entry,)).findings] == ["certain"]


@pytest.mark.parametrize("write", WRITERS.values(), ids=list(WRITERS))
def test_every_named_entry_counts_in_every_format(write: Write) -> None:
    """Two programs without a vector table that could be known, and no start record."""
    data = write([(FLASH, halfwords(0xFFFF, 0xB672, 0x4770)), (APP, halfwords(0xB672, 0x4770))])
    named: dict[tuple[int, ...], list[int]] = {
        (): [],
        (FLASH + 2,): [FLASH + 2],
        (FLASH + 2, APP): [FLASH + 2, APP],
    }
    for entries, certain in named.items():
        found = scan(data, entries=entries).findings
        assert [f.address for f in found if (f.rule, f.certainty) == ("cps", "certain")] == certain
    (refused, *_) = scan(data, entries=(APP + 0x100,)).findings
    assert refused.rule == "raw-range"


def program(address: int, vectors: int = 16) -> bytes:
    """A vector table whose handlers, CPSID and BX LR, stand behind it; the last one is SysTick."""
    body = b"".join(halfwords(0xB672 if n == vectors - 2 else 0xBF00, 0x4770) for n in range(15))
    handlers = [address + 4 * vectors + 4 * n + 1 for n in range(15)]
    words = [0x20001000, *handlers, *[0] * vectors][:vectors]
    words[7:11] = [0x1234, 0, 0, 0]  # LPC parts keep a sum there
    return struct.pack(f"<{vectors}I", *words) + body


def found_at(address: int, vectors: int = 16) -> int:
    return address + 4 * vectors + 4 * (vectors - 2)


@pytest.mark.parametrize("write", WRITERS.values(), ids=list(WRITERS))
def test_every_part_of_a_file_has_its_vector_table(write: Write) -> None:
    report = scan(write([(FLASH, program(FLASH)), (APP, program(APP))]))
    assert [(f.address, f.certainty) for f in report.findings] == [
        (found_at(FLASH), "certain"), (found_at(APP), "certain"),
    ]  # fmt: skip


def test_a_table_behind_another_program_or_a_header_is_known() -> None:
    boot = program(FLASH).ljust(0x200, b"\xff")
    joined = boot + program(FLASH + 0x200)
    found = scan(joined, base=FLASH).findings
    assert [(f.address, f.certainty) for f in found] == [
        (found_at(FLASH), "certain"), (found_at(FLASH + 0x200), "certain"),
    ]  # fmt: skip
    headed = b"\x3d\xb8\xf3\x96".ljust(0x200, b"\0") + program(FLASH + 0x200)
    (finding,) = scan(headed, base=FLASH).findings
    assert finding.certainty == "certain"
    for off in (4, 0x40):
        moved = bytes(off) + program(FLASH + off)
        refused, finding = scan(moved, base=FLASH).findings
        assert refused.rule == "no-code"  # no core takes a table from there
        assert finding.certainty == "possible"


def test_what_only_resembles_a_table_makes_nothing_certain() -> None:
    good = program(FLASH + 0x200)
    for word, value in ((0, 0x20001001), (0, 0x08001000), (1, FLASH + 0x240), (3, 0), (14, 0x77)):
        data = bytearray(good)
        struct.pack_into("<I", data, 4 * word, value)
        refused, finding = scan(bytes(0x200) + bytes(data), base=FLASH).findings
        assert (refused.rule, finding.certainty) == ("no-code", "possible"), (word, hex(value))


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"base": 0xFFFFFFF8}, "[0xfffffff8, 0x100000008) is not inside of the address space"),
        ({"base": FLASH, "entries": (FLASH + 16,)},
         "the entry 0x08000010 is outside of the code, [0x08000000, 0x08000010)"),
    ],
)  # fmt: skip
def test_raw_binaries_that_lie_nowhere(options: dict[str, Any], text: str) -> None:
    finding = scan(CODE, **options).findings[0]
    assert (finding.rule, finding.text) == ("raw-range", text)


def test_an_address_below_zero_is_none() -> None:
    assert [f.rule for f in scan(CODE, base=-8).findings] == ["raw-range"]
    (odd,) = scan(CODE, base=0x08000001).findings
    assert (odd.rule, odd.text[:28]) == ("raw-range", "the base 0x08000001 is odd: ")


GOOD = hex_record(4, 0, b"\x08\0") + hex_record(0, 0, CODE)


@pytest.mark.parametrize(
    ("data", "rule", "text"),
    [
        (GOOD, "hex-malformed", "no end record: the file is cut short"),
        (GOOD[:-9] + b"\n" + HEX_END, "hex-malformed", "line 2: no Intel HEX record, or a cut one"),
        (GOOD + HEX_END + hex_record(0, 16, CODE), "hex-malformed",
         "line 4: a record behind the end record"),
        (GOOD + b"// comment\n" + HEX_END, "hex-malformed",
         "line 3: no Intel HEX record, or a cut one"),
        (GOOD + HEX_END + b"\x1a" + HEX_END, "hex-malformed",
         "line 4: a record behind the end record"),
        (hex_record(0xA, 0, b"\x99\x07") + GOOD + HEX_END, "hex-malformed",
         "line 1: a section of a universal hex for a board that isn't known"),
        (hex_record(0xA, 0, b"\x99\x03") + GOOD + HEX_END, "hex-malformed",
         "line 3: data of kind 0 in a section that has another"),
        (hex_record(0xA, 0, b"\x99\0") + hex_record(0xB, 0) + GOOD + HEX_END, "hex-malformed",
         "line 4: data of kind 0 in a section that has another, or none"),
        (GOOD + hex_record(0xD, 0, CODE) + HEX_END, "hex-malformed",
         "line 3: data of kind 13 in a section that has another, or none"),
        (hex_record(0xA, 0, b"\x99\0") + GOOD + HEX_END, "hex-malformed", "nothing to load"),
        (GOOD + b":1 00000EF\n" + HEX_END, "hex-malformed",
         "line 3: no Intel HEX record, or a cut one"),
        (GOOD.replace(b"72B6", b"73B6") + HEX_END, "hex-checksum",
         "line 2: the sum of the record is wrong"),
        (GOOD + hex_record(6, 0) + HEX_END, "hex-malformed", "line 3: a record of unknown kind 6"),
        (GOOD + hex_record(5, 0, b"12") + HEX_END, "hex-malformed", "line 3: 2 bytes of kind 5"),
        (GOOD + hex_record(0, 0xFFF8, CODE) + HEX_END, "hex-malformed",
         "line 3: a record over the end of its 64 KiB, which loaders wrap or carry on as they"
         " like"),
        (GOOD + hex_record(5, 0, b"\x09\0\0\x09") + HEX_END, "hex-malformed",
         "the start address 0x09000009 is outside of what is loaded"),
        (HEX_END, "hex-malformed", "nothing to load"),
        (srec_record(3, 4, FLASH, CODE), "srec-malformed",
         "no end record (S7, S8, S9): the file is cut short"),
        (srec_record(3, 4, FLASH, CODE).replace(b"72B6", b"73B6") + SREC_END, "srec-checksum",
         "line 1: the sum of the record is wrong"),
        (srec_record(3, 4, FLASH, CODE)[:-4] + b"\n" + SREC_END, "srec-malformed",
         "line 1: no S-record, or a cut one"),
        (srec_record(4, 4, FLASH, CODE) + SREC_END, "srec-malformed",
         "line 1: no S-record, or a cut one"),
        (srec_record(3, 4, FLASH, CODE) + srec_record(5, 2, 2) + SREC_END, "srec-malformed",
         "line 2: 2 records are announced, 1 are there"),
        (srec_file([(FLASH, CODE)]) + srec_record(3, 4, 0, CODE), "srec-malformed",
         "line 4: a record behind the end record"),
        (srec_record(3, 4, 0xFFFFFFFC, CODE) + SREC_END, "srec-malformed",
         "[0xfffffffc, 0x10000000c) passes the end of the address space"),
        (srec_record(3, 4, FLASH, CODE) + srec_record(7, 4, FLASH, CODE), "srec-malformed",
         "line 2: data in a record of kind S7"),
        (uf2_file([(FLASH, CODE)])[:-1], "uf2-malformed",
         "511 bytes are not a whole number of blocks of 512: truncated"),
        (uf2_file([(FLASH, CODE), (FLASH + 16, CODE)])[:512], "uf2-malformed",
         "1 of 2 blocks: the file is cut short"),
        (uf2_block(0, 2, FLASH, CODE) * 2, "uf2-malformed",
         "block 1: number 0 of 2 does not fit what was before"),
        (uf2_block(3, 2, FLASH, CODE), "uf2-malformed",
         "block 0: number 3 of 2 does not fit what was before"),
        (uf2_file([(FLASH, CODE)])[:-4] + bytes(4), "uf2-malformed", "block 0: not a UF2 block"),
        (uf2_block(0, 1, FLASH, CODE, size=477), "uf2-malformed",
         "block 0: a payload of 477 bytes"),
        (uf2_block(0, 1, FLASH, CODE, flags=0x1000), "uf2-malformed",
         "block 0: holds files, not a program"),
        (uf2_block(0, 2, FLASH, CODE) + uf2_block(1, 2, FLASH + 16, CODE, family=0xE48BFF56),
         "uf2-malformed",
         "block 1: programs for several families of chips in one file; split it"),
        (uf2_block(0, 1, FLASH, CODE, flags=1), "uf2-malformed", "nothing to load"),
        (b"", "empty", "the file is empty"),
        (b"!<arch>\nfoo.o/", "unknown-format",
         "a library of object files: link it into a program"),
    ],
)  # fmt: skip
def test_each_reason(data: bytes, rule: str, text: str) -> None:
    report = scan(data)
    assert report.verdict == "reject"
    assert (rule, text) in [(finding.rule, finding.text) for finding in report.findings]


def test_uf2_families_tell_the_core() -> None:
    rp2040 = uf2_block(0, 1, FLASH, CODE, family=0xE48BFF56)
    assert load_image(rp2040).arch == "armv6m"
    assert scan_bytes(uf2_file([(FLASH, CODE)]), "x", Policy(arch="armv7m")).findings[0].rule == (
        "wrong-machine"
    )
    c3 = uf2_block(0, 1, FLASH, bytes.fromhex("731000808280"), family=0xD42BA06C)
    assert [f.rule for f in scan(c3).findings] == ["csr"]
    esp32 = scan(uf2_block(0, 1, FLASH, CODE, family=0x1C5F21B0))
    assert [(f.rule, "xtensa" in f.text) for f in esp32.findings] == [("wrong-machine", True)]


@pytest.mark.parametrize(("family", "core"), [
    (0x4E8F1C5D, "armv8m.main"), (0x7D7A66EF, "armv6m"), (0x72721D4E, "armv7em"),
    (0x3D308E94, "rv32imafc"), (0xF71C0343, "rv32imac"), (0x675A40B0, "armv5te"),
])  # fmt: skip
def test_uf2_families_of_today(family: int, core: str) -> None:
    data = uf2_block(0, 1, FLASH, CODE, family=family)
    assert load_image(data).arch == core
    if core == "armv5te":
        assert [f.rule for f in scan(data).findings] == ["wrong-machine"]


def test_text_around_the_records_of_a_hex_file() -> None:
    plain = scan(GOOD + HEX_END)
    for data in (
        b"\xef\xbb\xbf" + GOOD + HEX_END,
        b"; made by hand\r\n;\n" + GOOD + b"  ; the end\n" + HEX_END + b"; bye\n",
        GOOD + HEX_END + b"\x1a" * 3 + b"\r\n",
        GOOD.replace(b"\n", b"\n\n") + GOOD + HEX_END,
    ):
        assert no_program(data) is None
        assert scan(data).findings == plain.findings


def test_a_universal_hex_is_judged_for_the_board_that_can_be_a_host() -> None:
    other = hex_record(0, 0, halfwords(0x1000, 0x2000, 0x0009, 0x0800, 0x4770))
    first = hex_record(4, 0, b"\x08\0") + hex_record(0xA, 0, b"\x99\0\xc0\xde") + other
    padding = hex_record(0xC, 0, b"\xff" * 16) + hex_record(0xB, 0, b"\xff")
    second = hex_record(4, 0, b"\x08\0") + hex_record(0xA, 0, b"\x99\x03\xc0\xde")
    second += hex_record(0xD, 0, CODE) + hex_record(0xE, 0, b"for other tools")
    report = scan(first + padding + second + padding + HEX_END)
    assert (report.arch, report.guessed) == ("armv7em", False)
    assert [f.rule for f in report.findings] == ["cps", "mrs", "no-host"]
    assert "micro:bit V1" in report.findings[2].text
    alone = scan(second + padding + HEX_END)
    assert [f.rule for f in alone.findings] == ["cps", "mrs"]


def test_uf2_blocks_that_are_not_for_flash() -> None:
    comment = uf2_block(0, 1, FLASH, b"for people", flags=1)
    absolute = uf2_block(0, 2, 0x10FFFF00, b"\xef" * 256, family=0xE48BFF57)
    data = comment + absolute + uf2_file([(FLASH, CODE)])
    assert memory(load_image(data)) == {FLASH: CODE, 0x10FFFF00: b"\xef" * 256}


def test_a_second_start_record_is_a_start_too() -> None:
    code = hex_record(4, 0, b"\x08\0") + hex_record(0, 0, halfwords(0x4770, 0xBF00, 0xB672, 0x4770))
    starts = hex_record(5, 0, b"\x08\0\0\x01") + hex_record(5, 0, b"\x08\0\0\x05")
    found = scan(code + starts + HEX_END).findings
    assert [(f.rule, f.address, f.certainty) for f in found] == [("cps", FLASH + 4, "certain")]


def test_segmented_addresses() -> None:
    start = hex_record(3, 0, struct.pack(">HH", 0x1000, 0x0009))
    data = hex_record(2, 0, b"\x10\0") + hex_record(0, 0x0008, CODE) + start + HEX_END
    image = load_image(data)
    assert memory(image) == {0x10008: CODE}
    assert image.entry == 0x10009


def test_the_start_record_makes_certain() -> None:
    code = halfwords(0xFFFF, 0xFFFF, 0xB672, 0x4770)
    for data in (
        hex_file([(FLASH, code)])[: -len(HEX_END)]
        + hex_record(5, 0, struct.pack(">I", FLASH + 5))
        + HEX_END,
        srec_file([(FLASH, code)])[: -len(SREC_END)] + srec_record(7, 4, FLASH + 5),
    ):
        assert [(f.rule, f.certainty) for f in scan(data).findings] == [("cps", "certain")]


@pytest.mark.parametrize("form", ["ihex", "srec", "binary"])
def test_what_objcopy_writes_is_found_like_in_the_elf(build: Build, form: str) -> None:
    elf = build(
        ".word 0x20001000, _start\n.space 70000, 0xbf\n"
        ".thumb_func\n_start: cpsid i\n mrs r0, primask\n b other\n"
        ".section .text.other\n.balign 4096\nother: msr basepri, r0\n svc 7\n bx lr\n"
    )
    other = elf.with_suffix(f".{form}")
    command = ["arm-none-eabi-objcopy", "-O", form, elf.name, other.name]
    subprocess.run(command, cwd=elf.parent, check=True)
    base = FLASH if form == "binary" else None
    expected = {(f.rule, f.address, f.certainty) for f in scan_file(elf).findings}
    assert len(expected) == 4
    assert {
        (f.rule, f.address, f.certainty) for f in scan_file(other, base=base).findings
    } == expected


def test_encrypted_programs() -> None:
    noise = random.Random(7).randbytes(20000)
    blocks = uf2_file([(FLASH + n, noise[n : n + 256]) for n in range(0, 19968, 256)])
    assert scan(blocks).findings[0].rule == "encrypted"
    assert scan(noise, base=FLASH).findings[0].rule == "encrypted"
    padded = noise + b"\xff" * 100_000
    assert scan(padded, base=FLASH).findings[0].rule == "encrypted"


def test_a_program_that_carries_compressed_data_is_none(build: Build) -> None:
    elf = build(".thumb_func\n_start: bx lr\n", "--specs=nosys.specs", "-Wl,-u,printf,-u,malloc")
    plain = elf.with_suffix(".bin")
    command = ["arm-none-eabi-objcopy", "-O", "binary", elf.name, plain.name]
    subprocess.run(command, cwd=elf.parent, check=True)
    code = plain.read_bytes()
    assert len(code) > 4000
    data = code + os.urandom(8 * len(code))
    assert "encrypted" not in [f.rule for f in scan(data, base=FLASH).findings]


@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    "data",
    [
        b":" + b"0" * (20 << 20),
        hex_record(4, 0, b"\x08\0") + b"\n" * (20 << 20) + HEX_END,
        b"".join(hex_record(0, (n * 7919) & 0xFFFF, b"\0") for n in range(200_000)) + HEX_END,
        b"".join(srec_record(3, 4, n * 8, b"\xb6\x72") for n in range(200_000)) + SREC_END,
        b"".join(uf2_block(n, 4096, n * 1024, b"\x4f\x48" * 100) for n in range(4096)),
    ],
    ids=["one line", "empty lines", "scattered bytes", "gaps", "many stretches"],
)
def test_floods_take_bounded_time(data: bytes) -> None:
    assert scan(data).verdict in ("reject", "warn", "accept")


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_changed_files_never_crash(data: st.DataObject) -> None:
    write = data.draw(st.sampled_from(list(WRITERS.values())))
    content = bytearray(write([(FLASH, CODE), (FLASH + 16, CODE[:8]), (0x20000000, CODE)]))
    for _ in range(data.draw(st.integers(1, 6))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] = data.draw(st.integers(0, 255))
    base = data.draw(st.sampled_from([None, FLASH]))
    assert scan_bytes(bytes(content), "x", Policy(), base=base).verdict in (
        "accept", "warn", "reject",
    )  # fmt: skip


def test_a_file_named_otherwise_is_read_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "firmware.bin"
    path.write_bytes(hex_file([(FLASH, CODE)]))
    assert [f.rule for f in scan_file(path, base=0x1000).findings] == ["cps", "mrs"]
