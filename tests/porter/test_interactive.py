"""`fvmkit port -i`, on a terminal: what is asked, and what the answers lead to."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.porter.example_domains import ROOT

MAIN = """\
static unsigned old;

void lock(void)
{
    old = __get_PRIMASK();
    __disable_irq();
}

void unlock(void)
{
    __enable_irq();
}
"""
SLEEP = "void rest(void)\n{\n    __WFI();\n}\n"
ST = "/* Copyright (c) 2017 STMicroelectronics. */\n"
SWITCH = """\
    .syntax unified
    .thumb
    .text
    .global PendSV_Handler
    .type PendSV_Handler, %function
PendSV_Handler:
    mrs     r0, psp
    stmdb   r0!, {r4-r11}
    ldr     r1, =current
    ldr     r2, [r1]
    str     r0, [r2]
    push    {r1, lr}
    bl      choose
    pop     {r1, lr}
    ldr     r2, [r1]
    ldr     r0, [r2]
    ldmia   r0!, {r4-r11}
    msr     psp, r0
    bx      lr
"""


@dataclass(frozen=True)
class Talk:
    """How a conversation ended: what was on the terminal, and standard output."""

    status: int
    seen: str
    out: bytes


def talk(answers: str, *arguments: object) -> Talk:
    """`fvmkit port -i ARGUMENTS` on a terminal, at which somebody types a letter a question."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "composer.cli", "port", "-i", *map(str, arguments)],
        cwd=ROOT, stdin=theirs, stdout=subprocess.PIPE, stderr=theirs,
        env={**os.environ, "NO_COLOR": "1"},
    ) as process:  # fmt: skip
        os.close(theirs)
        os.write(ours, "".join(f"{answer}\n" for answer in answers).encode() + b"\x04")
        seen = b""
        try:
            while part := os.read(ours, 4096):
                seen += part
        except OSError:  # the other end was closed
            pass
        out = process.stdout.read() if process.stdout is not None else b""
    os.close(ours)
    return Talk(process.returncode, seen.decode().replace("\r\n", "\n"), out)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "a project"
    folder.mkdir()
    (folder / "main.c").write_text(MAIN)
    (folder / "rest.c").write_text(SLEEP)
    return folder


def test_each_function_is_asked_with_its_reasons_and_all_is_written_in_place(project: Path) -> None:
    run = talk("yyy", project)
    assert run.status == 0
    assert run.out == b""
    questions = [f"({number}/3) Make this change [y,n,a,d,q,?]?" for number in (1, 2, 3)]
    assert [run.seen.count(question) for question in questions] == [1, 1, 1]
    first = run.seen.partition(questions[0])[0]
    assert "-    __disable_irq();\n+    old = virt_int_save(VIRT_PRIMASK);\n" in first
    assert "main.c:5: __get_PRIMASK [mask-state]: saves and masks\n" in first
    assert "main.c:6: __disable_irq [mask-state]: part of the save above it\n" in first
    assert "virt_int_unmask" in (project / "main.c").read_text()
    assert "hyp_vct_wait" in (project / "rest.c").read_text()
    assert (project / "main.c.orig").read_text() == MAIN


def test_what_is_declined_stays_and_is_escalated_as_that(project: Path) -> None:
    run = talk("yny", project)
    assert run.status == 1
    text = (project / "main.c").read_text()
    assert "virt_int_save(VIRT_PRIMASK);" in text
    assert "    __enable_irq();" in text
    escalated = "main.c:11:5: escalated __enable_irq [mask-intrinsic]: declined by you; else: "
    assert escalated in run.seen
    assert "4 found, 3 rewritten, 0 left, 1 escalated" in run.seen


def test_a_file_of_which_nothing_was_accepted_stays_without_a_header(project: Path) -> None:
    assert talk("dy", project).status == 1
    assert (project / "main.c").read_text() == MAIN
    assert not (project / "main.c.orig").exists()
    assert "hyp_vct_wait" in (project / "rest.c").read_text()


