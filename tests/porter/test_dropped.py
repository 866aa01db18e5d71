"""What nothing of a program uses stays as its author left it: an edit there is only work."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from porter.judging.verdict import Status
from porter.ledger.recorded import record_of
from porter.port import port_project
from porter.project.domain import Domain
from porter.project.request import NOTHING_MORE, Request
from porter.result import PortResult
from scanner.report.errors import MissingError
from tests.porter.helpers import DOMAIN, escalations

HEADER = """\
typedef struct { volatile unsigned CR, ENR; } RCC_TypeDef;
#define RCC ((RCC_TypeDef *)0x40023800)
#define SET(r, b) ((r) |= (b))
#define CLK_A_ENABLE() SET(RCC->ENR, 1u)
#define CLK_B_ENABLE() SET(RCC->ENR, 2u)
static inline void halt(void) { __asm volatile ("cpsid i"); }
static inline void hush(void) { __asm volatile ("cpsid i"); }
"""
DRIVER = '#include "hal.h"\nvoid init(void) { CLK_A_ENABLE(); hush(); }\n' + (
    "void deinit(void) { RCC->CR = 0; halt(); CLK_B_ENABLE(); }\n"
)
MAIN = "void init(void);\nint main(void) { init(); for (;;) { } }\n"


def port(
    folder: Path, main: str = MAIN, request: Request = NOTHING_MORE, domain: Domain = DOMAIN
) -> PortResult:
    (folder / "Drivers").mkdir(exist_ok=True)
    (folder / "Drivers" / "hal.h").write_text(HEADER)
    (folder / "Drivers" / "hal.c").write_text(DRIVER)
    (folder / "main.c").write_text(main)
    return port_project(folder, domain, request=request)


def ported(result: PortResult) -> str:
    return "".join(it.ported.decode() for it in result.files if it.file.name != "main.c")


def test_only_what_the_program_uses_is_edited(tmp_path: Path) -> None:
    text = ported(port(tmp_path))
    assert "#define CLK_A_ENABLE() ((void)0)\n" in text
    assert "#define CLK_B_ENABLE() SET(RCC->ENR, 2u)\n" in text
    assert 'static inline void halt(void) { __asm volatile ("cpsid i"); }\n' in text
    assert "static inline void hush(void) { virt_int_mask(VIRT_PRIMASK); }\n" in text
    assert "void deinit(void) { RCC->CR = 0; halt(); CLK_B_ENABLE(); }\n" in text


def test_a_file_that_is_built_beside_the_project_may_call_it(tmp_path: Path) -> None:
    beside = tmp_path / "guest.c"
    domain = replace(DOMAIN, beside=(beside,))
    (tmp_path / "project").mkdir()
    with pytest.raises(MissingError, match=r"guest\.c: replaces a file of the project"):
        port(tmp_path / "project", domain=domain)
    beside.write_text('#include "hal.h"\nvoid uart(void) { deinit(); }\n')
    text = ported(port(tmp_path / "project", domain=domain))
    assert "static inline void halt(void) { virt_int_mask(VIRT_PRIMASK); }\n" in text
    assert "#define CLK_B_ENABLE() ((void)0)\n" in text


def test_each_such_place_is_told_and_a_program_that_has_it_is_refused(tmp_path: Path) -> None:
    result = port(tmp_path)
    left = [it for file in result.files for it in file.verdicts if it.rule == "dropped"]
    assert [it.site.what for it in left] == ["RCC", "RCC", "cpsid i"]
    assert {it.status for it in left} == {Status.LEFT}
    assert {it.reason for it in left} == {"nothing uses it: the linker drops it"}
    assert all(it.absent for it in record_of(result).kept if it.rule == "dropped")
    assert escalations(result) == []


@pytest.mark.parametrize(
    ("main", "request_"),
    [
        (MAIN.replace("init(); for", "init(); deinit(); for"), Request()),
        (MAIN, Request(all_arms=True)),
        ("void init(void);\n", Request()),  # somebody else begins the program
    ],
)
def test_else_it_is_ported(tmp_path: Path, main: str, request_: Request) -> None:
    text = ported(port(tmp_path, main, request_))
    assert "#define CLK_B_ENABLE() ((void)0)\n" in text
    assert text.count("cpsid") == 0
    assert "RCC->CR" not in text
