"""Handlers whose text stands in macros, headers or outside of functions: none goes unheard."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.judging.verdict import Status, Verdict
from porter.port import port_project
from tests.porter.context_switch.test_refusals import FRAME, RESUME
from tests.porter.context_switch.trees import M3

BODY = FRAME + "push {r1, lr}\nbl choose\npop {r1, lr}\n" + RESUME
QUOTED = " ".join(f'"{line}\\n"' for line in BODY.splitlines())
NAKED = "__attribute__((naked)) void PendSV_Handler(void)"
REST = """
void choose(void) { task = next; }
void PendSV_Handler(void);
void Reset_Handler(void) { for (;;) { } }
void *const vectors[] = {0, Reset_Handler, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, PendSV_Handler, 0};
"""
HEAD = "#include <stdint.h>\nvoid choose(void);\nuint32_t *task, *next;\n"
MACRO = "    .syntax unified\n    .thumb\n    .text\n    .macro BODY\n{body}    .endm\n"
ENTRY = "    .global PendSV_Handler\n    .thumb_func\nPendSV_Handler:\n    BODY\n"


def verdicts(folder: Path, **texts: str) -> list[Verdict]:
    """Of the files `switch_c` and so on."""
    for name, text in texts.items():
        (folder / name.replace("_", ".")).write_text(text)
    return [it for file in port_project(folder, cpu=M3).files for it in file.verdicts
            if it.rule != "vectors" and "vectors" not in it.site.what]  # fmt: skip


def of_handler(found: list[Verdict]) -> set[tuple[Status, str]]:
    return {(it.status, it.reason) for it in found if "psp" in it.site.what or "Pend" in it.reason}


def test_the_text_of_an_asm_statement_may_be_a_headers_macro(tmp_path: Path) -> None:
    text = f'{HEAD}#include "port.h"\n{NAKED}\n{{\n    __asm volatile(SWITCH);\n}}\n{REST}'
    ((status, reason),) = of_handler(
        verdicts(tmp_path, switch_c=text, port_h=f"#define SWITCH {QUOTED}\n")
    )
    assert status is Status.REWRITTEN and "proved" in reason


def test_a_headers_macro_may_be_the_statement(tmp_path: Path) -> None:
    """The file itself has no word of assembler; what only its functions used is used no more."""
    main = "int main(void) { choose(); return 0; }\n"
    text = f'{HEAD}#include "port.h"\n{NAKED}\n{{\n    SWITCH();\n}}\n{REST}{main}'
    found = verdicts(tmp_path, switch_c=text, port_h=f"#define SWITCH() __asm volatile({QUOTED})\n")
    (handler,) = [it for it in found if it.site.file == "switch.c"]
    assert handler.status is Status.REWRITTEN and "proved" in handler.reason
    macro = [it for it in found if it.site.file == "port.h"]
    assert macro and all(it.status is Status.LEFT for it in macro)


def test_a_file_that_cant_be_compiled_is_told_of(tmp_path: Path) -> None:
    text = f'#include "config.h"\n{HEAD}#include "port.h"\n{NAKED}\n{{\n    SWITCH();\n}}\n{REST}'
    found = verdicts(tmp_path, switch_c=text, port_h=f"#define SWITCH() __asm volatile({QUOTED})\n")
    (told,) = [it for it in found if it.site.file == "switch.c"]
    assert told.status is Status.ESCALATED and "config.h: No such file" in told.reason


def test_what_a_macro_puts_into_another_statement_is_a_site(tmp_path: Path) -> None:
    text = f'{HEAD}#include "port.h"\nvoid f(void)\n{{\n    __asm volatile(MASK "nop");\n}}\n{REST}'
    found = verdicts(tmp_path, switch_c=text, port_h='#define MASK "cpsid i\\n"\n')
    (masked,) = [it for it in found if it.site.what == "cpsid i"]
    assert masked.status is not Status.REWRITTEN and "macro: write it out" in masked.reason


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        (
            {"switch_c": f'{HEAD}__asm("PendSV_Handler:\\n" {QUOTED});\n{REST}'},
            "move it to an assembler file",
        ),
        (
            {
                "port_h": f"{NAKED}\n{{\n    __asm volatile({QUOTED});\n}}\n",
                "switch_c": f'{HEAD}#include "port.h"\n{REST}',
            },
            "move it to a C file",
        ),
        (
            {
                "port_h": f"#define ENTRY(next) {NAKED} {{ __asm volatile({QUOTED} #next); }}\n",
                "switch_c": f'{HEAD}#include "port.h"\nENTRY(nop)\n{REST}',
            },
            "macro: write it out",
        ),
    ],
    ids=["file scope", "header", "macro of a function"],
)
def test_where_nothing_is_edited_the_way_out_is_told(
    texts: dict[str, str], told: str, tmp_path: Path
) -> None:
    found = of_handler(verdicts(tmp_path, **texts))
    assert found and all(status is Status.ESCALATED and told in why for status, why in found)


def test_a_macro_of_the_assembler_is_judged_where_it_is_used(tmp_path: Path) -> None:
    text = MACRO.format(body=BODY.replace(".ltorg\n", "")) + ENTRY + "    .ltorg\n"
    found = verdicts(tmp_path, switch_S=text, main_c=HEAD + REST)
    assert {it.status for it in found} == {Status.LEFT, Status.REWRITTEN}
    (handler,) = [it for it in found if it.status is Status.REWRITTEN]
    assert handler.site.what == "PendSV_Handler" and "proved" in handler.reason
    assert all("a macro: what uses it" in it.reason for it in found if it is not handler)
    (new,) = [file for file in port_project(tmp_path, cpu=M3).files if file.is_new]
    assert b"void PendSV_Handler(void)\n" in new.edits[0].replacement


def test_a_file_of_nothing_but_macros_of_a_header_is_looked_at(tmp_path: Path) -> None:
    header = MACRO.format(body=BODY.replace("msr psp", "msr primask, r1\nmsr psp"))
    text = f'#include "port.h"\n{ENTRY}    .ltorg\n'
    (tmp_path / "port.h").write_text(header.replace("bl choose\n", "bl hidden\n"))
    found = verdicts(tmp_path, switch_S=text, main_c=HEAD + REST)
    assert [it.status for it in found] == [Status.ESCALATED]
    assert "hidden" in found[0].reason


def test_a_part_of_a_naked_function_doesnt_become_c(tmp_path: Path) -> None:
    """Its other statements are assembler too, in macros that nobody could look at."""
    parts = ['__asm volatile("cpsid i");', "SAVE();", '__asm volatile("cpsie i\\n bx lr");']
    text = f'#include "config.h"\n{NAKED}\n{{{" ".join(parts)}}}\n'
    found = verdicts(tmp_path, switch_c=text)
    masks = [it for it in found if it.site.what.startswith("cps")]
    assert len(masks) == 2
    assert all(it.status is Status.ESCALATED and "as a whole" in it.reason for it in masks)


def test_without_a_vector_table_handlers_are_what_cmsis_calls_so(tmp_path: Path) -> None:
    deep = 'static void deep(void) { __asm volatile("msr psp, r0"); }\n'
    main = "int main(void) { return 0; }\n"
    handler = "void PendSV_Handler(void) { deep(); }\n"
    (site,) = verdicts(tmp_path, main_c=f"{deep}{handler}{main}")
    assert site.status is Status.ESCALATED
    (site,) = verdicts(tmp_path, main_c=f"{deep}{main}")
    assert site.status is Status.LEFT and "nothing uses it" in site.reason


def test_a_handler_in_cplusplus_is_told_where_to_go(tmp_path: Path) -> None:
    found = verdicts(
        tmp_path, switch_cpp=f'extern "C" {NAKED}\n{{\n    asm volatile({QUOTED});\n}}\n'
    )
    assert found and all("move it to a C file" in it.reason for it in found)
