"""Handlers in assembler files: taken out of the file, and written in C beside it."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from porter.context_switch.assemble import assemble
from porter.context_switch.result import SwitchPort
from porter.judging.verdict import Status
from porter.output.unified_diff import unified_diff
from porter.port import port_project
from tests.porter.context_switch.trees import M3, Tree, fixture

HANDLER = """\
    .syntax unified
    .thumb
    .text

    /* Masks. */
    .global os_mask
    .type os_mask, %function
os_mask:
    mrs     r0, primask
    cpsid   i
    bx      lr

    .global os_request
    .type os_request, %function
    .global os_request_late
    .type os_request_late, %function
os_request:
os_request_late:
    ldr     r1, =next
    str     r0, [r1]
    ldr     r0, =0xE000ED04
    ldr     r1, =0x10000000
    str     r1, [r0]
    bx      lr

/* The switch itself. */
    .global PendSV_Handler
    .type PendSV_Handler, %function
PendSV_Handler:
    mrs     r0, psp
    stmdb   r0!, {r4-r11}       @ save
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
    .size PendSV_Handler, . - PendSV_Handler

    .global os_double
    .type os_double, %function
os_double:
    add     r0, r0, r0
    bx      lr

    .global HardFault_Handler
    .type HardFault_Handler, %function
HardFault_Handler:
    mrs     r0, psp
    b       .
"""
HEADER = """\
struct task;
unsigned os_mask(void);
void os_request(struct task *chosen), os_request_late(struct task *chosen);
void choose(void);
int os_double(int value);
"""
START = """\
    .global os_start
    .type os_start, %function
os_start:
    ldr     r1, =next
    str     r0, [r1]
    ldr     r0, =0xE000ED20
    ldr     r1, =0x00FF0000
    ldr     r2, [r0]
    orrs    r1, r1, r2
    str     r1, [r0]
    ldr     r0, =0xE000ED04
    ldr     r1, =0x10000000
    str     r1, [r0]
    ldr     r0, =0xE000ED08
    ldr     r0, [r0]
    ldr     r0, [r0]
    msr     msp, r0
    cpsie   i
    isb
    b       .
"""


def with_header(folder: Path, prototype: str) -> Tree:
    tree = fixture(folder, HANDLER, M3, "switch.S")
    header = folder / "os.h"
    header.write_text(prototype)
    return replace(tree, files=(*tree.files, header))


def companion(ports: list[SwitchPort]) -> str:
    (new,) = [port for port in ports if port.file.suffix == ".c"]
    assert new.file.name == "switch_fvm.c"
    return new.replacement.decode()


def named(ports: list[SwitchPort], name: str) -> SwitchPort:
    (found,) = [port for port in ports if port.name == name]
    return found


def test_the_handler_becomes_c_beside_the_file(tmp_path: Path) -> None:
    ports = with_header(tmp_path, HEADER).port()
    handler = named(ports, "PendSV_Handler")
    assert (handler.status, handler.role) == ("rewritten", "switch")
    text = companion(ports)
    assert "void PendSV_Handler(void)\n{\n" in text
    assert "USR_STMDB(sp, R4, R11);" in text and "/* stmdb r0!, {r4-r11} */" in text
    assert "choose();" in text


@pytest.mark.parametrize("word", [".global", ".globl", ".weak"])
def test_names_declared_in_a_list_stay_so_for_what_stays(word: str, tmp_path: Path) -> None:
    """os_double stays, and only the list exports it."""
    alone = "".join(line for line in HANDLER.splitlines(True) if ".global" not in line)
    names = re.findall(r"\.global (\w+)", HANDLER)
    text = alone.replace(
        "    .type os_mask", f"    {word} {', '.join(names)}\n    .type os_mask", 1
    )
    tree = with_header(tmp_path, HEADER)
    tree.files[0].write_text(text)
    ports = tree.port()
    for name in ("os_mask", "os_request", "PendSV_Handler"):
        assert named(ports, name).status == "rewritten", named(ports, name).reason
    tree.apply([port for port in ports if port.file.suffix == ".S"])
    rest = assemble(tree.files[0], tree.options).object
    assert rest.exported == {"os_double"}


def test_the_librarys_yield_needs_no_start_in_the_file(tmp_path: Path) -> None:
    tree = with_header(tmp_path, HEADER)
    other = tmp_path / "choose.c"
    other.write_text('#include "os.h"\nvoid choose(void) { }\n')
    handler = named(replace(tree, files=(*tree.files, other)).port(), "PendSV_Handler")
    assert "fast yield through PendSV_Handler_choose()" in handler.reason, handler.reason


def test_a_file_may_call_itself_otherwise(tmp_path: Path) -> None:
    tree = fixture(tmp_path, '    .file "old_name.S"\n' + HANDLER, M3, "switch.S")
    (tmp_path / "os.h").write_text(HEADER)
    ports = replace(tree, files=(*tree.files, tmp_path / "os.h")).port()
    assert named(ports, "PendSV_Handler").status == "rewritten"


def test_plain_functions_keep_their_parameters_results_and_second_names(tmp_path: Path) -> None:
    text = companion(with_header(tmp_path, HEADER).port())
    assert "uint32_t os_mask(void)" in text and "virt_int_mask(VIRT_PRIMASK);" in text
    assert "void os_request(void *chosen)" in text and "virt_yield();" in text
    assert "    os_request(chosen);\n}" in text


def test_what_the_guest_can_run_stays_with_its_comments(tmp_path: Path) -> None:
    tree = with_header(tmp_path, HEADER)
    ports = tree.port()
    tree.apply([port for port in ports if port.file.suffix == ".S"])
    left = tree.files[0].read_text()
    assert "os_double:\n    add     r0, r0, r0\n    bx      lr\n" in left
    assert "/* The switch itself. */\n/* PendSV_Handler: in switch_fvm.c. */\n" in left
    assert "psp" not in left and ".size" not in left and "HardFault_Handler:\n" not in left


def test_a_start_that_pends_the_switch(tmp_path: Path) -> None:
    tree = fixture(tmp_path, HANDLER + START, M3, "switch.S")
    header = tmp_path / "os.h"
    header.write_text(HEADER + "void os_start(struct task *first);\n")
    text = companion(replace(tree, files=(*tree.files, header)).port())
    start = text[text.index("void os_start(void *first)") :]
    place = [start.index(part) for part in ("virt_vct_trig(FVM_VIRT_SWITCH);",
             "virt_int_unmask(VIRT_PRIMASK);", "for (;;);")]  # fmt: skip
    assert place == sorted(place)


def test_prototypes_come_from_the_projects_headers(tmp_path: Path) -> None:
    ports = with_header(tmp_path, HEADER.replace("void choose(void);", "")).port()
    handler = named(ports, "PendSV_Handler")
    assert handler.status == "escalated" and "no prototype of choose()" in handler.reason


NUMBER = """
    .global os_{0}
    .type os_{0}, %function
