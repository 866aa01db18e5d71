"""Domain files of the example, written by hand: what compose must give."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "two-legacy-mcus"
MOTOR = "motor-controller"
SENSOR = "sensor-node"
RUNTIME = ("fvm-runtime/include", "fvm-runtime/arch/armv7m/include")
DOMAIN_HEADER = """\
#ifndef FVM_DOMAIN_H
#define FVM_DOMAIN_H
#include <stdint.h>
#define FVM_CLOCK_HZ 168000000u
static inline uint32_t fvm_virt_of_irq(int32_t irq) { return irq == 37 ? 3u : 0xFFFFFFFFu; }
#endif
"""


def domain(name: str) -> dict[str, object]:
    """The domain file of one of the two projects."""
    motor = name == MOTOR
    usart = 37 if motor else 38
    vectors = [
        {"virt_id": 0, "kind": "switch", "name": "SWITCH",
         "handler": "PendSV_Handler" if motor else None},
        {"virt_id": 1, "kind": "tick", "name": "TICK", "handler": "SysTick_Handler"},
        {"virt_id": 2, "kind": "svc", "name": "SVC", "handler": "SVC_Handler" if motor else None},
        {"virt_id": 3, "kind": "irq", "name": f"USART{usart - 36}", "irq": usart,
         "handler": f"USART{usart - 36}_IRQHandler", "mask": "maskable"},
    ]  # fmt: skip
    return {
        "schema": 1, "name": name, "chip": "STM32F405RG", "clock_hz": 168_000_000,
        "kernel_tick_hz": 1000, "tick_hz": 1000, "watchdog_ms": 500, "fpu": motor,
        "vectors": vectors, "pins": [{"port": "A", "pin": 5 if motor else 6}],
        "project": {"original": str(EXAMPLE / name), "ported": "ported"},
        "replaced": [{"file": "src/link_uart.c", "by": f"fvm/{name}/link_fvm.c"}],
        "startup": ["startup/startup_stm32f405xx.s"],
    }  # fmt: skip


def write_domain(folder: Path, name: str, **changes: object) -> Path:
    """The domain file on disk, with some entries changed."""
    path = folder / f"{name}.domain.json"
    path.write_text(json.dumps({**domain(name), **changes}))
    return path


def copy_project(name: str, folder: Path) -> Path:
    """A copy of a legacy project that a test may change."""
    target = folder / name
    shutil.copytree(EXAMPLE / name, target, ignore=shutil.ignore_patterns("build"))
    return target


def compiles(project: Path, *sources: str) -> str:
    """What the compiler says about ported sources against the guest API; empty if all is well."""
    stubs = project.parent / f"{project.name}-stubs"
    stubs.mkdir(exist_ok=True)
    (stubs / "fvm_domain.h").write_text(DOMAIN_HEADER)
    kernel = project / "FreeRTOS-Kernel"
    includes = [
        project / "inc", kernel / "include", kernel / "portable/GCC/ARM_CM4F", stubs,
        *(ROOT / name for name in RUNTIME),
    ]  # fmt: skip
    process = subprocess.run(
        ["arm-none-eabi-gcc", "-fsyntax-only", "-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard",
         "-mfpu=fpv4-sp-d16", "-std=c11", "-Wall", "-Wextra", "-Werror", "-DSTM32F405xx",
         *(f"-I{path}" for path in includes), *(str(project / name) for name in sources)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return process.stderr if process.returncode else ""
