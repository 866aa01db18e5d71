"""The command: exit status, text, JSON; and files that are broken or hostile."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from composer.cli import fvmkit, run_command
from composer.commands.verify import verify as command
from composer.verify.subject import sha256
from scanner.report.errors import MissingError
from tests.support.built import Built


def said(image: Path, description: Path, *more: str) -> Result:
    arguments = [str(image), "--system", str(description), *more]
    return CliRunner().invoke(command, arguments, standalone_mode=False)


@pytest.fixture
def image(example: Built, tmp_path: Path) -> Path:
    """A copy without the ELFs of the parts."""
    folder = tmp_path / "image"
    shutil.copytree(example.elf.parent, folder)
    return folder / "system.elf"


def test_accepted(example: Built) -> None:
    result = said(example.elf, example.description)
    assert result.return_value == 0
    assert result.output.splitlines()[-1] == "system.elf: accept"


def test_json(example: Built, image: Path) -> None:
    good = json.loads(said(example.elf, example.description, "--json").output)
    assert (good["schema"], good["verdict"], good["notes"]) == (1, "accept", [])
    assert all(check["ok"] and check["findings"] == [] for check in good["checks"])
    image.write_bytes(image.read_bytes()[:-1] + b"\x55")
    result = said(image, example.description, "--json")
    bad = json.loads(result.output)
    assert (result.return_value, bad["verdict"]) == (1, "reject")
    assert {"id", "what", "ok", "findings", "note"} == set(bad["checks"][0])
    assert any("system.elf isn't the .elf file of the manifest" in text
               for check in bad["checks"] for text in check["findings"])  # fmt: skip


def test_another_manifest_by_name(example: Built, image: Path) -> None:
    moved = image.with_name("moved.json")
    image.with_suffix(".json").rename(moved)
    result = said(image, example.description, "--manifest", str(moved), "--without-parts")
    assert result.return_value == 0
    assert "isn't there, so its code is judged without symbols" in result.output


def rehash(image: Path, content: bytes, address: int) -> None:
    """Another image, and its manifest as link would have written it; `address` is in a segment."""
    image.write_bytes(content)
    manifest = image.with_suffix(".json")
    document = json.loads(manifest.read_text())
    document["files"][image.name]["sha256"] = sha256(content)
    for part in document["parts"]:
        for segment in part["segments"]:
            place = segment["load_address"] - document["base"]
            if place <= address - document["base"] < place + segment["size"]:
                segment["sha256"] = sha256(content[place : place + segment["size"]])
    manifest.write_text(json.dumps(document))


def test_an_image_without_the_parts_is_not_said_to_be_compared(example: Built, image: Path) -> None:
    """Mailed or moved; and a bit of code changed, in image and manifest alike."""
    binary = image.with_suffix(".bin")
    content = bytearray(binary.read_bytes())
    code = example.extent("motor-controller", "USART1_IRQHandler")
    content[code.start - example.memory("kernel", "code").start] ^= 1
    rehash(binary, bytes(content), code.start)
    result = said(binary, example.description)
    assert result.return_value == 1
    *_, verdict = lines = result.output.splitlines()
    assert not any(line.startswith(("ok     parts", "REJECT")) for line in lines)
    assert [line for line in lines if line.startswith("OPEN   parts: ")]
    assert verdict.startswith("system.bin: reject")
    assert "only the manifest's hashes, which nobody signed, tie it to the build" in verdict
    assert "--without-parts" in verdict
    (parts,) = [
        check
        for check in json.loads(said(binary, example.description, "--json").output)["checks"]
        if check["ok"] is None
    ]
    assert (parts["id"], parts["findings"]) == ("parts", [])
    assert "not compared" in parts["note"]
    trusted = said(binary, example.description, "--without-parts")
    assert (trusted.return_value, "OPEN   parts: " in trusted.output) == (0, True)
    assert "only the manifest's hashes" in trusted.output.splitlines()[-1]


@pytest.mark.parametrize("more", [(), ("--without-parts",)], ids=["parts", "without"])
def test_a_changed_bit_beside_the_parts_is_found(
    example: Built, image: Path, more: tuple[str, ...]
) -> None:
    binary = image.with_suffix(".bin")
    content = bytearray(binary.read_bytes())
    code = example.extent("motor-controller", "USART1_IRQHandler")
    content[code.start - example.memory("kernel", "code").start] ^= 1
    rehash(binary, bytes(content), code.start)
    for part in example.folder.glob("*/*.elf"):
        (image.parent.parent / part.parent.name).mkdir(exist_ok=True)
        shutil.copy(part, image.parent.parent / part.parent.name)
    result = said(binary, example.description, *more)
    assert result.return_value == 1
    assert "REJECT parts: " in result.output


@pytest.mark.parametrize("name", ["\ud800\x1b[2J", "\x1b]0;title\x07", "a\nok     parts", "\u202e"])
def test_names_in_a_manifest_can_not_move_the_cursor(
    example: Built, image: Path, name: str
) -> None:
    manifest = image.with_suffix(".json")
    document = json.loads(manifest.read_text())
    document["parts"][1] |= {"name": name, "elf": name, "kind": name}
    document["system"] = document["chip"] = name
    manifest.write_text(json.dumps(document))
    for more in ((), ("--json",)):
        result = said(image, example.description, *more)
        assert (result.exception, result.return_value) == (None, 1)
        plain = json.loads(result.output) if more else result.output.split("\n")
        texts = plain if isinstance(plain, list) else [
            plain["image"], *plain["notes"], *(t for c in plain["checks"] for t in c["findings"])
        ]  # fmt: skip
        assert all(text.isascii() and text.isprintable() for text in texts)
        assert "ok     parts" not in texts


@pytest.mark.parametrize(
    "number", ["1.5", "NaN", "-Infinity", "1e3", "-1", "4294967296", "9" * 9999]
)
def test_numbers_that_link_never_writes_are_refused(
    example: Built, image: Path, number: str
) -> None:
    manifest = image.with_suffix(".json")
    document = json.loads(manifest.read_text())
    document["parts"][0]["flash"]["used"] = "HERE"
    manifest.write_text(json.dumps(document).replace('"HERE"', number))
    result = said(image, example.description)
    assert (result.exception, result.return_value) == (None, 1)
    assert f"manifest: the number {number[:10]}, which link doesn't write" in result.output


@pytest.mark.parametrize("missing", ["image", "description", "manifest"])
def test_a_missing_file_is_status_2(example: Built, image: Path, missing: str) -> None:
    description = example.description
    if missing == "image":
        image.unlink()
    elif missing == "manifest":
        image.with_suffix(".json").unlink()
    else:
        description = image.with_name("no.xml")
    result = said(image, description)
    assert isinstance(result.exception, MissingError)
    assert f"there is no such {missing}" in str(result.exception)
    words = ["verify", str(image), "--system", str(description)]
    assert run_command(lambda: fvmkit.main(words, standalone_mode=False)) == 2


BROKEN = {
    "empty.elf": b"",
    "short.elf": b"\x7fELF\x01\x01",
    "no.hex": b"hello\n",
    "sum.hex": b":0400000001020304F3\n:00000001FF\n",
    "cut.hex": b":0400000001020304F2\n",
    "after.hex": b":00000001FF\n:0400000001020304F2\n",
    "kind.hex": b":00000006FA\n:00000001FF\n",
    "twice.hex": b":0400000001020304F2\n:0400000001020304F2\n:00000001FF\n",
    "empty.bin": b"",
    "noise.bin": bytes(range(256)) * 64,
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_image_is_rejected_in_words(example: Built, image: Path, name: str) -> None:
    broken = image.with_name(name)
    broken.write_bytes(BROKEN[name])
    manifest = str(image.with_suffix(".json"))
    result = said(broken, example.description, "--manifest", manifest)
    assert result.exception is None
    assert result.return_value == 1
    assert "REJECT" in result.output


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "{}", "null", "[" * 100_000, '{"schema": 2}', '{"schema": true}', "\x00\xff",
     '{"schema": 1, "files": {}, "parts": [{}], "system": "", "chip": "", "protection": true,'
     ' "entry": 1, "base": 1}'],
    ids=range(10),
)  # fmt: skip
def test_a_broken_manifest_is_rejected_in_words(example: Built, image: Path, text: str) -> None:
    image.with_suffix(".json").write_text(text, "latin-1")
    result = said(image, example.description)
    assert result.exception is None
    assert result.return_value == 1
    assert "manifest" in result.output or "JSON" in result.output


@pytest.mark.parametrize(
    "text", ["", "<", "<system/>", "<a>" * 10_000, '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>']
)
def test_a_broken_description_is_an_error_with_a_place(
    example: Built, image: Path, text: str
) -> None:
    description = image.with_name("system.xml")
    description.write_text(text)
    words = ["verify", str(image), "--system", str(description)]
    assert run_command(lambda: fvmkit.main(words, standalone_mode=False)) == 1


def test_a_description_with_a_name_that_isnt_there(example: Built, image: Path) -> None:
    text = example.description.read_text("utf-8")
    description = image.with_name("system.xml")
    description.write_text(text.replace('from="sensor-node"', 'from="nobody"'), "utf-8")
    words = ["verify", str(image), "--system", str(description)]
    assert run_command(lambda: fvmkit.main(words, standalone_mode=False)) == 1


@pytest.mark.parametrize("suffix", [".elf", ".hex", ".bin", ".json"])
def test_noise_in_any_file_never_passes_and_never_breaks(
    example: Built, image: Path, suffix: str
) -> None:
    random_bytes = random.Random(suffix)
    victim = image.with_suffix(suffix)
    good = victim.read_bytes()
    shown = image if suffix == ".json" else victim
    for _ in range(2):
        content = bytearray(good)
        for _ in range(random_bytes.choice((1, 3, 40))):
            content[random_bytes.randrange(len(content))] = random_bytes.randrange(256)
        cut = random_bytes.choice((len(content), len(content) // 2, 60))
        victim.write_bytes(content[:cut])
        result = said(shown, example.description)
        assert result.exception is None
        if suffix != ".json":  # there only names and numbers count, not white space
            assert result.return_value == 1