os_{0}:
    {1}
    bx      lr
"""


@pytest.mark.parametrize(
    ("code", "also", "status"),
    [
        ("mrs r0, ipsr", "", "rewritten"),
        ("mrs r1, ipsr\n    mov r0, r1", "", "rewritten"),
        ("msr primask, r0", "", "escalated"),
        ("mrs r1, ipsr\n    add r0, r1", "", "escalated"),
        ("cmp r1, #0\n    it eq\n    mrseq r0, ipsr\n    mov r1, r0", "", "escalated"),
        ("mrs r0, ipsr", NUMBER.format("user", "b os_alone"), "escalated"),
        ("mrs r0, ipsr", ".word os_alone\n", "escalated"),
    ],
)
def test_what_nobody_goes_to_takes_nothing_if_it_asks_nothing(
    code: str, also: str, status: str, tmp_path: Path
) -> None:
    """Ports have such functions for projects that want them, without any prototype."""
    tree = fixture(tmp_path, HANDLER + NUMBER.format("alone", code) + also, M3, "switch.S")
    header = tmp_path / "os.h"
    header.write_text(HEADER)
    tree = replace(tree, files=(*tree.files, header))
    port = named(tree.port(), "os_alone")
    assert port.status == status
    assert status == "rewritten" or "no prototype of os_alone()" in port.reason
    calls = tmp_path / "calls.c"
    calls.write_text("int f(void) { return os_alone(1); }\n")
    tree = replace(tree, files=(*tree.files, calls))
    assert named(tree.port(), "os_alone").status == "escalated"


def test_an_if_chooses_the_prototype(tmp_path: Path) -> None:
    both = "#ifdef SMP\nunsigned os_mask(int core);\n#else\nunsigned os_mask(void);\n#endif\n"
    text = companion(with_header(tmp_path, HEADER.replace("unsigned os_mask(void);", both)).port())
    assert "uint32_t os_mask(void)" in text


def test_a_typedef_of_void_is_void(tmp_path: Path) -> None:
    header = "typedef void NOTHING;\n" + HEADER.replace(
        "void choose(void)", "NOTHING choose(NOTHING)"
    )
    ports = with_header(tmp_path, header).port()
    assert named(ports, "PendSV_Handler").status == "rewritten"
    assert "choose();" in companion(ports)


def test_a_file_of_that_name_is_not_overwritten(tmp_path: Path) -> None:
    tree = with_header(tmp_path, HEADER)
    (tmp_path / "switch_fvm.c").write_text("/* mine */\n")
    ports = tree.port()
    assert {port.status for port in ports if port.name == "PendSV_Handler"} == {"escalated"}
    assert "in the way" in named(ports, "PendSV_Handler").reason


def test_what_the_rest_needs_is_not_taken_out(tmp_path: Path) -> None:
    text = HANDLER.replace("add     r0, r0, r0\n", "bne     inner\n").replace(
        "    msr     psp, r0\n", "inner:\n    msr     psp, r0\n"
    )
    tree = fixture(tmp_path, text, M3, "switch.S")
    header = tmp_path / "os.h"
    header.write_text(HEADER)
    ports = replace(tree, files=(*tree.files, header)).port()
    assert named(ports, "PendSV_Handler").status == "escalated"
    reason = named(ports, "PendSV_Handler").reason
    assert "the rest of the file needs inner, a label" in reason and "move it" in reason


def test_the_diff_creates_the_file(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "switch.S").write_text(HANDLER)
    (project / "os.h").write_text(HEADER)
    result = port_project(project)
    diff = b"".join(unified_diff(port.file, port.edits, port.is_new) for port in result.files)
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    subprocess.run(["git", "apply", "-"], cwd=project, input=diff, check=True)
    assert "void PendSV_Handler(void)" in (project / "switch_fvm.c").read_text()


def test_a_name_for_a_register_is_no_access(tmp_path: Path) -> None:
    named = "    .equ    ICSR, 0xE000ED04\n" + HANDLER.replace("=0xE000ED04", "=ICSR")
    (tmp_path / "switch.S").write_text(named)
    (tmp_path / "os.h").write_text(HEADER)
    verdicts = {v.site.what: v for file in port_project(tmp_path).files for v in file.verdicts}
    assert verdicts[".equ ICSR, 0xE000ED04"].status is Status.LEFT
    assert all(v.status is not Status.ESCALATED for v in verdicts.values())


def test_a_handler_that_goes_on_in_another_one(tmp_path: Path) -> None:
    text = HANDLER.replace(
        "    .global HardFault_Handler",
        """\
    .global tick
    .type tick, %function
