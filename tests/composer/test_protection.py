"""The emitted protection tables grant exactly what the description and the map say."""

from __future__ import annotations

import re
import struct
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from composer.emit.generate import generate
from composer.layout.pmsav7 import Pmsav7, cover
from composer.layout.protection import Grant
from composer.plan import DomainPlan, Plan
from composer.sources import runtime_folder
from scanner.report.errors import FvmError
from tests.composer import systems
from tests.composer.pmsav7_model import Rights, Unit

# TEX, S, C, B of each kind of memory: docs/hardware-obligations.md says why.
_MEMORY = {
    "code": (0, 0, 1, 0),  # normal, write-through, not shareable
    "ram": (0, 1, 1, 0),  # normal, write-through, shareable
    "shared": (0, 1, 1, 0),
    "device": (0, 0, 0, 1),  # device, always shareable: S is ignored
}


def expected(grant: Grant) -> tuple[str, bool, tuple[int, int, int, int]]:
    """Rights and memory type that a grant stands for."""
    if grant.kind == "device":
        return "rw", False, _MEMORY["device"]
    return grant.access.replace("x", ""), "x" in grant.access, _MEMORY[grant.kind]


def emitted(plan: Plan, folder: Path) -> list[list[tuple[int, int]]]:
    """RBAR and RASR of each domain as the compiler puts them into fvm_tables.o."""
    for name in ("kernel/fvm_tables.c", "kernel/fvm_config.h"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(generate(plan, folder)[name])
    runtime = runtime_folder()
    output = folder / "kernel/fvm_tables.o"
    command = ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-c", "-Wall", "-Wextra"]
    command += ["-Werror", f"-I{runtime}", f"-I{runtime}/include"]
    command += [f"-I{runtime}/arch/armv7m/include", f"-I{folder}/kernel", "-o", str(output)]
    subprocess.run([*command, str(folder / "kernel/fvm_tables.c")], check=True)
    with output.open("rb") as stream:
        image = ELFFile(stream)
        symbols = image.get_section_by_name(".symtab")
        assert isinstance(symbols, SymbolTableSection)
        (symbol,) = symbols.get_symbol_by_name("fvm_domain")
        data = image.get_section(symbol["st_shndx"]).data()[symbol["st_value"] :]
    size = symbol["st_size"] // len(plan.domains)
    tables = []
    for index in range(len(plan.domains)):
        # struct fvm_protection is last: 8 regions of two words, then CPACR.
        words = struct.unpack("<17I", data[(index + 1) * size - 68 : (index + 1) * size])
        tables.append([(words[n], words[n + 1]) for n in range(0, 16, 2)])
        assert words[16] == (0x00F00000 if plan.domains[index].fpu else 0)
    return tables


def prove(domain: DomainPlan, words: list[tuple[int, int]]) -> None:
    """Every address that is granted is allowed as granted, and no other one at all."""
    unit = Unit(words)
    borders = {
        0,
        *unit.borders(),
        *(g.base for g in domain.grants),
        *(g.end for g in domain.grants),
    }
    for address in sorted(b for b in borders if b < 1 << 32):
        rights: Rights | None = unit.at(address)
        grants = [g for g in domain.grants if g.base <= address < g.end]
        assert len(grants) <= 1, f"grants overlap at 0x{address:08x}"
        if not grants:
            assert rights is None, f"0x{address:08x} is open to {domain.name}"
            continue
        assert rights is not None, f"0x{address:08x} is closed to {domain.name}"
        data, execute, memory = expected(grants[0])
        assert (rights.data, rights.execute) == (data, execute)
        assert rights.memory == memory


def prove_apart(plan: Plan) -> None:
    """No byte of memory belongs to two domains, unless it is shared; none to the kernel's."""
    owned = [(g.base, g.end, d.name) for d in plan.domains for g in d.grants if g.kind != "shared"]
    owned += [(s.place.base, s.place.end, f"shared {s.name}") for s in plan.shared]
    owned += [(p.base, p.end, "kernel") for p in (plan.kernel_flash, plan.kernel_ram)]
    owned.sort()
    for (_, end, name), (base, _, other) in pairwise(owned):
        assert end <= base, f"{name} and {other} overlap"
    for domain in plan.domains:
        for placed in (domain.flash, domain.ram):
            assert placed.granted >= placed.size
        for grant in domain.grants:
            inside = [r.base <= grant.base and grant.end <= r.end for r in (plan.flash, plan.ram)]
            assert any(inside) or grant.kind == "device"


def test_every_domain_gets_exactly_its_grants(tmp_path: Path) -> None:
    plan = systems.plan_of(tmp_path)
    for domain, words in zip(plan.domains, emitted(plan, tmp_path / "out"), strict=True):
        prove(domain, words)
    prove_apart(plan)


def test_grants_are_what_the_description_says(tmp_path: Path) -> None:
    plan = systems.plan_of(tmp_path)
    one, two = plan.domains[2], plan.domains[3]
    assert [(g.name, g.kind, g.access) for g in one.grants] == [
        ("flash", "code", "rx"),
        ("ram", "ram", "rw"),
        ("USART1", "device", "rw"),
        ("link", "shared", "rw"),
    ]
    assert two.grants[3].access == "r"
    assert one.grants[3].base == two.grants[3].base
    assert one.grants[2].base == 0x40011000
    assert one.grants[2].size == 1024
    assert [(g.name, g.base) for g in plan.domains[0].grants if g.kind == "device"] == [
        ("USART6", 0x40011400)
    ]
    assert (one.flash.granted, one.ram.granted) == (32 * 1024, 16 * 1024)
    assert plan.shared[0].place.size == 1000
    assert plan.shared[0].place.granted == 1024


def test_neighbouring_devices_share_a_region(tmp_path: Path) -> None:
    devices = "".join(f'<device name="TIM{n}"/>' for n in (2, 3, 4, 5, 6, 7))
    plan = systems.plan_of(tmp_path, ('<device name="USART2"/>', devices))
    for domain, words in zip(plan.domains, emitted(plan, tmp_path / "out"), strict=True):
        prove(domain, words)


def test_the_model_notices_a_wrong_table(tmp_path: Path) -> None:
    """The proof fails when one bit of a table is wrong, whichever it is."""
    plan = systems.plan_of(tmp_path)
    domain = plan.domains[2]
    words = emitted(plan, tmp_path / "out")[2]
    unnoticed = []
    for number in range(4):
        for which in (0, 1):
            for bit in range(32):
                changed = [list(pair) for pair in words]
                changed[number][which] ^= 1 << bit
                try:
                    prove(domain, [(a, b) for a, b in changed])
                except (AssertionError, KeyError):
                    continue
                unnoticed.append((number, "RASR" if which else "RBAR", bit))
    # Reserved bits, shareability of flash, and AP values that differ for the kernel alone.
    assert all(name == "RASR" for _, name, _ in unnoticed)
    assert {bit for _, _, bit in unnoticed} <= {6, 7, 18, 22, 23, 24, 26, 27, 29, 30, 31}


@settings(max_examples=300, deadline=None)
@given(start=st.integers(0, 4096), length=st.integers(1, 4096))
def test_a_cover_is_exact_and_a_single_region_is_found_when_there_is_one(
    start: int, length: int
) -> None:
    base, end = start * 32, (start + length) * 32
    grant = Grant("x", "ram", base, end - base, "rw")
    regions = cover(base, end)
    assert regions is not None
    unit = Unit([r.words(n, 0x13060000) for n, r in enumerate(regions[:8])])
    if len(regions) <= 8:
        for address in {*unit.borders(), base, end, max(base - 1, 0), end - 1}:
            assert (unit.at(address) is not None) == (base <= address < end)
    if single_region_exists(base, end):
        assert len(regions) == 1
    assert Pmsav7(8).cover(grant.base, grant.size) == len(regions)


def single_region_exists(base: int, end: int) -> bool:
    """Straight from the definition: some region with some subregions switched off."""
    size = 32
    while size <= 1 << 32:
        start = base - base % size
        part = size // 8 if size >= 256 else size
        if end <= start + size and base % part == 0 and end % part == 0:
            return True
        size *= 2
    return False


def test_a_misaligned_range_has_no_cover() -> None:
    assert cover(16, 64) is None
    assert cover(32, 40) is None


SIZES = st.integers(1024, 40 * 1024)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(flash=st.tuples(SIZES, SIZES), ram=st.tuples(SIZES, SIZES), shared=st.integers(1, 9000))
def test_any_sizes_are_placed_apart_and_granted_exactly(
    tmp_path: Path, flash: tuple[int, int], ram: tuple[int, int], shared: int
) -> None:
    changes = [
        ('flash="32K" ram="16K"', f'flash="{flash[0]}" ram="{ram[0]}"'),
        ('flash="10K" ram="5K"', f'flash="{flash[1]}" ram="{ram[1]}"'),
        ('size="1000"', f'size="{shared}"'),
    ]
    try:
        plan = systems.plan_of(tmp_path, *changes)
    except FvmError as error:
        # Only for good reason: stacks don't fit, or memory is nearly full.
        asked = sum(ram) + shared + 16 * 1024
        assert "stacks and heap" in str(error) or asked > 70 * 1024
        return
    prove_apart(plan)
    for domain in plan.domains:
        lines = plan.unit.initialiser(domain.grants, domain.fpu)
        words = re.findall(r"\{0x([0-9A-F]{8})u, 0x([0-9A-F]{8})u\}", "\n".join(lines))
        prove(domain, [(int(a, 16), int(b, 16)) for a, b in words])
        for placed in (domain.flash, domain.ram):
            assert placed.granted - placed.size <= placed.size // 4 + 32


def test_same_input_gives_the_same_layout(tmp_path: Path) -> None:
    first, second = systems.plan_of(tmp_path), systems.plan_of(tmp_path)
    assert first.domains == second.domains
    assert generate(first, tmp_path) == generate(second, tmp_path)


def test_too_coarse_a_request_is_refused_by_the_encoder() -> None:
    grants = [Grant(str(n), "ram", n * 0x10000, 0x5020, "rw") for n in range(9)]
    with pytest.raises(FvmError):
        Pmsav7(8).words(grants)
