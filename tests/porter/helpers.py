"""Small projects to port, and the domain they are ported for."""

from __future__ import annotations

from pathlib import Path

from porter.judging.verdict import Status
from porter.port import port_project
from porter.project.domain import Domain, Vector
from porter.result import FilePort, PortResult

CORE = b"""\
#include <stdint.h>
"""

DOMAIN = Domain(
    path=Path("sample.domain.json"),
    name="sample",
    chip="STM32F405RG",
    clock_hz=168_000_000,
    kernel_tick_hz=1000,
    tick_hz=1000,
    watchdog_ms=500,
    fpu=True,
    vectors=(
        Vector(0, "switch", "SWITCH", None, None, True),
        Vector(1, "tick", "TICK", None, None, True),
        Vector(2, "svc", "SVC", None, None, True),
        Vector(3, "irq", "USART1", None, 37, True),
        Vector(4, "irq", "TIM2", None, 28, True),
    ),
    pins=frozenset({("A", 5)}),
    replaced=(),
    startup=(),
    own_pins=frozenset({("A", 5)}),
    writes_log=True,
)


def port_files(folder: Path, files: dict[str, bytes], domain: Domain | None = DOMAIN) -> PortResult:
    """Write a project into `folder` and port it."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    result = port_project(folder, domain)
    assert not result.failures, "".join(result.failures[0].trace)
    assert_escalated_stay(result)
    return result


def assert_escalated_stay(result: PortResult) -> None:
    """What is left to a person is there as it was, but what several edits did together."""
    for port in result.files:
        for verdict in port.verdicts:
            start, end = verdict.site.start, verdict.site.end
            if verdict.rule in ("tick-sources", "threshold", "start-up"):
                continue
            if verdict.status is Status.ESCALATED and start < end <= len(port.file.data):
                text = port.file.data[start:end]
                changing = [
                    edit for edit in port.edits
                    if edit.start <= start and end <= edit.end and text not in edit.replacement
                ]  # fmt: skip
                assert not changing, (verdict, changing)


def port_text(folder: Path, text: bytes, domain: Domain | None = DOMAIN) -> tuple[bytes, FilePort]:
    """Port a project of one file `main.c`; the ported text and all about it."""
    result = port_files(folder, {"main.c": text}, domain)
    if not result.files:
        return text, FilePort(None, (), ())  # type: ignore[arg-type]
    return result.files[0].ported, result.files[0]


def escalations(result: PortResult) -> list[str]:
    """Reasons of all escalated sites."""
    return [
        f"{verdict.site.what}: {verdict.reason}"
        for port in result.files
        for verdict in port.verdicts
        if verdict.status is Status.ESCALATED
    ]