tick:
    push    {r4, lr}
    bl      count
    pop     {r4, lr}
    b       PendSV_Handler

    .global HardFault_Handler""",
    )
    tree = fixture(tmp_path, text, M3, "switch.S")
    header = tmp_path / "os.h"
    header.write_text(HEADER + "#define NOTHING void\nNOTHING count(NOTHING); // count (this)\n")
    ports = replace(tree, files=(*tree.files, header)).port()
    assert named(ports, "tick").role == "switch"
    code = companion(ports).partition("void tick(void)\n")[2]
    place = [code.index(part) for part in ("count();", "USR_STMDB(sp, R4, R11);", "choose();")]
    assert place == sorted(place)


def test_a_name_behind_a_macro_and_instructions_as_numbers(tmp_path: Path) -> None:
    text = HANDLER.replace("PendSV_Handler", "SWITCH").replace(
        "    stmdb   r0!, {r4-r11}       @ save\n",
        "    cpsid   i\n    mov     r3, #0x50\n    msr     basepri, r3\n    cpsie   i\n"
        "    .hword  0xE920, 0x0FF0      @ stmdb r0!, {r4-r11}\n",
    )
    text = "#define SWITCH PendSV_Handler\n" + text.replace(
        "    msr     psp, r0\n",
        "    mov     r3, #0\n    msr     basepri, r3\n    msr     psp, r0\n",
    )
    tree = fixture(tmp_path, text, M3, "switch.S")
    header = tmp_path / "os.h"
    header.write_text(HEADER)
    ports = replace(tree, files=(*tree.files, header)).port()
    handler = named(ports, "PendSV_Handler")
    assert handler.status == "rewritten", handler.reason
    body = companion(ports).partition("void PendSV_Handler(void)\n")[2]
    assert "USR_STMDB(sp, R4, R11);" in body and "virt_int" not in body
    assert tree.files[0].read_bytes()[handler.start :].startswith(b"    .global SWITCH\n")


MACROS = """\
#define LABEL(name) name:
#define BEGINS(name) .global name; .type name, %function
    .syntax unified
    .thumb
    .macro FUNCTION name
    .global \\\\name
    .type \\\\name, %function
