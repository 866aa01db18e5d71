"""Escalated places that a person answers for in the description."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from composer.cli import fvmkit

LINE = "__set_MSP(0x20001000); "
TEXT = f"int main(void)\n{{\n\t{LINE}\n\treturn 0;\n}}\n"
DOMAIN = {
    "schema": 1, "name": "a", "chip": "STM32F405RG", "clock_hz": 1, "kernel_tick_hz": 1,
    "fpu": False, "vectors": [],
}  # fmt: skip


def port(folder: Path, text: str, *given: dict[str, str]) -> tuple[int, str, dict[str, object]]:
    (folder / "p").mkdir(exist_ok=True)
    (folder / "p" / "main.c").write_text(text)
    (folder / "d.json").write_text(json.dumps({**DOMAIN, "acknowledged": given}))
    arguments = ["port", str(folder / "p"), "--domain", str(folder / "d.json"), "--json"]
    result = CliRunner().invoke(fvmkit, arguments, standalone_mode=False)
    return result.return_value, result.stderr, json.loads(result.stdout)


def answer(rule: str, text: str) -> dict[str, str]:
    return {"rule": rule, "file": "main.c", "text": text, "reason": "seen by J. Doe"}


def test_port_is_done_when_a_person_answers_for_what_it_escalates(tmp_path: Path) -> None:
    status, _, report = port(tmp_path, TEXT)
    (site,) = report["sites"]
    assert status == 1 and site["status"] == "escalated"
    given = answer(site["rule"], site["line_text"])
    status, said, report = port(tmp_path, TEXT, given)
    assert status == 0 and report["acknowledged"] == 1
    assert "acknowledged __set_MSP" in said and "seen by J. Doe" in said
    assert "1 escalated (1 of them acknowledged)" in said


def test_another_text_is_another_place(tmp_path: Path) -> None:
    _, _, report = port(tmp_path, TEXT)
    (site,) = report["sites"]
    given = answer(site["rule"], site["line_text"])
    status, said, report = port(tmp_path, TEXT.replace("1000", "2000"), given)
    assert status == 1 and report["acknowledged"] == 0
    assert "acknowledges nothing any more" in said and "main.c" in said


def test_what_is_acknowledged_of_a_program_is_not_the_ports_to_judge(tmp_path: Path) -> None:
    _, said, _ = port(tmp_path, "int main(void) { return 0; }\n", answer("ppb", "x = y;"))
    assert "acknowledges nothing" not in said
