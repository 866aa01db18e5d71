"""FreeRTOS V11.2.0, GCC/ARM_CM4F: every handler becomes C that an engineer would have written."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from porter.output.unified_diff import unified_diff
from porter.port import port_project
from tests.porter.context_switch.trees import EXAMPLE, M4F, RUNTIME, Tree, freertos

SWITCH = """\
    fvm_word * sp = ( fvm_word * ) USR_REG->Reg.SP;
    fvm_word * r2 = ( fvm_word * ) pxCurrentTCB;
    if( ( USR_REG->Reg.LR & 0x10 ) == 0 )
    {
        USR_VSTMDB( sp );
    }
    USR_STMDB( sp, R4, LR );
    *r2 = ( uint32_t ) sp;
    vTaskSwitchContext();
    sp = ( fvm_word * ) *( fvm_word * ) pxCurrentTCB;
    USR_LDMIA( sp, R4, LR );
    if( ( USR_REG->Reg.LR & 0x10 ) == 0 )
    {
        USR_VLDMIA( sp );
    }
    USR_REG->Reg.SP = ( uint32_t ) sp;
"""
FIRST_TASK = """\
    fvm_word * sp = ( fvm_word * ) *( fvm_word * ) pxCurrentTCB;
    USR_LDMIA( sp, R4, LR );
    USR_REG->Reg.SP = ( uint32_t ) sp;
    virt_int_unmask( VIRT_BASEPRI );
"""
START = """\
    virt_yield_task( ( void * volatile * ) &pxCurrentTCB, vTaskSwitchContext, \
pcTaskGetName( NULL ) );
    virt_int_unmask( VIRT_PRIMASK );
    virt_svc( 0 );
"""


def code(data: bytes) -> str:
    """C without comments and blank lines."""
    lines: list[str] = []
    inside = False
    for line in data.decode().splitlines():
        while line:
            if inside:
                inside, line = "*/" not in line, line.partition("*/")[2]
                continue
            before, mark, line = line.partition("/*")
            inside = bool(mark)
            if before.strip():
                lines.append(before.rstrip())
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def ported(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """The port layer after porting."""
    tree = freertos(tmp_path_factory.mktemp("freertos"))
    tree.apply(tree.port())
    return tree


def test_every_handler_is_found_by_what_it_does(tmp_path: Path) -> None:
    ports = freertos(tmp_path).port()
    assert {port.status for port in ports} == {"rewritten"}
    roles = {port.role: port.name for port in ports if port.role != "other"}
    assert roles == {
        "switch": "xPortPendSVHandler",
        "svc": "vPortSVCHandler",
        "start": "prvPortStartFirstTask",
    }


def test_c_reads_like_the_papers_listing(ported: Tree) -> None:
    text = code(ported.files[0].read_bytes())
    for expected in (SWITCH, FIRST_TASK, START):
        assert expected in text
    assert text.count("extern void * volatile pxCurrentTCB;") == 1
    assert "naked" not in text


def test_each_statement_shows_its_instruction(ported: Tree) -> None:
    lines = ported.files[0].read_text().splitlines()
    stores = [line for line in lines if "USR_STMDB( sp, R4, LR );" in line]
    assert len(stores) == 1 and stores[0].endswith("/* stmdb r0!, {r4-r11, r14} */")


def test_result_compiles_without_a_warning(ported: Tree, tmp_path: Path) -> None:
    options = ported.options
    includes = [f"-I{folder}" for folder in (*options.include_dirs, *RUNTIME)]
    command = [options.compiler, *options.cpu_flags, *includes, "-O2", "-Wall", "-Wextra"]
    command += ["-Werror", "-c", str(ported.files[0]), "-o", str(tmp_path / "port.o")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    listing = subprocess.run(
        ["arm-none-eabi-objdump", "-d", str(tmp_path / "port.o")], capture_output=True, text=True
    ).stdout
    handler = listing.split("<PendSV_Handler>:")[1].split("\n\n")[0].lower()
    assert not {"msr", "mrs", "svc", "cpsid", "cpsie"} & set(handler.split())


def test_porting_twice_changes_nothing(ported: Tree) -> None:
    assert ported.port() == []


def test_crlf_file_gets_the_same_port_with_crlf(ported: Tree, tmp_path: Path) -> None:
    tree = freertos(tmp_path, b"\r\n")
    tree.apply(tree.port())
    for file, reference in zip(tree.files, ported.files, strict=True):
        assert file.read_bytes() == reference.read_bytes().replace(b"\n", b"\r\n")


@pytest.mark.campaign
def test_edits_of_the_whole_port_are_few() -> None:
    """What goes is mostly assembler; blocks that a recipe names are switched off."""
    ports = [
        ported
        for ported in port_project(EXAMPLE, cpu=M4F).files
        if "/ARM_CM4F/" in ported.file.name and not ported.is_new
    ]
    assert {ported.file.path.name for ported in ports} == {"port.c", "portmacro.h"}
    diff = b"".join(unified_diff(ported.file, ported.edits) for ported in ports)
    lines = [line[:1] for line in diff.splitlines() if line[:3] not in (b"+++", b"---")]
    assert lines.count(b"+") < 90 and lines.count(b"-") < 170
    off = b"#if 0 /* configASSERT_DEFINED == 1: interrupts of a machine have no priorities"
    assert all(off in ported.ported for ported in ports)  # the check and what calls it


def test_workaround_arm_is_transcribed_too(tmp_path: Path) -> None:
    tree = freertos(tmp_path)
    port = tree.files[0]
    text = port.read_text()
    assert "pop { pc }" in text
    port.write_text(text.replace("pop { pc }", "pop { r4 }"))
    (handler,) = [item for item in tree.port() if item.role == "switch"]
    assert b"#if WORKAROUND_PMU_CM001 == 1" in handler.replacement
    assert b"USR_REG->Reg.R4 =" in handler.replacement


def test_without_the_name_function_no_name_is_published(tmp_path: Path) -> None:
    tree = freertos(tmp_path)
    header = tmp_path / "task.h"
    header.write_text("void vTaskSwitchContext( void );\nint xTaskIncrementTick( void );\n")
    tree.files[2].write_text("void vTaskSwitchContext( void ) { }\n")
    text = tree.files[0].read_text().replace("vTaskStepTick", "(void)")
    tree.files[0].write_text(text)
    tree.apply(tree.port())
    assert "&pxCurrentTCB, vTaskSwitchContext, 0 );" in tree.files[0].read_text()