\\\\name:
    .endm
    BEGINS(os_mask)
LABEL(os_mask)
    cpsid   i
    bx      lr
    .size   os_mask, . - os_mask

    FUNCTION os_open
    cpsie   i   @ of a task, on PSP
    bx      lr

    BEGINS(stays)
LABEL(stays)
    nop
    bx      lr
"""


def test_a_label_may_stand_in_a_macro(tmp_path: Path) -> None:
    tree = fixture(tmp_path, MACROS.replace("\\\\", "\\"), M3, "masks.S")
    header = tmp_path / "os.h"
    header.write_text("void os_mask(void);\nvoid os_open(void);\n")
    tree = replace(tree, files=(*tree.files, header))
    ports = tree.port()
    assert {port.status for port in ports} == {"rewritten"}
    tree.apply([port for port in ports if port.file == tree.files[0]])
    rest = tree.files[0].read_text()
    left = "LABEL(os_mask)", "FUNCTION os_open", ".size   os_mask"
    assert not any(line in rest for line in left) and "LABEL(stays)" in rest


def test_a_section_of_code_may_hold_nothing_but_data(tmp_path: Path) -> None:
    data = '\n    .section .text.table, "ax"\n    .global table\ntable:\n    .word 1, 2\n'
    tree = with_header(tmp_path, HEADER)
    tree.files[0].write_text(HANDLER + data)
    assert "PendSV_Handler" in {port.name for port in tree.port() if port.status == "rewritten"}


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (
            "mrs r1, psp\nldr r0, =0xE000ED28\nldr r0, [r0]\nclz r0, r0\nbx lr",
            "the kernel takes every fault",
        ),
        ("msr msp, r0\nbx lr", "another main stack, and a guest has none"),
        ("push {r4, lr}\nmrs r0, psp\nmov r1, sp\nbl choose\npop {r4, pc}", "own stack"),
    ],
    ids=["fault status", "main stack", "address of the stack"],
)
def test_what_no_guest_has_is_told(body: str, told: str, tmp_path: Path) -> None:
    text = f".syntax unified\n.thumb\n.text\n.global other\n.thumb_func\nother:\n{body}\n.ltorg\n"
    tree = fixture(tmp_path, text, M3, "switch.S")
    header = tmp_path / "os.h"
    header.write_text("void choose(int, int *);\nvoid other(void);\n")
    (found,) = replace(tree, files=(*tree.files, header)).port()
    assert found.status == "escalated" and told in found.reason


@pytest.mark.parametrize("eol", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_a_macro_of_another_header_is_void(eol: str, tmp_path: Path) -> None:
    """os.h leaves it to whoever includes it to define the types first."""
    prototype = "NOTHING os_request(NOTHING);\n"
    text = ".syntax unified\n.thumb\n.text\n.global os_request\n.thumb_func\nos_request:\n"
    text += "ldr r0, =0xE000ED04\nmov r1, #0x10000000\nstr r1, [r0]\ncpsie i\nb .\n.ltorg\n"
    tree = fixture(tmp_path, text, M3, "switch.S")
    for name, data in (("os.h", prototype), ("types.h", "#define NOTHING void\n")):
        (tmp_path / name).write_text(data, newline=eol)
    files = (*tree.files, tmp_path / "os.h", tmp_path / "types.h")
    assert named(replace(tree, files=files).port(), "os_request").status == "rewritten"


REQUEST = """\
    .syntax unified
    .thumb
    .global os_request
    .type os_request, %function
os_request:
{}
    ldr     r1, =0x10000000
    str     r1, [r0]
    bx      lr
