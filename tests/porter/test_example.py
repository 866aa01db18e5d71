"""The example's two projects: nothing left to a person, and the result compiles."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from porter.judging.verdict import Status
from porter.output.unified_diff import unified_diff
from porter.port import port_project
from porter.project.domain import read_domain
from porter.result import PortResult
from tests.porter.example_domains import MOTOR, SENSOR, compiles, copy_project, write_domain
from tests.porter.helpers import escalations

Example = Callable[[str], tuple[Path, PortResult]]

KERNEL_SOURCES = tuple(
    f"FreeRTOS-Kernel/{name}.c"
    for name in ("list", "queue", "tasks", "timers", "portable/GCC/ARM_CM4F/port")
)
PRIVILEGED = (
    b"cpsid", b"cpsie", b"msr ", b"mrs ", b"NVIC->", b"SCB->", b"SysTick->", b"RCC->",
    b"__disable_irq", b"__WFI", b"__get_PRIMASK", b"IWDG->", b"MODER",
)  # fmt: skip


def ported(folder: Path, name: str, **changes: object) -> tuple[Path, PortResult]:
    """A copy of a project, ported and edited."""
    project = copy_project(name, folder)
    domain = read_domain(write_domain(folder, name, **changes))
    result = port_project(project, domain)
    for port in result.files:
        if port.edits:
            port.file.path.write_bytes(port.ported)
    return project, result


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Example:
    """A project by its name as `ported` leaves it, for all tests that only look at it."""
    return cache(lambda name: ported(tmp_path_factory.mktemp(name), name))


def source_names(project: Path) -> list[str]:
    return sorted(path.relative_to(project).as_posix() for path in project.glob("src/*.c"))


@pytest.mark.parametrize(("name", "kernel"), [(MOTOR, KERNEL_SOURCES), (SENSOR, ())])
def test_ported_project_compiles_and_needs_nobody(
    example: Example, name: str, kernel: tuple[str, ...]
) -> None:
    project, result = example(name)
    assert escalations(result) == []
    assert result.count(Status.REWRITTEN) > 40
    live = [source for source in source_names(project) if "link_uart" not in source]
    assert compiles(project, *live, *kernel) == ""
    for source in live:
        data = (project / source).read_bytes()
        assert [word for word in PRIVILEGED if word in data] == []


def test_a_second_port_changes_nothing(example: Example) -> None:
    project, _ = example(SENSOR)
    again = port_project(project, read_domain(project.parent / f"{SENSOR}.domain.json"))
    assert [port.file.name for port in again.files if port.edits] == []
    assert again.count(Status.ESCALATED) == 0


@pytest.mark.parametrize(("name", "eol"), [(SENSOR, b"\n"), (SENSOR, b"\r\n")])
def test_the_diff_is_applied_and_reversed_by_git(tmp_path: Path, name: str, eol: bytes) -> None:
    project = copy_project(name, tmp_path)
    files = [path for path in project.rglob("*") if path.suffix in (".c", ".h", ".s")]
    for path in files:
        path.write_bytes(path.read_bytes().replace(b"\n", eol))
    before = {path: path.read_bytes() for path in files}
    result = port_project(project, read_domain(write_domain(tmp_path, name)))
    assert escalations(result) == []
    diff = b"".join(unified_diff(port.file, port.edits) for port in result.files)
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    apply = ["git", "apply", "--whitespace=nowarn"]
    subprocess.run([*apply, "-"], cwd=project, input=diff, check=True)
    assert {port.file.path: port.ported for port in result.files if port.edits}.items() <= {
        path: path.read_bytes() for path in files
    }.items()
    if eol == b"\r\n":
        for path in files:
            assert path.read_bytes().count(b"\n") == path.read_bytes().count(b"\r\n")
    subprocess.run([*apply, "-R", "-"], cwd=project, input=diff, check=True)
    assert {path: path.read_bytes() for path in files} == before


def test_only_the_port_layer_of_the_kernel_is_touched(example: Example) -> None:
    _, result = example(MOTOR)
    edited = {port.file.name for port in result.files if port.edits}
    assert {name for name in edited if name.startswith("FreeRTOS-Kernel")} == {
        "FreeRTOS-Kernel/portable/GCC/ARM_CM4F/port.c",
        "FreeRTOS-Kernel/portable/GCC/ARM_CM4F/portmacro.h",
    }
    assert "src/link_uart.c" not in edited
    assert "startup/startup_stm32f405xx.s" not in edited


def test_what_the_freertos_port_becomes(example: Example) -> None:
    project, _ = example(MOTOR)
    folder = project / "FreeRTOS-Kernel/portable/GCC/ARM_CM4F"
    macros = (folder / "portmacro.h").read_text()
    for line in (
        "        virt_yield(); \\",
        "    virt_int_mask(VIRT_BASEPRI);",
        "    ulOriginalBASEPRI = virt_int_save(VIRT_BASEPRI);",
        "    virt_int_restore(VIRT_BASEPRI, ulNewMaskValue);",
    ):
        assert line in macros
    # Nothing uses xPortIsInsideInterrupt.
    assert '__asm volatile ( "mrs %0, ipsr" : "=r" ( ulCurrentInterrupt )' in macros
    port = (folder / "port.c").read_text()
    assert "    hyp_tick_set(configTICK_RATE_HZ);\n" in port
    assert "configASSERT( virt_in_vct() == 0 );" in port
    # The tickless code is switched off here and half of it can't be understood: all of it stays.
    tickless = port.index("vPortSuppressTicksAndSleep( TickType_t")
    assert '__asm volatile ( "cpsid i" ::: "memory" );' in port[tickless:]
    assert "portNVIC_SYSTICK_CTRL_REG = " in port[tickless:]


@pytest.mark.campaign
def test_tickless_idle_becomes_a_wait(tmp_path: Path) -> None:
    project = copy_project(MOTOR, tmp_path)
    config = project / "inc" / "FreeRTOSConfig.h"
    config.write_text(
        config.read_text().replace("configUSE_TICKLESS_IDLE 0", "configUSE_TICKLESS_IDLE 1")
    )
    result = port_project(project, read_domain(write_domain(tmp_path, MOTOR)))
    assert not any("SysTick" in reason for reason in escalations(result))
    (port,) = [file.ported for file in result.files if file.file.path.name == "port.c"]
    body = port[port.index(b"vPortSuppressTicksAndSleep( TickType_t") :].split(b"#endif")[0]
    steps = (b"!= eAbortSleep", b"configPRE_SLEEP", b"hyp_vct_wait();", b"configPOST_SLEEP")
    assert sorted(steps, key=body.index) == list(steps) and b"SysTick" not in body


@pytest.mark.parametrize(
    ("name", "changes", "reason"),
    [
        (SENSOR, {"watchdog_ms": 250}, "the code means 500 ms, the description says 250 ms"),
        (SENSOR, {"watchdog_ms": None}, "the description has no watchdog"),
        (SENSOR, {"tick_hz": 100}, "the code ticks at 1000 Hz, the description says 100 Hz"),
        (SENSOR, {"kernel_tick_hz": 300}, "1000 Hz is no divisor of the kernel's tick of 300 Hz"),
        (SENSOR, {"pins": []}, "PA6 is no run-time output"),
        (SENSOR, {"startup": [], "replaced": []}, "interrupt 39 is not in the description"),
        (SENSOR, {"vectors": []}, "handles interrupt 38, which the description"),
    ],
)
def test_a_description_that_disagrees_is_escalated(
    tmp_path: Path, name: str, changes: dict[str, object], reason: str
) -> None:
    _, result = ported(tmp_path, name, **changes)
    assert any(reason in line for line in escalations(result))


@pytest.mark.campaign
def test_all_that_disagrees_is_escalated(tmp_path: Path) -> None:
    """The FPU, the tick, and a handler that doesn't exist."""
    vectors = [
        {"virt_id": 3, "kind": "irq", "name": "USART1", "irq": 37, "handler": "uart_isr"},
        {"virt_id": 4, "kind": "event", "name": "TO_MOTOR", "handler": "link_event"},
    ]
    _, result = ported(tmp_path, MOTOR, fpu=False, tick_hz=100, vectors=vectors)
    found = escalations(result)
    assert any("switches the FPU on" in line for line in found)
    assert any("the code ticks at 1000 Hz, the description" in line for line in found)
    assert any(line.startswith("uart_isr: the description names it") for line in found)
    assert any("names uart_isr instead" in line for line in found)
    assert not any("link_event" in line for line in found)  # the replacing file defines it
