"""What a person does between init and compose for the two example projects: what DECIDE says."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from tests.support.example import EXAMPLE, MOTOR, SENSOR, copy_project

LINK = "src/link_uart.c"


def copy_example(folder: Path) -> None:
    """The two projects and the drivers that a person wrote for the link between them."""
    for name in (MOTOR, SENSOR):
        copy_project(name, folder / name)
        driver = folder / "fvm" / name / "link_uart.c"
        driver.parent.mkdir(parents=True)
        shutil.copyfile(EXAMPLE / "fvm" / name / "link_fvm.c", driver)


def decide(text: str) -> str:
    """The boards were joined by USART3: both drop it, and what init proposes is taken."""
    conflict = _comment(text, "DECIDE: USART3 is used here")
    proposal = _comment(text, "DECIDE: if USART3 joined")
    for element in re.findall(r"^ +(<.*/>)$", conflict, re.MULTILINE):
        text = text.replace(element, "", 1)  # the first is that of the machine that kept it
    for name, replace in re.findall(r"^ *in ([\w-]+): (<replace .*/>)$", proposal, re.MULTILINE):
        path = f'<project path="{name}"'
        start, end = text.split(path, 1)
        text = start + path + end.replace("</project>", f"  {replace}\n    </project>", 1)
    shared = re.search(r"^ *<shared .*/>$", proposal, re.MULTILINE | re.DOTALL)
    assert shared is not None
    return text.replace("</system>", shared.group() + "\n</system>")


def _comment(text: str, start: str) -> str:
    found = re.search(rf"<!-- {start}.*?-->", text, re.DOTALL)
    assert found is not None, text
    return found.group()