"""
ADDRESSES = {
    "header": "    ldr     r0, =ICSR",
    "halves": "    movw    r0, #0xED04\n    movt    r0, #0xE000",
    "shift": "    movs    r0, #0xE0\n    lsls    r0, r0, #24\n    ldr     r1, =0xED04\n"
    "    adds    r0, r0, r1",
    "sum": "    ldr     r0, =(SCS + 0xD00 + 4)",
}


@pytest.mark.parametrize("text", ADDRESSES.values(), ids=ADDRESSES)
def test_a_file_that_only_requests_a_switch_is_looked_at(text: str, tmp_path: Path) -> None:
    """Neither a privileged instruction nor the address stands in its text."""
    source = '#include "scb.h"\n' + REQUEST.format(text)
    tree = fixture(tmp_path, source, M3, "request.S")
    (tmp_path / "scb.h").write_text("#define SCS 0xE000E000\n#define ICSR (SCS + 0xD04)\n")
    (tmp_path / "os.h").write_text("void os_request(void);\n")
    ports = replace(tree, files=(*tree.files, tmp_path / "scb.h", tmp_path / "os.h")).port()
    assert {port.status for port in ports} == {"rewritten"}
    assert any(b"virt_yield();" in port.replacement for port in ports)


def test_a_file_with_nothing_of_the_system_stays(tmp_path: Path) -> None:
    assert not fixture(tmp_path, REQUEST.format("    ldr r0, =next"), M3, "request.S").port()


@pytest.mark.parametrize(
    ("section", "attribute"),
    [(".ramfunc", '__attribute__((section(".ramfunc"))) '), (".text.os_mask", "")],
)
def test_what_the_linker_script_has_elsewhere_stays_there(
    section: str, attribute: str, tmp_path: Path
) -> None:
    tree = with_header(tmp_path, HEADER)
    text = HANDLER.replace("    .text\n", f'    .section {section}, "ax", %progbits\n')
    tree.files[0].write_text(text)
    assert f"\n{attribute}uint32_t os_mask(void)\n" in companion(tree.port())


TABLE = """
    .section .isr_vector, "a"
vectors:
    .word   stack_top, Reset_Handler, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, swap, 0
"""


def test_a_switch_in_the_start_up_file_isnt_lost(tmp_path: Path) -> None:
    """The machine's start-up takes the whole file's place."""
    text = HANDLER.replace("PendSV_Handler", "swap")
    (tmp_path / "startup.s").write_text(f"{text}Reset_Handler:\n    cpsid i\n    b .\n{TABLE}")
    (tmp_path / "main.c").write_text("void choose(void) { }\nint main(void) { return 0; }\n")
    found = [it for file in port_project(tmp_path, cpu=M3).files for it in file.verdicts]
    escalated = {it.site.where for it in found if it.status is Status.ESCALATED}
    assert escalated == {"swap"}
    assert any("move it to a file of its own" in it.reason for it in found)


CONFIGURED = {
    "declares": "#define STATS 1\n#ifndef __ASSEMBLER__\nextern unsigned long count;\n#endif\n",
    "for assembler alone": "#ifdef __ASSEMBLER__\n#define STATS 1\n#endif\n",
}


@pytest.mark.parametrize("name", CONFIGURED)
def test_a_header_of_the_file_may_be_one_for_c_too(name: str, tmp_path: Path) -> None:
    """What it declares stands once; what it defines for assembler alone C can't ask for."""
    counts = "#if STATS\n    ldr r3, =count\n    str r0, [r3]\n#endif\n    push    {r1, lr}\n"
    text = '#include "config.h"\n' + HANDLER.replace("    push    {r1, lr}\n", counts)
    (tmp_path / "config.h").write_text(CONFIGURED[name])
    tree = with_header(tmp_path, HEADER)
    tree.files[0].write_text(text)
    ports = tree.port()
    assert named(ports, "PendSV_Handler").status == "rewritten", ports
    text = companion(ports)
    assert "    count = (uint32_t)sp;" in text
    assert ("#if STATS" in text) == (name == "declares")


NAKED = """\
#include <common/entry.h>
__attribute__((naked)) int lock(void) { __asm("mrs r0, primask\\n cpsid i\\n bx lr\\n"); }
"""


@pytest.mark.parametrize("name", ["switch.S", "switch.c"])
def test_a_header_may_be_named_with_its_folder(name: str, tmp_path: Path) -> None:
    """No build says from where `common/entry.h` counts."""
    common = tmp_path / "include" / "common"
    common.mkdir(parents=True)
    (common / "entry.h").write_text("#define ENTRY(x) .global x; x:\n")
    by_hand = f"#include <common/entry.h>\n{HANDLER}".replace("os_mask:\n", "ENTRY(os_mask)\n")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / name).write_text(NAKED if name == "switch.c" else by_hand)
    (tmp_path / "src" / "os.h").write_text(HEADER)
    found = [it for file in port_project(tmp_path).files for it in file.verdicts]
    assert {it.status for it in found if "primask" in it.site.what} == {Status.REWRITTEN}


def test_a_header_of_the_compilers_is_its_own(tmp_path: Path) -> None:
    """A project's <sys/types.h> is for another library."""
    (tmp_path / "posix" / "sys").mkdir(parents=True)
    (tmp_path / "posix" / "sys" / "types.h").write_text("#error not for this\n")
    text = NAKED.replace("<common/entry.h>", "<sys/types.h>")
    (tmp_path / "switch.c").write_text(text)
    found = [it for file in port_project(tmp_path).files for it in file.verdicts]
    assert found and {it.status for it in found} == {Status.REWRITTEN}
