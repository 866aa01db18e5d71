"""`fvmkit link` and the account of a port: what nobody explains keeps a domain out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from composer.commands.link import link as link_command
from composer.emit.records import domain_record
from composer.image import link as linking
from porter.ledger.recorded import record_of
from porter.output.out_folder import write_copy
from porter.port import port_project
from scanner.report.errors import FvmError, MissingError
from tests.composer import systems, tiny_system

MPU = "*(volatile unsigned *)0xE000ED94u = 5u;"
INCLUDE = '#define main legacy_main\n#include "../ported/beta/legacy.c"\n'
AS_IT_IS = {"rule": "no-counterpart", "file": "legacy.c", "text": MPU, "reason": "never called"}


def program(*lines: str) -> str:
    body = "\n    ".join(lines)
    head = "static int seen;\n__attribute__((used)) void legacy(void)\n{\n    "
    return f"{head}{body}\n    seen++;\n}}\n"


class Port:
    """The domain beta with a legacy project, ported and built."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.copy = folder, folder / "ported" / "beta"

    def port(self, text: str) -> None:
        original = self.folder / "legacy"
        original.mkdir(exist_ok=True)
        (original / "legacy.c").write_text(text + "int main(void) { legacy(); return 0; }\n")
        result = port_project(original)
        write_copy(result, self.copy, True, record_of(result))
        self.describe()
        self.build()

    def build(self) -> None:
        flash, _, ram, _ = tiny_system.PLACES["beta"]
        source = tiny_system.DOMAIN_C.replace("bkpt 0", "nop") + INCLUDE
        tiny_system.build(
            self.folder, "beta", source, flash=flash, ram=ram, entry="crash_cmd",
            defines=("-DMAGIC=0x444D5646u",),
        )  # fmt: skip

    def describe(self, *acknowledged: dict[str, str]) -> None:
        """As compose writes it."""
        file = self.folder / "beta.domain.json"
        entry = json.loads(file.read_text())
        entry["project"] = {"original": "legacy", "ported": "ported/beta"}
        entry["acknowledged"] = list(acknowledged)
        file.write_text(json.dumps(entry))

    def record(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads((self.copy / ".fvm-port.json").read_text())
        return document

    def change_record(self, **fields: Any) -> None:
        (self.copy / ".fvm-port.json").write_text(json.dumps({**self.record(), **fields}))

    def linked(self) -> tuple[Any, str]:
        result = CliRunner().invoke(link_command, [str(self.folder), "-o", str(self.folder / "i")])
        assert result.exception is None, result.exception
        manifest = json.loads((self.folder / "i.json").read_text())
        (beta,) = (part for part in manifest["parts"] if part["name"] == "beta")
        return beta["ledger"], result.stderr

    def refused(self, match: str, kind: type[FvmError] = FvmError) -> None:
        with pytest.raises(kind, match=match):
            linking.link(self.folder, self.folder / "i")
        assert not list(self.folder.glob("i.*"))


@pytest.fixture
def beta(folder: Path) -> Port:
    return Port(folder)


def test_an_escalated_place_keeps_its_domain_out(beta: Port) -> None:
    beta.port(program(MPU))
    beta.refused(
        r"(?s)beta: legacy\.c:4: .*\[no-counterpart\]: escalated: .*"
        r'<acknowledge rule="no-counterpart" file="legacy\.c" line-text="\*\(volatile unsigned'
    )


def test_the_same_without_the_place_is_linked(beta: Port) -> None:
    """The control."""
    beta.port(program())
    account, said = beta.linked()
    assert account["open"] == 0 and account["acknowledged"] == []
    assert "beta: 0 sites, 0 explained, 0 open" in said


def test_a_person_answers_for_it(beta: Port) -> None:
    beta.port(program(MPU))
    beta.describe(AS_IT_IS)
    account, said = beta.linked()
    assert account["open"] == 0
    assert [it["reason"] for it in account["acknowledged"]] == ["never called"]
    assert "beta: acknowledged no-counterpart legacy.c:4: never called" in said


def test_lines_that_move_take_their_acknowledgement_along(beta: Port) -> None:
    beta.port("/* longer\n   by two lines */\n" + program(MPU))
    beta.describe(AS_IT_IS)
    assert beta.linked()[0]["open"] == 0


def test_a_line_that_changes_needs_a_new_one(beta: Port) -> None:
    beta.port(program(MPU.replace("5u", "7u")))
    beta.describe(AS_IT_IS)
    beta.refused(r"(?s)legacy\.c:4: .*escalated.*acknowledges nothing: no-counterpart in legacy\.c")


def test_each_line_needs_one_of_its_own(beta: Port) -> None:
    beta.port(program(MPU, MPU))
    beta.describe(AS_IT_IS)
    beta.refused(r"legacy\.c:5: ")
    beta.describe(AS_IT_IS, AS_IT_IS)
    assert beta.linked()[0]["open"] == 0


def test_what_the_program_holds_and_no_verdict_explains(beta: Port) -> None:
    """As if the porter had never seen it: the scanner alone only warns of what traps."""
    beta.port(program(MPU))
    beta.change_record(kept=[], escalated=0)
    beta.refused(
        r"legacy\.c:4: (?s:.*)write to .*\[ppb\]: in the program, and no verdict explains it"
    )
    beta.describe({**AS_IT_IS, "rule": "ppb"})
    account, _ = beta.linked()
    assert account["sites"] == account["explained"] == 1


def test_what_was_left_because_it_would_not_be_there(beta: Port) -> None:
    beta.port(program(MPU))
    (kept,) = beta.record()["kept"]
    left = {**kept, "status": "left", "absent": True, "reason": "nothing uses it"}
    beta.change_record(kept=[left], escalated=0, left=1)
    beta.refused(r"legacy\.c:4: .*\[ppb\]: left because: nothing uses it")
    beta.change_record(kept=[{**left, "absent": False}], escalated=0, left=1)
    assert beta.linked()[0]["open"] == 0


def test_an_overlooked_place_of_the_original(beta: Port) -> None:
    beta.port(program())
    place = {"rule": "cps", "file": "legacy.c", "line": 9, "text": "hush();", "what": "cpsid i"}
    beta.change_record(overlooked=[place])
    beta.refused(r"legacy\.c:9: cpsid i \[cps\]: overlooked by the port")


def test_a_place_that_was_changed_by_hand_is_a_persons_to_answer_for(beta: Port) -> None:
    beta.port(program(MPU))
    file = beta.copy / "legacy.c"
    file.write_text(file.read_text().replace(MPU, "seen = 2;"))
    beta.build()
    beta.refused(r"legacy\.c:4: .*escalated, and its line in the copy was changed by hand since")
    beta.describe({**AS_IT_IS, "reason": "mended by hand"})
    account, said = beta.linked()
    assert account["open"] == 0 and account["edited"] == ["legacy.c"]
    assert "legacy.c was changed by hand since it was ported" in said


def test_what_comes_into_the_copy_by_hand_is_not_explained_by_the_port(beta: Port) -> None:
    beta.port(program(MPU))
    beta.describe(AS_IT_IS)
    file = beta.copy / "legacy.c"
    file.write_text(file.read_text().replace(MPU, MPU.replace("5u", "7u")))
    beta.build()
    beta.refused(r"legacy\.c:4: .*\[ppb\]: in the program")


def test_a_copy_without_a_record_was_not_ported(beta: Port) -> None:
    beta.port(program())
    (beta.copy / ".fvm-port.json").unlink()
    beta.refused(r"\.fvm-port\.json: is no record of a port.*fvmkit port again", MissingError)


@pytest.mark.parametrize("text", ["{", "[]", '{"schema": 1}', '{"schema": 2, "kept": [{}]}'])
def test_a_record_that_is_none(beta: Port, text: str) -> None:
    beta.port(program())
    (beta.copy / ".fvm-port.json").write_text(text)
    beta.refused(r"\.fvm-port\.json: (is no record|schema 1)")


ELEMENT = (
    '<acknowledge rule="no-counterpart" file="src/a.c" line-text="f(&quot;x&quot;,\n   1);"'
    ' reason="seen by J. Doe"/>'
)


def test_compose_hands_on_what_the_description_acknowledges(tmp_path: Path) -> None:
    ported = ('<project path="one" port="no">', '<project path="one">')
    plan = systems.plan_of(tmp_path, ported, ('<device name="USART1"/>', ELEMENT))
    record = domain_record(plan, plan.domains[2], tmp_path)
    assert record["acknowledged"] == [
        {"rule": "no-counterpart", "file": "src/a.c", "text": 'f("x", 1);',
         "reason": "seen by J. Doe"}
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        (ELEMENT, ELEMENT, r"isn't ported, so there is nothing to acknowledge; remove it"),
        ('reason="seen by J. Doe"', 'reason="  "', "reason"),
        (' reason="seen by J. Doe"', "", "reason"),
        ("line-text=", "line=", "line"),
    ],
)
def test_an_acknowledgement_needs_a_port_and_a_reason(
    tmp_path: Path, old: str, new: str, part: str
) -> None:
    with pytest.raises(FvmError, match=rf"system\.xml:\d+:\d+: .*{part}"):
        systems.plan_of(tmp_path, ('<device name="USART1"/>', ELEMENT.replace(old, new)))


def test_new_code_is_told_apart(beta: Port) -> None:
    beta.port(program())
    _, said = beta.linked()
    assert "never ported, so judged by the scanner alone: alpha\n" in said
    file = beta.folder / "beta.domain.json"  # as compose writes it for port="no"
    entry = json.loads(file.read_text())
    file.write_text(json.dumps({**entry, "project": {"original": "legacy", "ported": "legacy"}}))
    assert beta.linked()[0] is None
