"""FreeRTOS V11.2.0 in a virtual machine, by each of its ports for cores that QEMU has: every part
of its API that switches tasks does in the ported guest what its manual says."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from composer.setup.freertos import FOLDER, PORTS_FOLDER
from tests.support.built import Built, build, once
from tests.support.campaign import FULL
from tests.support.until_passed import said_until_passed

pytestmark = pytest.mark.campaign

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BARE_SCRIPT = ROOT / "benchmarks" / "application" / "startup" / "bare.ld"
FVMKIT = Path(sys.executable).with_name("fvmkit")
PATIENCE = 120
PARTS = (
    "tasks",
    "queues",
    "semaphores",
    "notifications",
    "timers",
    "event groups",
    "stream buffers",
    "interrupts",
    "registers",
    "switches",
)


@dataclass(frozen=True)
class Machine:
    """A machine of QEMU, the FreeRTOS port for its core, and which UART is whose."""

    core: str
    chip: str
    board: str
    port: str
    fpu: str
    headers: str
    console: str
    uart: str
    cpu: str
    clocks: str = ""


MACHINES = (
    Machine(  # the port for Armv6-M, on a core that has its instructions and more
        "cm0", "MPS2-AN385", "mps2-an385", "ARM_CM0", "no", "mps2", "UART0", "UART1",
        "-mcpu=cortex-m0 -mthumb -mfloat-abi=soft",
    ),
    Machine(
        "cm3", "MPS2-AN385", "mps2-an385", "ARM_CM3", "no", "mps2", "UART0", "UART1",
        "-mcpu=cortex-m3 -mthumb -mfloat-abi=soft",
    ),
    Machine(
        "cm4f", "STM32F405RG", "netduinoplus2", "ARM_CM4F", "yes", "stm32f4", "USART6", "USART1",
        "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16",
        '<clocks m="8" n="336" p="2" q="7" apb1="4" apb2="2" latency="5"/>',
    ),
    Machine(
        "cm7", "MPS2-AN500", "mps2-an500", "ARM_CM7/r0p1", "yes", "mps2", "UART0", "UART1",
        "-mcpu=cortex-m7 -mthumb -mfloat-abi=hard -mfpu=fpv5-d16",
    ),
)  # fmt: skip
SYSTEM = """\
<?xml version="1.0" encoding="UTF-8"?>
<system name="freertos" chip="{chip}" board="{board}">
  <kernel tick="1000Hz" slice="5ms" console="{console}" report="60s"/>
  {clocks}
  <vm name="guest" flash="96K" ram="40K" fpu="{fpu}" tick="1000Hz" usr-stack="1K" vct-stack="1K">
    <project path="{project}" standard="gnu11" ldflags="--specs=nano.specs">
      <source>src/*.c</source>
      <source>FreeRTOS-Kernel/*.c</source>
      <source>FreeRTOS-Kernel/portable/GCC/{port}/*.c</source>
      <source>FreeRTOS-Kernel/portable/MemMang/heap_4.c</source>
      <include>inc</include>
      <include>FreeRTOS-Kernel/include</include>
      <include>FreeRTOS-Kernel/portable/GCC/{port}</include>
    </project>
    <switch handler="PendSV_Handler"/>
    <tick handler="SysTick_Handler"/>
    <svc handler="SVC_Handler"/>
    <device name="{uart}"/>
    {clock}
  </vm>
</system>
"""


def project(machine: Machine, folder: Path) -> None:
    """The application with its board and the FreeRTOS kernel."""
    shutil.copytree(HERE / "application", folder)
    shutil.copy(HERE / "boards" / machine.headers / "board.h", folder / "inc")
    wanted = ("*.c", "include/*.h", f"portable/GCC/{machine.port}/*.[ch]")
    for kernel in (ROOT / FOLDER, ROOT / PORTS_FOLDER):
        for pattern in (*wanted, "portable/MemMang/heap_4.c"):
            for source in kernel.glob(pattern):
                target = folder / "FreeRTOS-Kernel" / source.relative_to(kernel)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target)
    (folder / "FreeRTOS-Kernel" / "croutine.c").unlink()
    folders = ("inc", "FreeRTOS-Kernel/include", f"FreeRTOS-Kernel/portable/GCC/{machine.port}")
    options = [*machine.cpu.split(), *(f"-I{name}" for name in folders)]
    commands = [
        {"directory": str(folder), "file": str(source),
         "arguments": ["arm-none-eabi-gcc", *options, "-c", str(source)]}
        for source in folder.rglob("*.c")
    ]  # fmt: skip
    (folder / "compile_commands.json").write_text(json.dumps(commands))


def make(machine: Machine, out: Path) -> Built:
    folder = out.with_name(f"{out.name} project")
    shutil.rmtree(folder, ignore_errors=True)
    project(machine, folder)
    description = out.with_name(f"{out.name} system.xml")
    clock = f'<clock name="{machine.uart}"/>' if machine.clocks else ""
    description.write_text(SYSTEM.format(**vars(machine), project=folder, clock=clock))
    return build(description, out)


def guest(machine: Machine, factory: pytest.TempPathFactory) -> list[str]:
    """What the ported application says."""
    built = once(factory, f"freertos-{machine.core}", lambda out: make(machine, out))
    command = ["run", built.folder, "--icount", "shift=7,sleep=off", "--timeout", PATIENCE]
    return said_until_passed([str(FVMKIT), *map(str, command)], "guest", PATIENCE)


def bare(machine: Machine, folder: Path) -> list[str]:
    """What the application says as it was, without any virtual machine."""
    source = folder / "project"
    project(machine, source)
    elf = folder / "bare.elf"
    kernel = source / "FreeRTOS-Kernel"
    include = [source / "inc", kernel / "include", kernel / "portable" / "GCC" / machine.port]
    flash = "0x08000000" if machine.clocks else "0"
    command = ["arm-none-eabi-gcc", *machine.cpu.split(), "-O2", "-std=gnu11", "-nostartfiles"]
    command += [f"-I{path}" for path in include]
    command += [f"-T{BARE_SCRIPT}", f"-Wl,--defsym=FLASH={flash}", "--specs=nano.specs"]
    command += ["-o", str(elf), str(HERE / "bare.c"), *map(str, source.rglob("*.c"))]
    subprocess.run(command, check=True, capture_output=True)
    serials = ["stdio"] if machine.clocks else ["null", "stdio"]
    qemu = ["qemu-system-arm", "-M", machine.board, "-kernel", str(elf), "-display", "none"]
    qemu += ["-monitor", "none", "-icount", "shift=7,sleep=off"]
    qemu += [word for serial in serials for word in ("-serial", serial)]
    return said_until_passed(qemu, "", PATIENCE)


# In CI the smallest core and one with an FPU, with FVM_FULL all.
SAMPLE = [machine for machine in MACHINES if FULL or machine.core in ("cm0", "cm4f")]


@pytest.mark.parametrize("machine", SAMPLE, ids=lambda machine: machine.core)
def test_every_part_of_the_api_and_the_order_of_switches_as_on_bare_metal(
    machine: Machine, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    said = guest(machine, tmp_path_factory)
    assert said[: len(PARTS)] == list(PARTS)
    assert said[-1] == "all passed"
    assert bare(machine, tmp_path) == said, "the line before the last tells the switches"
