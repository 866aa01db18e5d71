"""Parts of `fvmkit report`: regions are decoded, diffs cut, and text that others chose is text."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from composer.layout.allocate import Placed
from composer.layout.pmsav7 import Pmsav7
from composer.layout.protection import Grant
from composer.plan import DomainPlan
from composer.report.diff import hunks
from composer.report.policies import policies
from composer.report.porting import Account, FileDiff, Group, Note, Project
from composer.report.region import Protection, Region
from composer.report.regions import faults
from composer.report.render import render
from composer.report.talk import Conversation, Reboot, Talk, folded
from composer.report.text import LINE_LETTERS, coloured, decoded
from composer.report.verdicts import Remark, Scan
from composer.simulate.transcript import Line
from composer.verify.findings import Check, Report
from tests.composer import systems
from tests.composer.pmsav7_model import Unit

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</pre></td></table></main>",
    "{{ 7 * 7 }} {% include 'x' %}",
    "<!-- ",
    "javascript:alert(1)",
)


class Tags(HTMLParser):
    """Collects what a browser would make elements and attributes of, and the text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def parsed(html: str) -> Tags:
    tags = Tags()
    tags.feed(html)
    tags.close()
    return tags


def assert_harmless(html: str) -> None:
    """Every hostile text is there as text, and nothing became an element of it."""
    page = parsed(html)
    for text in HOSTILE:
        assert text in page.text, text
    for tag, attributes in page.tags:
        assert tag not in ("script", "img", "iframe", "object", "link", "base")
        assert not any(name.startswith("on") for name in attributes), attributes
        assert (attributes.get("href") or "#")[0] == "#"


def hostile_note(text: str) -> Note:
    return Note("rewritten", text, 1, text, text, text, text, text)


def test_hostile_sources_are_text() -> None:
    diff = "--- a\n+++ b\n@@ -1,6 +1,6 @@\n" + "".join(f"+{text}\n" for text in HOSTILE)
    changes: Any = [{"hunk": hunk, "notes": ()} for hunk in hunks(diff.encode())]
    notes = tuple(hostile_note(text) for text in HOSTILE)
    files = tuple(FileDiff(text, 1, 1, changes) for text in HOSTILE)
    groups = tuple(Group(text, text, notes) for text in HOSTILE)
    edited = HOSTILE
    replaced = tuple((text, text) for text in HOSTILE)
    account = Account(3, 2, 1, replaced)
    projects = [
        Project(text, text, 1, 1, 1, 1, groups, files, replaced, edited, account)
        for text in HOSTILE
    ]
    assert_harmless(render("porting.html.j2", projects=projects))


def test_hostile_consoles_tasks_and_records_are_text() -> None:
    lines = tuple(Line(kind, text, text, text) for text in HOSTILE for kind in ("said", "log"))
    talk = Talk(
        (Conversation(HOSTILE[0], "d0", lines, *HOSTILE[:3]),),
        lines,
        tuple(Line("check", "", text, kept=False) for text in HOSTILE),
        tuple(Reboot(text, text, "d0", text, text) for text in HOSTILE),
        1,
        True,
    )
    for template in ("run.html.j2", "reboots.html.j2"):
        assert_harmless(render(template, talk=talk))


def test_hostile_findings_are_text() -> None:
    remarks = tuple(Remark(text, text, text, text, text, text) for text in HOSTILE)
    scan = Scan(HOSTILE[0], "d0", "reject", remarks)
    checks = (Check(HOSTILE[0], HOSTILE[1], HOSTILE),)
    report = Report(HOSTILE[0], checks, HOSTILE)
    assert_harmless(render("verdicts.html.j2", scans=[scan], verified=report))


def test_source_lines_hide_nothing() -> None:
    # Letters that reorder others make code look like what it is not.
    lines = decoded(b"if (a)\r\n\xe2\x80\xae }; \xe2\x80\x8b\x00\xff\n\tend")
    assert lines == ["if (a)", "\ufffd }; \ufffd\ufffd\ufffd", "\tend"]


def test_an_endless_line_is_cut() -> None:
    (line,) = decoded(b"x" * 1_000_000)
    assert len(line) == LINE_LETTERS and line.endswith("…")


@pytest.mark.parametrize(
    "text", ["", "\n", "a\n\nb\n", "/* open\nstill", '"open\nb', "#define A \\\n 1\n"]
)
def test_colours_keep_every_letter_and_line(text: str) -> None:
    lines = text.split("\n")
    assert ["".join(p.text for p in line) for line in coloured(lines)] == lines


def test_a_comment_over_lines_is_coloured_on_all_of_them() -> None:
    first, second, third = coloured(["int a; /* one", "two */", "return 0;"])
    assert [p.css for p in first] == ["ct", "", "cc"]
    assert [p.css for p in second] == ["cc"]
    assert third[0].css == "ck"


DIFF = b"""diff --git a/a.c b/a.c
--- a/a.c
+++ b/a.c
@@ -3,3 +3,4 @@
 one();
-two();
+zwei();
+drei();
 four();
@@ -20,1 +21,0 @@
-gone();
\\ No newline at end of file
"""


