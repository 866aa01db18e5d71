"""A machine's watchdog starts with the first feed: feeds of one that isn't started are told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.porter.helpers import DOMAIN, escalations, port_files

HEAD = """\
typedef struct { volatile unsigned KR, PR, RLR, SR; } IWDG_TypeDef;
#define IWDG ((IWDG_TypeDef *)0x40003000)
#define START (IWDG->KR = 0xCCCC)
int button, n; int failed(void);
static void start(void) { IWDG->KR = 0xCCCC; }
"""
FEEDS = "for (;;) { IWDG->KR = 0xAAAA; n++; }"
UNSURE = {
    "never": ("", "nothing in the program starts"),
    "under a condition": ("if (button) IWDG->KR = 0xCCCC;", "under '(button)'"),
    "a call under one": ("if (button) start();", "under '(button)'"),
    "the right of &&": ("n = button && (start(), 1);", "under 'button'"),
    "a case": ("switch (button) { case 1: start(); }", "under '(button)'"),
    "an arm of #if": ("\n#ifdef RELEASE\nIWDG->KR = 0xCCCC;\n#endif\n", "#if defined(RELEASE)"),
}
SURE = {
    "main": "IWDG->KR = 0xCCCC;",
    "a call": "start();",
    "in a condition": "if ((start(), failed())) n = 1;",
    "twice": "if (button) start(); start();",
}


def told(folder: Path, body: str) -> list[str]:
    text = f"{HEAD}int main(void) {{ {body} {FEEDS} }}\n"
    domain = replace(DOMAIN, watchdog_ms=512)
    return escalations(port_files(folder, {"main.c": text.encode()}, domain))


@pytest.mark.parametrize(("body", "why"), UNSURE.values(), ids=UNSURE)
def test_a_feed_of_what_may_not_run_is_told(body: str, why: str, tmp_path: Path) -> None:
    found = told(tmp_path, body)
    assert len(found) == 1 and "starts with the first feed" in found[0], found
    assert why in found[0] or "in start() of" in found[0], found


@pytest.mark.parametrize("body", SURE.values(), ids=SURE)
def test_a_start_that_always_comes_is_enough(body: str, tmp_path: Path) -> None:
    assert told(tmp_path, body) == []


def test_a_library_that_nobody_calls(tmp_path: Path) -> None:
    text = f"{HEAD}void feed(void) {{ IWDG->KR = 0xAAAA; }}\nint main(void) {{ for (;;) {{ }} }}\n"
    domain = replace(DOMAIN, watchdog_ms=512)
    assert escalations(port_files(tmp_path, {"main.c": text.encode()}, domain)) == []


def test_a_timeout_that_disagrees_stays_in_the_text(tmp_path: Path) -> None:
    body = "IWDG->KR = 0x5555; IWDG->PR = 4; IWDG->RLR = 625; IWDG->KR = 0xCCCC;"
    text = f"{HEAD}int main(void) {{ {body} {FEEDS} }}\n".encode()
    result = port_files(tmp_path, {"main.c": text}, DOMAIN)
    assert all("the code means" in it for it in escalations(result))
    (port,) = result.files
    assert b"IWDG->PR = 4; IWDG->RLR = 625;" in port.ported and b"0x5555" not in port.ported
