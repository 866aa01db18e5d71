"""Projects that the transcriber's tests port: the example's FreeRTOS, and small ones of our own."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from porter.context_switch.project import transcribe_project
from porter.context_switch.result import SwitchPort
from porter.project.compile_options import CompileOptions

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "examples" / "two-legacy-mcus" / "motor-controller"
KERNEL = EXAMPLE / "FreeRTOS-Kernel"
RUNTIME = (
    ROOT / "fvm-runtime" / "include",
    ROOT / "fvm-runtime" / "arch" / "armv7m" / "include",
)
M4F = ("-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16")
M3 = ("-mcpu=cortex-m3", "-mthumb", "-mfloat-abi=soft")


@dataclass(frozen=True)
class Tree:
    """A project's folder, the files in it and how they are compiled."""

    root: Path
    files: tuple[Path, ...]
    options: CompileOptions

    def port(self) -> list[SwitchPort]:
        """What the transcriber makes of it."""
        return transcribe_project(self.root, self.files, self.options)

    def apply(self, ports: list[SwitchPort]) -> None:
        """Write the edits, last one first."""
        for port in sorted(ports, key=lambda edit: (edit.file, -edit.start)):
            data = port.file.read_bytes()
            port.file.write_bytes(data[: port.start] + port.replacement + data[port.end :])


APPLICATION = """
void assert_failed( const char * pcFile, int lLine )
{
    ( void ) pcFile;
    ( void ) lLine;
    taskDISABLE_INTERRUPTS();
    for( ; ; );
}
void vApplicationStackOverflowHook( TaskHandle_t xTask, char * pcName )
{
    ( void ) xTask;
    assert_failed( pcName, 0 );
}
"""


def freertos(folder: Path, eol: bytes = b"\n") -> Tree:
    """The example's FreeRTOS port layer with its configuration, copied into a folder, and the file
    of the kernel that chooses tasks."""
    port = folder / "ARM_CM4F"
    port.mkdir(parents=True)
    for file in (KERNEL / "portable" / "GCC" / "ARM_CM4F").iterdir():
        data = file.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", eol)
        (port / file.name).write_bytes(data)
    tasks = (KERNEL / "tasks.c").read_bytes() + APPLICATION.encode()
    (folder / "tasks.c").write_bytes(tasks.replace(b"\r\n", b"\n").replace(b"\n", eol))
    shutil.copy(EXAMPLE / "inc" / "FreeRTOSConfig.h", folder)
    options = CompileOptions((folder, KERNEL / "include", port), (), M4F, "arm-none-eabi-gcc")
    return Tree(folder, (port / "port.c", port / "portmacro.h", folder / "tasks.c"), options)


def fixture(folder: Path, text: str, cpu: tuple[str, ...] = M4F, name: str = "switch.c") -> Tree:
    """A project of one file, with a scheduler if it is only declared."""
    folder.mkdir(parents=True, exist_ok=True)
    if "void schedule(void);" in text and "void schedule(void) " not in text:
        text += "void schedule(void) { }\n"
    file = folder / name
    file.write_bytes(text.encode())
    return Tree(folder, (file,), CompileOptions((folder,), (), cpu, "arm-none-eabi-gcc"))