def test_a_diff_has_the_line_numbers_of_both_sides() -> None:
    first, second = hunks(DIFF)
    assert (first.first, first.last, second.first, second.last) == (3, 5, 20, 20)
    assert [(line.sign, line.old, line.new) for line in first.lines] == [
        (" ", 3, 3), ("-", 4, None), ("+", None, 4), ("+", None, 5), (" ", 5, 6),
    ]  # fmt: skip
    shown = ["".join(piece.text for piece in line.code) for line in first.lines]
    assert shown == ["one();", "two();", "zwei();", "drei();", "four();"]


@pytest.mark.parametrize("base", [0x20000000, 0x20002000, 0x20000800])
@pytest.mark.parametrize("size", [0x800, 0x2800, 0xC000])
def test_regions_are_decoded_as_hardware_reads_them(base: int, size: int) -> None:
    grants = [
        Grant("flash", "code", 0x08000000, size, "rx"),
        Grant("ram", "ram", base, size, "rw"),
        Grant("told", "shared", 0x20018000, 64, "r"),
    ]
    words = Pmsav7(8).words(grants)
    unit = Unit(words)
    regions = [Region(number, *pair) for number, pair in enumerate(words)]
    edges = {edge for region in regions for pair in region.ranges() for edge in pair}
    for address in sorted(
        {near for edge in (*edges, *unit.borders()) for near in (edge - 32, edge)}
    ):
        rights = unit.at(address)
        wanted = "" if rights is None else rights.data + ("x" if rights.execute else "")
        shown = ""
        for region in regions:
            if any(low <= address < high for low, high in region.ranges()):
                shown = region.access
        assert shown == wanted, hex(address)


def domain_of(grants: list[Grant], fpu: bool = False) -> DomainPlan:
    place = Placed("", 0, 0, 0)
    return DomainPlan(
        1, "vm", "vm", None, None, place, place, fpu, (), (), 0, 0, 0, 0, (), (), tuple(grants),
        None,
    )  # fmt: skip


GRANTS = [
    Grant("flash", "code", 0x08008000, 0x10000, "rx"),
    Grant("ram", "ram", 0x20002000, 0xC000, "rw"),
]


def faults_of(words: list[tuple[int, int]], fpu: bool = False) -> list[str]:
    regions = tuple(Region(number, *pair) for number, pair in enumerate(words))
    return list(faults(Protection("vm", regions, fpu), domain_of(GRANTS)))


def test_regions_that_are_the_grants_are_no_fault() -> None:
    assert faults_of(Pmsav7(8).words(GRANTS)) == []


def test_deviations_of_the_image_are_said_with_their_addresses() -> None:
    words = Pmsav7(8).words(GRANTS)
    (code, code_rights), (ram, ram_rights), *rest = words
    wider = [(code, code_rights), (ram, ram_rights & ~(1 << 8)), *rest]
    assert faults_of(wider) == ["rw at 0x20000000-0x20002000, which was not granted"]
    narrower = [(code, code_rights), (ram, ram_rights | 1 << 10), *rest]
    assert faults_of(narrower) == ["no rw at 0x20004000-0x20006000, which was granted"]
    executable = [(code, code_rights), (ram, ram_rights & ~(1 << 28)), *rest]
    assert "region 1 gives 'rwx', which no grant means" in faults_of(executable)
    assert faults_of(words, fpu=True) == ["the FPU is open, described is the opposite"]


def test_priorities_and_fault_policies_are_said_in_words(tmp_path: Path) -> None:
    rows = policies(
        systems.plan_of(
            tmp_path,
            ('name="two"', 'name="two" priority="3"'),
            ("</process>", '<fault most="4" delay="0ms"/></process>'),
            ('<device name="USART1"/>',
             '<device name="USART1"/><fault action="user" process="beater"/>'),
            ('<device name="USART2"/>', '<device name="USART2"/><fault action="stop"/>'),
        )
    )  # fmt: skip
    assert [(p.name, p.priority, p.watchdog, p.fault, p.log) for p in rows] == [
        ("hypervisor", "31, 2, 1, 0", "", "the chip is reset", ""),
        ("beater", "10", "", "it is restarted; stopped after 4 in a row", "decides about one"),
        ("two", "VM 3", "", "it stays stopped", ""),
        ("one", "VM 0", "500 ms",
         "beater decides; the second time within 1 s after 1 ms, at most 10 ms", ""),
    ]


def test_questions_that_repeat_are_folded() -> None:
    asked = [Line("typed", "vm", "get"), Line("said", "vm", "0"), Line("said", "vm", "ok")]
    last = [Line("typed", "vm", "get"), Line("said", "vm", "1")]
    again = Line("again", "", "the last 3 lines 4 times more")
    before = Line("said", "vm", "ok")  # the end of another answer begins no exchange
    assert list(folded([before, *asked * 5, *last])) == [before, *asked, again, *last]
    assert list(folded(asked * 2)) == asked * 2  # twice is no more to read than the remark
    assert list(folded([])) == []
