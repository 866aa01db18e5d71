"""Blocks of an RTOS's port that its recipe switches off by one line."""

from __future__ import annotations

from pathlib import Path

from porter.judging.verdict import Status
from porter.port import port_project

PORT = """\
extern void *pxCurrentTCB;
#define PRIORITY (*(volatile unsigned char *)0xE000E400)
    #if ( configASSERT_DEFINED == 1 )
    void check(void)
    {
        #ifdef LATER
            PRIORITY = 1;
        #endif
        PRIORITY = 0xFF;
    }
    #endif
#if ( configASSERT_DEFINED == 1 )
int on;
#else
int off;
#endif
"""


def write(root: Path, folder: str) -> Path:
    file = root / folder / "port.c"
    file.parent.mkdir(parents=True)
    file.write_text(PORT)
    return file


def test_the_condition_is_changed_and_the_block_stays(tmp_path: Path) -> None:
    file = write(tmp_path, "portable/GCC/ARM_CM4F")
    (port,) = port_project(tmp_path).files
    lines = zip(PORT.splitlines(), port.ported.decode().splitlines(), strict=True)
    ((old, new),) = [(old, new) for old, new in lines if old != new]
    assert old.strip() == "#if ( configASSERT_DEFINED == 1 )" and new.startswith(
        "    #if 0 /* conf"
    )
    assert {verdict.status for verdict in port.verdicts} == {Status.LEFT}
    file.write_bytes(port.ported)
    again = port_project(tmp_path).files
    assert not any(ported.edits for ported in again)
    assert {verdict.status for ported in again for verdict in ported.verdicts} == {Status.LEFT}


def test_files_elsewhere_keep_theirs(tmp_path: Path) -> None:
    write(tmp_path, "source")
    assert all(b"#if 0" not in port.ported for port in port_project(tmp_path).files)
