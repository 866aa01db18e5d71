"""Makes a chip's JSON file from the Rust crate `stm32-metapac`.

    python -m composer.chips.import_metapac CRATE_DIR STM32F405RG --checksum SHA256 -o FILE

CRATE_DIR is the unpacked crate (`cargo fetch` leaves it in ~/.cargo/registry/src). The crate has
no block sizes, cores, clock limits or bus-master marks, knows nothing of blocks that depend on one
another, and lacks some lines; they are in `supplement.json` with the document they come from. What
neither of the two says of a line or a block is an error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container
from pathlib import Path
from typing import Any

import click

from composer.chips.complete import gaps
from composer.chips.rust_literals import read_static
from scanner.report.errors import FvmError

_PACKAGE = "stm32-metapac"
# Outside the peripheral address space: system memory and debug, never granted.
_NOT_PERIPHERALS = ("UID", "VREFINTCAL", "DBGMCU")
_LINES_AND_BLOCKS = ("lines_of_fpu", "lines_without_block", "blocks_without_line", "independent")
_HINT = "look it up in the reference manual: docs/adding-a-chip.md"


@click.command()
@click.argument("crate", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("chip")
@click.option("--checksum", required=True, help="SHA-256 of the crate, as in Cargo.lock.")
@click.option("-o", "output", required=True, type=click.Path(path_type=Path))
def import_chip(crate: Path, chip: str, checksum: str, output: Path) -> None:
    """Write the JSON file of CHIP from the unpacked crate in CRATE."""
    supplement = json.loads((Path(__file__).parent / "supplement.json").read_text("utf-8"))
    record = chip_record(crate, chip, checksum, supplement)
    output.write_text(json.dumps(record, indent=1) + "\n", "utf-8")


def chip_record(
    crate: Path, chip: str, checksum: str, supplement: dict[str, Any]
) -> dict[str, Any]:
    """Everything that the composer needs of `chip`, as the JSON file holds it."""
    folder = crate / "src" / "chips" / chip.lower()
    if not folder.is_dir():
        raise FvmError(f"crate {crate} has no chip '{chip}'")
    head = (folder / "metadata.rs").read_text("utf-8")
    included = re.search(r'include!\("\.\./(\w+\.rs)"\)', head)
    if included is None:
        raise FvmError(f"{folder}/metadata.rs includes no tables")
    tables = (folder.parent / included.group(1)).read_text("utf-8")
    facts = read_static(head, "METADATA")
    peripherals = read_static(tables, "PERIPHERALS")
    line = supplement["lines"][facts["line"]]
    enables = _EnableBits(crate, peripherals)
    pins = _pins(peripherals, read_static(tables, "PINS"))
    interrupts = {i["name"]: i["number"] for i in read_static(tables, "INTERRUPTS")}
    record = {
        "schema": 1,
        "name": facts["name"],
        "provenance": {
            "package": _PACKAGE,
            "version": _crate_version(crate),
            "sha256": checksum,
            "licence": "MIT OR Apache-2.0",
            "supplement": line["documents"],
        },
        "family": line["family"],
        "core": line["core"],
        "console_drivers": line["console_drivers"],
        "priority_bits": facts["nvic_priority_bits"],
        "clock_limits": line["clock_limits"],
        "memory": [
            {"name": m["name"], "kind": m["kind"].lower(), "base": m["address"], "size": m["size"]}
            for m in facts["memory"][0]
        ],
        "interrupts": dict(
            sorted((interrupts | line["more_interrupts"]).items(), key=lambda item: item[1])
        ),
        **{key: line[key] for key in _LINES_AND_BLOCKS},
        "devices": {
            p["name"]: _device(p, line, enables, pins)
            for p in sorted(peripherals, key=lambda p: int(p["address"]))
            if p["name"] not in _NOT_PERIPHERALS
        },
        "pins": pins,
    }
    for gap in gaps(record):
        raise FvmError(f"{chip}: {gap}", file="supplement.json", hint=_HINT)
    return record


def _crate_version(crate: Path) -> str:
    match = re.search(r'^version = "([^"]+)"', (crate / "Cargo.toml").read_text("utf-8"), re.M)
    if match is None:
        raise FvmError(f"{crate}/Cargo.toml has no version")
    return match.group(1)


class _EnableBits:
    """Turns the crate's enable register and field names into addresses and bit numbers."""

    def __init__(self, crate: Path, peripherals: list[dict[str, Any]]) -> None:
        rcc = next(p for p in peripherals if p["name"] == "RCC")
        name = f"rcc_{rcc['registers']['version']}.rs"
        text = (crate / "src" / "registers" / name).read_text("utf-8")
        registers = read_static(text, "REGISTERS")
        self.base = int(rcc["address"])
        self.offset = {i["name"]: i["byte_offset"] for i in registers["blocks"][0]["items"]}
        self.bit = {
            (fieldset["name"].lower(), field["name"]): field["bit_offset"]["offset"]
            for fieldset in registers["fieldsets"]
            for field in fieldset["fields"]
            if field["array"] is None
        }

    def find(self, enable: dict[str, str]) -> dict[str, int]:
        """Address and bit of one enable."""
        register, field = enable["register"].lower(), enable["field"].lower()
        return {"address": self.base + self.offset[register], "bit": self.bit[(register, field)]}


def _device(
    peripheral: dict[str, Any],
    line: dict[str, Any],
    enables: _EnableBits,
    pins: Container[str],
) -> dict[str, Any]:
    name, registers = peripheral["name"], peripheral["registers"]
    kind = registers["kind"] if registers else ""
    record: dict[str, Any] = {
        "base": peripheral["address"],
        "size": line["device_sizes"].get(name, line["device_sizes"]["default"]),
        "kind": kind,
    }
    rcc = peripheral["rcc"]
    if rcc:
        record["bus"] = rcc["bus_clock"]
        if rcc["enable"]:
            record["enable"] = enables.find(rcc["enable"])
    interrupts = {i["interrupt"] for i in peripheral["interrupts"]}
    record["interrupts"] = sorted({*interrupts, *line["more_lines_of"].get(name, ())})
    if name in line["depends"]:
        record["depends"] = line["depends"][name]
    if drives := [pin for pin in line["drives"].get(name, ()) if pin in pins]:
        record["drives"] = drives
    reason = line["nobody"].get(name) or line["nobody"].get(f"kind:{kind}")
    if reason:
        record["nobody"] = reason
    return record


def _pins(
    peripherals: list[dict[str, Any]], pins: list[dict[str, str]]
) -> dict[str, dict[str, list[str]]]:
    """Pin name -> alternate function number -> the signals it can carry."""
    found: dict[str, dict[str, list[str]]] = {pin["name"]: {} for pin in pins}
    for peripheral in peripherals:
        for pin in peripheral["pins"]:
            if pin["af"] is not None and pin["pin"] in found:
                signals = found[pin["pin"]].setdefault(str(pin["af"]), [])
                signals.append(f"{peripheral['name']}_{pin['signal']}")
    return {
        pin: {af: sorted(set(functions[af])) for af in sorted(functions, key=int)}
        for pin, functions in found.items()
    }


if __name__ == "__main__":
    import_chip()
