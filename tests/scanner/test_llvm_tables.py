"""The tables of instructions against LLVM's, in short; `make encodings` tries all forms."""

from __future__ import annotations

import pytest

from proofs.encodings import riscv, scanner_tables, thumb
from proofs.encodings.comparison import Comparison, compare
from proofs.encodings.llvm import Encoding, decode, llvm_mc

pytestmark = pytest.mark.skipif(llvm_mc() is None, reason="llvm-mc isn't here (package llvm)")


def narrow(arch: str) -> Comparison:
    encodings = thumb.narrow()
    elsewhere = decode(thumb.A_PROFILE, encodings)
    return compare(arch, thumb.CORES[arch], elsewhere, encodings, thumb.wanted, thumb.REASONS)


@pytest.mark.parametrize("arch", thumb.CORES)
def test_every_narrow_instruction_is_what_llvm_says(arch: str) -> None:
    found = narrow(arch)
    assert found.unexplained == [] and found.compared == 0xE800


def test_wide_instructions_are_what_llvm_says() -> None:
    found = thumb.compare_all("armv8m.main", whole=False)
    assert found.unexplained == [] and found.compared > 300_000


def test_compressed_instructions_are_what_llvm_says() -> None:
    encodings = riscv.compressed()
    elsewhere = decode(riscv.LARGER, encodings)
    found = compare(riscv.ARCH, riscv.CORE, elsewhere, encodings, riscv.wanted, riscv.REASONS)
    assert found.unexplained == [] and found.named > 30_000


@pytest.mark.parametrize(("lost", "example"), [("wfx", "bf20 wfe"), ("cps", "b660 cpsie none")])
def test_a_table_with_a_hole_is_noticed(
    monkeypatch: pytest.MonkeyPatch, lost: str, example: str
) -> None:
    whole = scanner_tables.rules

    def holed(arch: str, encodings: list[Encoding]) -> list[frozenset[str]]:
        return [found - {lost} for found in whole(arch, encodings)]

    monkeypatch.setattr(scanner_tables, "rules", holed)
    assert any(
        f" {example}: {lost} wanted, nothing told" in line for line in narrow("armv7em").unexplained
    )


def test_an_instruction_that_is_told_and_harmless_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = scanner_tables.rules

    def greedy(arch: str, encodings: list[Encoding]) -> list[frozenset[str]]:
        found = whole(arch, encodings)
        return [
            frozenset({"svc"}) if e == (0xBF00,) else f
            for e, f in zip(encodings, found, strict=True)
        ]

    monkeypatch.setattr(scanner_tables, "rules", greedy)
    assert narrow("armv7em").unexplained == ["armv7em bf00 nop: nothing wanted, svc told"]
