"""`fvmkit link`: four files that agree with each other, or an error and nothing."""

from __future__ import annotations

import hashlib
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from elftools.elf.elffile import ELFFile
from intelhex import IntelHex

from composer.commands.link import link as link_command
from composer.image import link as linking
from scanner.report.errors import FvmError, MissingError
from tests.composer import tiny_system

SUFFIXES = (".elf", ".hex", ".bin", ".json")


def outputs(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def loaded(elf: Path) -> dict[int, int]:
    """Address -> byte, of everything that an ELF loads."""
    segments = ELFFile(io.BytesIO(elf.read_bytes())).iter_segments("PT_LOAD")
    return {
        segment["p_paddr"] + offset: byte
        for segment in segments
        for offset, byte in enumerate(segment.data())
    }


def test_the_image_holds_every_byte_of_every_part(folder: Path, tmp_path: Path) -> None:
    linking.link(folder, tmp_path / "image" / "system")
    assert outputs(tmp_path / "image") == ["system.bin", "system.elf", "system.hex", "system.json"]
    wanted: dict[int, int] = {}
    for name in ("kernel", "alpha", "beta"):
        wanted |= loaded(folder / name / f"{name}.elf")
    assert loaded(tmp_path / "image" / "system.elf") == wanted
    hexadecimal = IntelHex(str(tmp_path / "image" / "system.hex"))
    assert {address: hexadecimal[address] for address in hexadecimal.addresses()} == wanted
    base = min(wanted)
    binary = (tmp_path / "image" / "system.bin").read_bytes()
    assert len(binary) == max(wanted) + 1 - base
    assert all(byte == wanted.get(base + at, 0xFF) for at, byte in enumerate(binary))


def test_initial_data_is_stored_in_flash_not_in_ram(folder: Path, tmp_path: Path) -> None:
    linking.link(folder, tmp_path / "system")
    assert max(loaded(tmp_path / "system.elf")) < tiny_system.RAM


def test_the_manifest_tells_the_truth(folder: Path, tmp_path: Path) -> None:
    linking.link(folder, tmp_path / "system")
    manifest = json.loads((tmp_path / "system.json").read_text())
    assert manifest["schema"] == 1
    assert manifest["protection"] is True
    assert (
        manifest["entry"] == ELFFile(io.BytesIO((tmp_path / "system.elf").read_bytes()))["e_entry"]
    )
    for name, entry in manifest["files"].items():
        content = (tmp_path / name).read_bytes()
        assert entry == {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    assert [part["name"] for part in manifest["parts"]] == ["kernel", "alpha", "beta"]
    alpha = manifest["parts"][1]
    content = (tmp_path / alpha["elf"]).read_bytes()
    assert alpha["sha256"] == hashlib.sha256(content).hexdigest()
    assert alpha["flash"]["granted"] == 0x4000
    assert alpha["ram"]["used"] == 4 + 4 + 64


def test_same_input_same_image(folder: Path, tmp_path: Path) -> None:
    linking.link(folder, tmp_path / "system")
    first = {suffix: (tmp_path / f"system{suffix}").read_bytes() for suffix in SUFFIXES}
    linking.link(folder, tmp_path / "system")
    assert first == {suffix: (tmp_path / f"system{suffix}").read_bytes() for suffix in SUFFIXES}


def refused(folder: Path, match: str, kind: type[FvmError] = FvmError) -> None:
    """link ends with an error of that kind and leaves no file."""
    before = outputs(folder)
    with pytest.raises(kind, match=match):
        linking.link(folder, folder / "image")
    assert outputs(folder) == before


def test_a_part_that_was_not_built(folder: Path) -> None:
    (folder / "beta" / "beta.elf").unlink()
    refused(folder, r"beta\.elf: can't be opened.*fvmkit build", MissingError)


def test_a_truncated_part(folder: Path) -> None:
    elf = folder / "beta" / "beta.elf"
    elf.write_bytes(elf.read_bytes()[:200])
    refused(folder, r"beta\.elf: .*truncated")


def test_a_part_without_the_domain_header(folder: Path) -> None:
    tiny_system.build_domain(folder, "beta", magic=0)
    refused(folder, r"beta\.elf: has no domain header at 0x08008000")


def test_a_part_that_needs_more_ram_than_it_was_given(folder: Path) -> None:
    tiny_system.build_domain(folder, "beta", bss=0x4001)
    refused(folder, r"beta\.elf: segment \[0x20008000, .*outside the memory of 'beta'")


def test_a_part_in_the_flash_of_another(folder: Path) -> None:
    tiny_system.build(
        folder, "beta", tiny_system.DOMAIN_C, flash=0x08004100, ram=0x20008000, entry="crash_cmd",
        defines=("-DMAGIC=0x444D5646u",),
    )  # fmt: skip
    refused(folder, r"beta\.elf: segment \[0x08004100, .*outside the flash of 'beta'")


def test_grants_that_overlap_do_not_hide_an_overlap_of_segments(folder: Path) -> None:
    policy = folder / "beta.domain.json"
    entry: dict[str, Any] = json.loads(policy.read_text())
    entry["grants"][0]["base"] = tiny_system.PLACES["alpha"][0]
    policy.write_text(json.dumps(entry))
    tiny_system.build(
        folder, "beta", tiny_system.DOMAIN_C, flash=0x08004000, ram=0x20008000, entry="crash_cmd",
        defines=("-DMAGIC=0x444D5646u",),
    )  # fmt: skip
    refused(folder, r"beta\.elf: segment .* overlaps .*alpha\.elf")


def test_a_kernel_without_vectors(folder: Path) -> None:
    tiny_system.build(
        folder, "kernel", tiny_system.DOMAIN_C, flash=tiny_system.FLASH, ram=tiny_system.RAM,
        entry="crash_cmd", defines=("-DMAGIC=0",),
    )  # fmt: skip
    refused(folder, r"kernel\.elf: has no vector table at 0x08000000")


def test_a_rejected_domain(folder: Path) -> None:
    source = tiny_system.DOMAIN_C + 'void lock(void) { __asm__ volatile("cpsid i"); }\n'
    flash, _, ram, _ = tiny_system.PLACES["beta"]
    tiny_system.build(
        folder, "beta", source, flash=flash, ram=ram, entry="crash_cmd",
        defines=("-DMAGIC=0x444D5646u",),
    )  # fmt: skip
    address = tiny_system.symbol(folder / "beta" / "beta.elf", "lock")
    refused(folder, rf"beta\.elf: rejected: .*0x{address:08x} lock .*main\.c:\d+.*cpsid")


def test_a_domain_that_says_strict_is_refused_for_doubts(folder: Path) -> None:
    source = tiny_system.DOMAIN_C + "__attribute__((used)) int last(void) { return 1; }\n"
    source += "const unsigned short looks[2] = {0xb672, 0xb672};\n"
    flash, _, ram, _ = tiny_system.PLACES["beta"]
    tiny_system.build(
        folder, "beta", source, flash=flash, ram=ram, entry="crash_cmd",
        defines=("-DMAGIC=0x444D5646u", "-Wl,-u,looks"),
    )  # fmt: skip
    linking.link(folder, folder / "image" / "system")
    policy = folder / "beta.domain.json"
    policy.write_text(json.dumps({**json.loads(policy.read_text()), "strict": True}))
    refused(folder, r"beta\.elf: rejected: cps at 0x[0-9a-f]{8}, cpsid i")


def masking(folder: Path) -> tuple[Path, dict[str, Any]]:
    """The domain beta with a CPSID, and a waiver for it."""
    source = tiny_system.DOMAIN_C + 'void lock(void) { __asm__ volatile("cpsid i"); }\n'
    flash, _, ram, _ = tiny_system.PLACES["beta"]
    tiny_system.build(
        folder, "beta", source, flash=flash, ram=ram, entry="crash_cmd",
        defines=("-DMAGIC=0x444D5646u",),
    )  # fmt: skip
    elf = folder / "beta" / "beta.elf"
    return elf, {
        "image": hashlib.sha256(elf.read_bytes()).hexdigest(),
        "rule": "cps",
        "address": tiny_system.symbol(elf, "lock"),
        "reason": "never called; A. Reviewer",
    }


def write_waivers(folder: Path, *waivers: dict[str, Any]) -> None:
    (folder / "w.json").write_text(json.dumps({"schema": 1, "waivers": list(waivers)}))
    tiny_system.compose(folder, "w.json")


def test_a_waived_finding_lets_a_domain_in_and_is_told(folder: Path, tmp_path: Path) -> None:
    _, waiver = masking(folder)
    write_waivers(folder, waiver)
    result = CliRunner().invoke(link_command, [str(folder), "-o", str(tmp_path / "system")])
    assert result.exit_code == 0, result.output
    place = f"0x{waiver['address']:08x}"
    assert f"beta: waived cps at {place}, cpsid i: never called; A. Reviewer" in result.stderr
    manifest = json.loads((tmp_path / "system.json").read_text())
    told = {part["name"]: part["waived"] for part in manifest["parts"]}
    assert (told["kernel"], told["alpha"]) == ([], [])
    assert told["beta"] == [
        {"rule": "cps", "address": waiver["address"], "text": "cpsid i",
         "reason": "never called; A. Reviewer"},
    ]  # fmt: skip


def test_a_waiver_holds_for_one_build_alone(folder: Path) -> None:
    elf, waiver = masking(folder)
    write_waivers(folder, waiver)
    content = bytearray(elf.read_bytes())
    content[-1] ^= 1
    elf.write_bytes(content)
    refused(folder, r"(?s)beta\.elf: rejected: cps.*waiver covers nothing: cps at 0x")
    write_waivers(folder, {**waiver, "reason": " "})
    refused(folder, r"w\.json: not a waiver file: 'reason' is empty")
    (folder / "w.json").unlink()
    refused(folder, r"w\.json", MissingError)


def test_waivers_are_an_input_that_link_never_overwrites(folder: Path) -> None:
    _, waiver = masking(folder)
    write_waivers(folder, waiver)
    with pytest.raises(MissingError, match="is an input of link"):
        linking.link(folder, folder / "w")


def test_a_kernel_that_is_writable_in_flash(folder: Path) -> None:
    elf = folder / "kernel" / "kernel.elf"
    content = bytearray(elf.read_bytes())
    program_headers = int.from_bytes(content[28:32], "little")
    content[program_headers + 24] |= 2  # PF_W of the first segment
    elf.write_bytes(content)
    refused(folder, r"kernel\.elf: .*writable and executable")


def test_a_folder_that_was_never_composed(tmp_path: Path) -> None:
    refused(tmp_path, "isn't a composed system.*fvmkit compose", MissingError)


def test_outputs_never_overwrite_inputs(folder: Path) -> None:
    before = (folder / "system.json").read_bytes()
    with pytest.raises(MissingError, match="is an input of link"):
        linking.link(folder, folder / "system")
    assert (folder / "system.json").read_bytes() == before


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_folder_in_the_way_leaves_everything_as_it_was(folder: Path, suffix: str) -> None:
    (folder / "new").mkdir()
    (folder / "new" / f"s{suffix}").mkdir()
    with pytest.raises(MissingError, match=rf"s\{suffix}: is a folder; choose another -o"):
        linking.link(folder, folder / "new" / "s")
    assert outputs(folder / "new") == [f"s{suffix}"]


def test_a_file_where_the_folder_should_be(folder: Path) -> None:
    with pytest.raises(FvmError, match="can't be written"):
        linking.link(folder, folder / "system.json" / "s")


def test_a_failed_write_restores_the_old_image(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stem = tmp_path / "image" / "system"
    linking.link(folder, stem)
    before = {path.name: path.read_bytes() for path in stem.parent.iterdir()}
    tiny_system.build_kernel(folder, "another log\r\n")
    real, broken = os.replace, iter([True])

    def full(source: Path, target: Path) -> None:
        if target.suffix == ".bin" and next(broken, False):
            raise OSError(28, "No space left on device", str(target))
        real(source, target)

    monkeypatch.setattr("composer.image.write.os.replace", full)
    with pytest.raises(FvmError, match="No space left"):
        linking.link(folder, stem)
    assert {path.name: path.read_bytes() for path in stem.parent.iterdir()} == before


def test_an_image_without_protection_is_said_to_be_one(folder: Path) -> None:
    system = json.loads((folder / "system.json").read_text())
    (folder / "system.json").write_text(json.dumps({**system, "protection": False}))
    result = CliRunner().invoke(link_command, [str(folder)], standalone_mode=False)
    assert result.return_value == 0
    assert 'protection="off": every domain can write every other' in result.output
    assert json.loads((folder / "image" / "system.json").read_text())["protection"] is False


def test_the_command_prints_sizes_and_names_the_files(folder: Path) -> None:
    result = CliRunner().invoke(link_command, [str(folder)], standalone_mode=False)
    assert result.return_value == 0
    assert "alpha" in result.output
    assert "16384" in result.output
    assert "system.elf" in result.output
    assert (folder / "image" / "system.hex").exists()


@pytest.mark.parametrize("suffix", linking.SUFFIXES)
def test_a_file_that_link_did_not_write_is_left_alone(
    folder: Path, tmp_path: Path, suffix: str
) -> None:
    own = tmp_path / f"mine{suffix}"
    own.write_bytes(b"years of work")
    with pytest.raises(MissingError, match="is there and is no"):
        linking.link(folder, tmp_path / "mine")
    assert own.read_bytes() == b"years of work"
    assert [path.name for path in tmp_path.iterdir() if path.stem == "mine"] == [own.name]


def test_an_image_that_was_changed_since_is_not_written_over(folder: Path, tmp_path: Path) -> None:
    linking.link(folder, tmp_path / "image")
    linking.link(folder, tmp_path / "image")
    (tmp_path / "image.hex").write_text("patched by hand")
    with pytest.raises(MissingError, match=r"image\.json speaks of"):
        linking.link(folder, tmp_path / "image")
