"""Arms that a build can't contain are left with the condition; all others are judged as before."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.judging.verdict import Status
from porter.port import port_project
from porter.project.compiler_facts import belongs_to_compilers
from porter.project.request import Request
from porter.source.condition_value import condition_value
from tests.porter.helpers import escalations

M4 = ("-mcpu=cortex-m4", "-mthumb")
OPEN = "void f(unsigned x) { __set_MSP(x); }\n"


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / name.replace("_DOT_", ".")).write_text(text)
    return folder


def status(
    folder: Path, cpu: tuple[str, ...] = M4, name: str = "main.c", all_arms: bool = False
) -> Status:
    """What became of the one open site of a file."""
    result = port_project(folder, cpu=cpu, request=Request(all_arms=all_arms))
    (verdict,) = [v for port in result.files if port.file.name == name for v in port.verdicts]
    return verdict.status


OUT = [
    "defined(__ICCARM__)",
    "defined ( __CC_ARM ) || defined(__TASKING__)",
    "defined(__ARM_FEATURE_CMSE) && (__ARM_FEATURE_CMSE == 3U)",
    "__ARM_FEATURE_CMSE == 3",
    "!defined(__GNUC__)",
    "defined(__ICCARM__) && defined(ANYTHING)",
    "__CORTEX_M == 0",
    "(__CORTEX_M >= 0x17U)",
    "defined(__ARM_ARCH_6M__)",
    "__ARM_ARCH_PROFILE != 77",
    "defined(__riscv) || defined(__AVR__)",
    "0",
]
IN = [
    "defined(ANYTHING)",
    "ANYTHING == 3",
    "!defined(__ICCARM__)",
    "defined(__ICCARM__) || defined(ANYTHING)",
    "__CORTEX_M == 4",
    "__CORTEX_M != 0 && ANYTHING",
    "defined(__ARM_ARCH_7EM__)",
    "defined(__VFP_FP__)",
    "unreadable ( condition",
    "__FPU_PRESENT == 0",
    "__has_include(<x.h>)",
]


@pytest.mark.parametrize("condition", OUT)
def test_an_arm_that_the_build_cannot_contain_is_left(tmp_path: Path, condition: str) -> None:
    write(tmp_path, main_DOT_c=f"#if {condition}\n{OPEN}#endif\n")
    assert status(tmp_path) is Status.LEFT
    assert status(tmp_path, all_arms=True) is Status.ESCALATED


@pytest.mark.parametrize("condition", IN)
def test_an_arm_that_it_may_contain_is_not(tmp_path: Path, condition: str) -> None:
    write(tmp_path, main_DOT_c=f"#if {condition}\n{OPEN}#endif\n")
    assert status(tmp_path) is Status.ESCALATED


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("__CORTEX_M == 0", Status.ESCALATED),
        ("defined(__ARM_ARCH_6M__)", Status.ESCALATED),
        ("defined(__ARM_FEATURE_CMSE)", Status.ESCALATED),  # of a Cortex-M33
        ("__ARM_FEATURE_CMSE == 3", Status.LEFT),  # with -mcmse alone
        ("defined(__ICCARM__)", Status.LEFT),
        ("defined(__ARM_FP)", Status.ESCALATED),
    ],
)
def test_a_guessed_core_decides_only_what_all_cores_agree_on(
    tmp_path: Path, condition: str, expected: Status
) -> None:
    write(tmp_path, main_DOT_c=f"#if {condition}\n{OPEN}#endif\n")
    assert status(tmp_path, cpu=()) is expected


def test_the_reason_names_the_condition(tmp_path: Path) -> None:
    write(tmp_path, main_DOT_c=f"#ifdef A\n#if defined(__ICCARM__)\n{OPEN}#endif\n#endif\n")
    (port,) = port_project(tmp_path, cpu=M4).files
    reason = "in an arm that needs defined ( __ICCARM__ ): not in this build"
    assert [verdict.reason for verdict in port.verdicts] == [reason]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"#ifdef __ICCARM__\n#else\n{OPEN}#endif\n", Status.ESCALATED),
        (f"#ifdef __ICCARM__\n#elif defined(__GNUC__)\n{OPEN}#endif\n", Status.ESCALATED),
        (f"#ifdef __GNUC__\n#elif defined(A)\n{OPEN}#endif\n", Status.LEFT),
        (f"#ifdef __GNUC__\n#else\n{OPEN}#endif\n", Status.LEFT),
        (f"#ifdef A\n#else\n{OPEN}#endif\n", Status.ESCALATED),
        (f"#ifndef __ICCARM__\n#ifdef A\n{OPEN}#endif\n#endif\n", Status.ESCALATED),
        (f"#ifdef A\n#define __ICCARM__ 1\n#endif\n#ifdef __ICCARM__\n{OPEN}#endif\n",
         Status.ESCALATED),
        (f"#undef __GNUC__\n#ifndef __GNUC__\n{OPEN}#endif\n", Status.ESCALATED),
        ("#ifdef __CC_ARM\n#define __ICCARM__ 1\n#endif\n#ifdef __ICCARM__\n" + OPEN + "#endif\n",
         Status.LEFT),
    ],
)  # fmt: skip
def test_other_arms_and_definitions_count(tmp_path: Path, text: str, expected: Status) -> None:
    write(tmp_path, main_DOT_c=text)
    assert status(tmp_path) is expected


def test_what_another_header_defines_is_not_certain(tmp_path: Path) -> None:
    write(
        tmp_path,
        main_DOT_c=f'#include "cc.h"\n#ifdef __CC_ARM\n{OPEN}#endif\n',
        cc_DOT_h="#define __CC_ARM 1\n",
    )
    assert status(tmp_path) is Status.ESCALATED


def test_what_an_option_defines_is_not_certain(tmp_path: Path) -> None:
    """The unit can't be preprocessed, so its option is all that is known."""
    make = "main.o: main.c\n\tarm-none-eabi-gcc -mcpu=cortex-m4 {} -c main.c\n"
    main = f"#include <gone.h>\n#ifdef __CC_ARM\n{OPEN}#endif\n"
    write(tmp_path, main_DOT_c=main, Makefile=make.format("-D__CC_ARM"))
    assert status(tmp_path, ()) is Status.ESCALATED
    write(tmp_path, Makefile=make.format(""))
    assert status(tmp_path, ()) is Status.LEFT


