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
from scanner.report.errors import MissingError
from tests.support.built import Built


def said(image: Path, description: Path, *more: str) -> Result:
    arguments = [str(image), "--system", str(description), *more]
    return CliRunner().invoke(command, arguments, standalone_mode=False)


@pytest.fixture
def image(example: Built, tmp_path: Path) -> Path:
    for file in example.elf.parent.iterdir():
        shutil.copy(file, tmp_path)
    return tmp_path / "system.elf"


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
    assert {"id", "what", "ok", "findings"} == set(bad["checks"][0])
    assert any("system.elf isn't the .elf file of the manifest" in text
               for check in bad["checks"] for text in check["findings"])  # fmt: skip


def test_another_manifest_by_name(example: Built, image: Path) -> None:
    moved = image.with_name("moved.json")
    image.with_suffix(".json").rename(moved)
    result = said(image, example.description, "--manifest", str(moved))
    assert result.return_value == 0
    assert "isn't there, so its code is judged without symbols" in result.output


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