@pytest.mark.parametrize(
    ("answers", "questions", "edited"),
    [
        ("an", 2, {"main.c"}),
        ("da", 2, {"rest.c"}),
        ("yq", 2, {"main.c"}),
        ("q", 1, set()),
        ("?x?yyy", 3, {"main.c", "rest.c"}),
    ],
)
def test_a_d_and_q_answer_for_more(
    project: Path, answers: str, questions: int, edited: set[str]
) -> None:
    before = {path.name: path.read_text() for path in project.iterdir()}
    run = talk(answers, project)
    asked = {line for line in run.seen.split("(") if "Make this change" in line}
    assert len({line[:3] for line in asked}) == questions
    assert {name for name, text in before.items() if (project / name).read_text() != text} == edited
    assert run.status == int(edited != {"main.c", "rest.c"})


def test_help_says_what_the_letters_mean(project: Path) -> None:
    run = talk("?yyy", project)
    assert "a - make this one and all later ones in main.c\n" in run.seen
    assert "q - stop: make what was accepted so far and nothing else\n" in run.seen


def test_the_accepted_part_goes_where_o_or_out_says(project: Path, tmp_path: Path) -> None:
    assert talk("aq", project, "-o", tmp_path / "x.diff").status == 1
    diff = (tmp_path / "x.diff").read_bytes()
    assert b"+++ b/main.c" in diff
    assert b"rest.c" not in diff
    assert (project / "main.c").read_text() == MAIN
    assert talk("dy", project, "--out", tmp_path / "out").status == 1
    assert (tmp_path / "out" / "main.c").read_text() == MAIN
    assert "hyp_vct_wait" in (tmp_path / "out" / "rest.c").read_text()
    assert "declined by you" in (tmp_path / "out" / ".fvm-port.json").read_text()
    assert (project / "rest.c").read_text() == SLEEP


def test_an_interruption_writes_nothing(project: Path) -> None:
    run = talk("y\x03", project)
    assert run.status == 130
    assert (project / "main.c").read_text() == MAIN


def test_a_removed_variable_is_asked_with_what_used_it(tmp_path: Path) -> None:
    project = tmp_path / "p"
    project.mkdir()
    (project / "main.c").write_text(
        "#define CPUID (*(volatile unsigned *)0xE000ED00)\nvoid assert(int);\n"
        "static unsigned id;\n\nvoid f(void)\n{\n    id = CPUID;\n    assert(id != 3);\n}\n"
    )
    run = talk("n", project)
    assert "(1/1) Make this change" in run.seen
    assert "-static unsigned id;\n" in run.seen
    assert "-    assert(id != 3);\n" in run.seen


def test_a_context_switch_is_one_question_with_its_new_file(project: Path) -> None:
    (project / "switch.S").write_text(SWITCH)
    (project / "os.h").write_text("void choose(void);\n")
    run = talk("ddd", project, "--cpu=-mcpu=cortex-m3 -mthumb")
    shown = run.seen.partition("(4/4) Make")[0].rpartition("Make this change")[2]
    assert "+++ b/switch_fvm.c" in shown
    assert "+++ b/switch.S" in shown
    assert "PendSV_Handler" in shown
    assert not (project / "switch_fvm.c").exists()


def test_all_means_a_whole_folder_of_others(project: Path) -> None:
    for name in ("one", "two"):
        (project / "hal").mkdir(exist_ok=True)
        (project / "hal" / f"{name}.c").write_text(ST + SLEEP.replace("rest", name))
    helped = talk("dd?d", project, "-o", "/dev/null").seen
    assert "make this one and all later ones in hal\n" in helped
    run = talk("ada", project)
    assert run.status == 1
    assert "hyp_vct_wait" in (project / "hal" / "two.c").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), b"standard input and standard error must be a terminal"),
        (("--check",), b"-i and --check exclude each other"),
    ],
)
def test_it_asks_nobody_who_is_not_there(
    project: Path, arguments: tuple[str, ...], message: bytes
) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "composer.cli", "port", "-i", project, *arguments],
        cwd=ROOT, input=b"y\ny\ny\n", capture_output=True, check=False,
    )  # fmt: skip
    assert run.returncode == 2
    assert message in run.stderr
    assert (project / "main.c").read_text() == MAIN