GUARDED = "#ifndef X_H\n#define X_H\n{}\n#endif\n"
FATAL = '#ifndef __ICCARM__\n  #error "for IAR alone"\n#endif\n'


@pytest.mark.parametrize(
    ("main", "header", "expected"),
    [
        ("", FATAL + OPEN, Status.LEFT),  # nothing includes it
        ('#include "x.h"\n', FATAL + OPEN, Status.LEFT),
        ('#if defined(__CC_ARM)\n#include "x.h"\n#endif\n', OPEN, Status.LEFT),
        ('#if defined(__CC_ARM)\n#include "x.h"\n#else\n#include "x.h"\n#endif\n', OPEN,
         Status.ESCALATED),
        ('#if defined(A)\n#include "x.h"\n#endif\n', OPEN, Status.ESCALATED),
        ('#if defined(__CC_ARM)\n#include "x.h"\n#endif\n#include CHOICE\n', OPEN,
         Status.ESCALATED),
        ("", OPEN, Status.ESCALATED),  # another project's file may
        ('#include "x.h"\n', "#ifdef A\n#error no\n#endif\n" + OPEN, Status.ESCALATED),
        ('#include "x.h"\n', "#ifdef __ICCARM__\n#error no\n#endif\n" + OPEN, Status.ESCALATED),
    ],
)  # fmt: skip
def test_headers_that_no_build_reaches_are_left(
    tmp_path: Path, main: str, header: str, expected: Status
) -> None:
    write(tmp_path, main_DOT_c=main, x_DOT_h=GUARDED.format(header))
    assert status(tmp_path, name="x.h") is expected


def test_headers_of_core_headers_do_not_make_the_core_uncertain(tmp_path: Path) -> None:
    write(
        tmp_path,
        main_DOT_c=f"#if __CORTEX_M == 0\n{OPEN}#endif\n",
        core_cm0_DOT_h="#define __CORTEX_M (0U)\n",
        core_cm4_DOT_h="#define __CORTEX_M (4U)\n",
    )
    assert status(tmp_path) is Status.LEFT
    write(tmp_path, mine_DOT_h="#define __CORTEX_M 0\n")
    assert status(tmp_path) is Status.ESCALATED


def test_what_can_be_ported_in_such_an_arm_is(tmp_path: Path) -> None:
    text = "#ifdef __ICCARM__\nvoid f(void) { __disable_interrupt(); }\n#endif\n"
    write(tmp_path, main_DOT_c=text)
    assert status(tmp_path) is Status.REWRITTEN


@pytest.mark.parametrize(
    ("condition", "value"),
    [
        ("1 ? 0 : U", None), ("U ? 0 : 0", False), ("U ? 1 : 0", None), ("U && 0", False),
        ("U || 2", True), ("U & 0", None), ("!U", None), ("1 +", None), ("(1", None),
        ("3 - 2 * 1 == 1", True), ("7 / 2 == 3 && 7 % 2", True), ("1 / 0", None), ("1 << 70", None),
        ("~0 < 0", True), ("'a'", None), ("defined", None), ("defined (", None), ("", None),
        ("~0U > 0xFFFFFFFF", True), ("1U - 2 > 0", True), ("-1 > 0xffffffffU", True),
        ("0xFFFFFFFFFFFFFFFF == -1", True), ("(1 ? -1 : 0u) > 0", True), ("1 << 40 > 0", True),
        ("-8 / 2 == -4 && -8 % 3 == -2 && -8 >> 1 == -4", True), ("0xFFFFFFFF > -1", True),
        ("F(1)", None), ("0x10uL == 16", True), ("1 2", None), ("(" * 60 + "1" + ")" * 60, None),
    ],
)  # fmt: skip
def test_values_of_conditions(condition: str, value: bool | None) -> None:
    found = condition_value(condition, lambda _n: None, lambda _n: None, lambda _n: None)
    assert found is value


@pytest.mark.parametrize("name", ["__ICCARM__", "__ARM_ARCH_8M_MAIN__", "__AVR_ATmega328P__"])
def test_names_of_compilers(name: str) -> None:
    assert belongs_to_compilers(name)


@pytest.mark.parametrize("name", ["USE_IAR", "__STM32__", "ARM_MATH_CM4", "__FPU_PRESENT", "DEBUG"])
def test_names_of_projects(name: str) -> None:
    assert not belongs_to_compilers(name)


@pytest.mark.parametrize("condition", ["0", "0 && defined(X)", "1 > 2", "!1"])
def test_what_no_build_has_stays_as_it_is(tmp_path: Path, condition: str) -> None:
    """Unlike an arm that another build may take."""
    text = f"void f(void)\n{{\n#if {condition}\n    /* Old. */\n    __disable_irq();\n#endif\n}}\n"
    write(tmp_path, main_DOT_c=text)
    (file,) = port_project(tmp_path).files
    assert file.ported == text.encode()
    (file,) = port_project(tmp_path, request=Request(all_arms=True)).files
    assert b"virt_int_mask" in file.ported


LIST = "#ifdef DECLARE\nDECLARE(vtor, 0xE000ED08)\nDECLARE(aircr, 0xE000ED0C)\n#endif\n"
MAIN = 'int main(void) { for (;;) __asm("wfi"); }\n'


@pytest.mark.parametrize("cpu", [M4, ("-march=rv32imac_zicsr", "-mabi=ilp32")])
def test_a_list_for_whoever_defines_the_macro_is_out_where_nobody_does(
    tmp_path: Path, cpu: tuple[str, ...]
) -> None:
    """Neither is the macro a function that isn't in the tree, nor are its numbers addresses."""
    write(tmp_path, list_DOT_h=LIST, main_DOT_c='#include "list.h"\n' + MAIN)
    result = port_project(tmp_path, cpu=cpu)
    assert not result.unseen
    assert escalations(result) == []
    status_of_list = {v.status for it in result.files if it.file.is_header for v in it.verdicts}
    assert status_of_list == {Status.LEFT}


@pytest.mark.parametrize(
    "change",
    [
        ("main.c", "#define DECLARE(name, at) unsigned name = *(unsigned *)at;\n"),
        ("list.h", "void g(void) {\n"),  # what a library has for hooks
        ("list.h", "#ifdef DECLARE\nint declared;\n#endif\n#if defined(DECLARE)\nint i; "),
    ],
)
def test_such_a_list_is_open_where_it_may_be_in(tmp_path: Path, change: tuple[str, str]) -> None:
    files = {"main.c": '#include "list.h"\n' + MAIN, "list.h": LIST}
    if "int i" in change[1]:
        files["list.h"] = LIST.removeprefix("#ifdef DECLARE\n")
    files[change[0]] = change[1] + files[change[0]]
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert escalations(port_project(tmp_path, cpu=M4))
