"""`fvmkit analyze`: what a user reads of a legacy project before there is a description."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from composer.analyze.devices import without_idle_lines
from composer.analyze.model import Device, Vector
from composer.analyze.rtos_data import rtoses
from composer.cli import fvmkit, run_command
from tests.composer.analyze_projects import FREERTOS, TRANSFERS, keil_project, made_project
from tests.composer.init_projects import cube_project, write


def run(project: Path, *options: str) -> Result:
    """The command, as its status and standard output."""
    result = CliRunner().invoke(fvmkit, ["analyze", str(project), *options], standalone_mode=False)
    assert result.exception is None, result.exception
    return result


def page(project: Path, *options: str) -> str:
    """The page as one line, so that it doesn't matter where lines end."""
    return " ".join(run(project, *options).stdout.split())


def data(project: Path, *options: str) -> dict[str, Any]:
    """What --json prints."""
    found: dict[str, Any] = json.loads(run(project, "--json", *options).stdout)
    return found


def test_a_cubemx_project(tmp_path: Path) -> None:
    text = page(cube_project(tmp_path / "logger"))
    assert "chip STM32F405RGTx (linker script STM32F405RGTx_FLASH.ld, -DSTM32F405xx" in text
    assert "CCMRAM 64K, RAM 32K, FLASH 128K (STM32F405RGTx_FLASH.ld)" in text
    assert "used: not known: no ELF or map is there" in text
    assert "core cortex-m4 (-mcpu=cortex-m4 (make)); FPU: fpv4-sp-d16" in text
    assert "toolchain: arm-none-eabi-gcc -Og (make)" in text
    assert "compiles 3 files (C, assembler); beside it 1 source that it doesn't have" in text
    assert "RTOS none, bare metal" in text
    assert "clock 168 MHz (HSE 12 MHz m=6 n=168 p=2 q=7" in text
    assert "USART1_IRQHandler (line 37) Core/Src/stm32f4xx_it.c:" in text
    assert "of faults, which the kernel takes: NMI_Handler" in text
    devices = data(tmp_path / "logger")["devices"]
    assert [it["name"] for it in devices] == ["FLASH", "GPIOA", "IWDG", "RCC", "USART1"]
    assert "(with the description that init would draft)" in text
    assert f"next fvmkit init {tmp_path}/logger --chip STM32F405RG -o system.xml" in text


def test_what_is_used_comes_from_the_built_program_or_its_map(tmp_path: Path) -> None:
    project = cube_project(tmp_path / "p")
    options = "-specs=nano.specs -specs=nosys.specs -T$(LDSCRIPT)"
    linker = "LDFLAGS=$(MCU) " + options + " -Wl,--gc-sections,-Map=build/logger.map"
    subprocess.run(["make", linker], cwd=project, check=True, capture_output=True)
    elf = data(project)["chip"]
    assert elf["used_by"] == "build/logger.elf"
    (project / "build/logger.elf").unlink()
    by_map = data(project)["chip"]
    assert by_map["used_by"] == "build/logger.map"
    for what in ("flash_used", "ram_used"):
        assert elf[what] > 0
        assert abs(by_map[what] - elf[what]) <= 64, what  # gaps for alignment
    assert f"used: {by_map['flash_used']} bytes of flash" in page(project)


def test_the_status_says_whether_a_person_is_needed(tmp_path: Path) -> None:
    project = cube_project(tmp_path / "p")
    assert run(project).return_value == 0
    main = project / "Core/Src/main.c"
    main.write_text(
        main.read_text().replace("int main(void) {", "int main(void) {\n  elsewhere();")
    )
    result = run(project)
    assert result.return_value == 1
    assert "functions: elsewhere (1): they are called and aren't in the tree" in result.stdout


def test_what_cant_be_told_is_said_and_not_guessed(tmp_path: Path) -> None:
    project = write(tmp_path / "p", {"main.c": "int main(void) { for (;;) { } }\n"})
    text = page(project)
    assert "chip not known: no build file, linker script, start-up file or device header" in text
    assert "-> say it by --part, as STM32F103RC" in text
    assert "memory not known" in text
    assert "build not known: no build file was found" in text
    assert "clock not known" in text
    assert run(project).return_value == 1
    assert "chip STM32F103RC (said by --part) flash 256K" in page(project, "--part", "STM32F103RC")


def test_several_chips_of_a_build_are_not_decided_about(tmp_path: Path) -> None:
    cmake = "project(p)\nadd_target(a STM32F042x6)\nadd_target(b STM32F072xB)\n"
    project = write(tmp_path / "p", {"CMakeLists.txt": cmake, "main.c": "int main(void) { }\n"})
    text = page(project)
    assert "several parts are named (STM32F042X6, STM32F072XB; CMakeLists.txt:2)" in text
    assert "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON" in text


def test_a_keil_project(tmp_path: Path) -> None:
    text = page(keil_project(tmp_path / "p"))
    assert "chip STM32F072C8Tx (MDK-ARM/p.uvprojx, -DSTM32F072xB of the build)" in text
    assert "IRAM 16K, IROM 64K (MDK-ARM/p.uvprojx)" in text
    assert "Arm Compiler 6 (armclang) (Keil MDK)" in text
    assert "core cortex-m0" in text


def test_devices_dma_masks_and_sections(tmp_path: Path) -> None:
    project = made_project(tmp_path / "p", {"main.c": TRANSFERS})
    found = data(project)
    devices = {it["name"]: it for it in found["devices"]}
    assert [*devices] == ["USART2"]  # CONSOLE is the project's own name for it
    assert devices["USART2"]["dma"]
    assert [(it["name"], it["device"]) for it in found["streams"]] == [("DMA1_Channel6", "USART2")]
    assert [(it["what"], it["count"]) for it in found["masks"]] == [("PRIMASK", 2)]
    assert [(it["what"], it["count"]) for it in found["sections"]] == [(".fast", 1)]
    text = page(project)
    assert "DMA (DMA1_Channel6, for USART2): a bus master reaches all memory" in text
    assert "-> rewrite these transfers with interrupts" in text
    assert "STM32F405RG is of another family than STM32F103xB" in text
    assert "core cortex-m3 (-mcpu=cortex-m3 (make)); FPU: no" in text
    assert "standard: gnu11" in text
    assert re.search(r"main\.c:\d+ \(2 asm statements\)", text)


def test_external_lines_that_only_a_library_names_are_not_used() -> None:
    by_library = Device("EXTI", 0x4001_3C00, ("Drivers/HAL/gpio.c:7",))
    own = Device("EXTI", 0x4001_3C00, ("src/button.c:3",))
    handler = Vector(22, "EXTI0_IRQHandler", "src/button.c:9")
    assert without_idle_lines([by_library], []) == []
    assert without_idle_lines([by_library], [handler]) == [by_library]
    assert without_idle_lines([own], []) == [own]


def test_an_rtos_its_version_and_tick(tmp_path: Path) -> None:
    text = page(made_project(tmp_path / "p", FREERTOS))
    assert "RTOS FreeRTOS (tasks.c is part of the program); version V10.2.0 (task.h)" in text
    assert "ports of this version were proved" in text
    assert "tick 250 Hz (configTICK_RATE_HZ" in text


@pytest.mark.parametrize(
    ("name", "header", "text", "version"),
    [
        ("RT-Thread", "rtdef.h", "#define RT_VERSION 4L\n#define RT_SUBVERSION 1L\n"
         "#define RT_REVISION 0L\n", "4.1.0"),
        ("uC/OS-II", "ucos_ii.h", "#define  OS_VERSION  29300u\n", "2.93.00"),
        ("uC/OS-III", "os.h", "#define  OS_VERSION  30802u\n", "3.08.02"),
        ("ThreadX", "tx_api.h", "#define THREADX_MAJOR_VERSION 6\n"
         "#define THREADX_MINOR_VERSION 4\n#define THREADX_PATCH_VERSION 2\n", "6.4.2"),
        ("RTX 5", "rtx_os.h", "#define osRtxVersionKernel   50090001\n", "5.9.1"),
        ("ChibiOS", "ch.h", '#define CH_KERNEL_VERSION "3.0.4"\n', "3.0.4"),
        ("RMP", "rmp_kernel.h", "int RMP_Thd_Cur;\n", None),
    ],
)  # fmt: skip
def test_where_versions_of_rtoses_stand(
    tmp_path: Path, name: str, header: str, text: str, version: str | None
) -> None:
    rtos = next(it for it in rtoses() if it.name == name)
    path = write(tmp_path, {header: text}) / header
    assert rtos.version_in([path]) == (None if version is None else (version, path))


def test_an_rtos_of_which_only_a_header_is_named(tmp_path: Path) -> None:
    main = '#include "ch.h"\nint main(void) { for (;;) { } }\n'
    text = page(write(tmp_path / "p", {"main.c": main}))
    assert "RTOS ChibiOS (its header is included, its sources aren't compiled; main.c:1)" in text
    assert "version not known" in text
    assert "headers: ch.h: they aren't in the tree" in text


def test_a_file_that_the_compiler_refuses(tmp_path: Path) -> None:
    main = '#ifndef VARIANT\n#error "choose a variant"\n#endif\nint main(void) { for (;;) { } }\n'
    text = page(made_project(tmp_path / "p", {"main.c": main}))
    assert "files of C, of 1: they can't be preprocessed as the build says: main.c" in text
    assert "choose a variant" in text


def test_a_makefile_that_stops(tmp_path: Path) -> None:
    project = made_project(tmp_path / "p", {"main.c": "int main(void) { for (;;) { } }\n"})
    (project / "Makefile").write_text("include kernel/rules.mk\nall:\n")
    text = page(project)
    assert "build not known: the makefile stops" in text
    assert "No rule to make target 'kernel/rules.mk'" in text


def test_the_data_has_what_the_page_has(tmp_path: Path) -> None:
    found = data(cube_project(tmp_path / "p"))
    assert found["schema"] == 1
    assert found["needs_person"] is False
    assert found["chip"]["part"]["value"] == "STM32F405RGTx"
    assert found["port"]["is_drafted"] is True
    rewritten = sum(it["count"] for it in found["port"]["rewritten"])
    left = sum(it["count"] for it in found["port"]["left"])
    assert rewritten + left == found["port"]["found"] > 0
    assert found["questions"]


def test_a_missing_or_empty_project_is_wrong_usage(tmp_path: Path) -> None:
    for project in (tmp_path / "none", tmp_path):
        argv = ["analyze", str(project)]
        assert run_command(lambda argv=argv: fvmkit.main(argv, standalone_mode=False)) == 2  # type: ignore[misc]
    argv = ["analyze", str(tmp_path), "--chip", "Z80"]
    assert run_command(lambda: fvmkit.main(argv, standalone_mode=False)) == 2


def test_nothing_is_written(tmp_path: Path) -> None:
    project = cube_project(tmp_path / "p")
    before = {it: it.read_bytes() for it in tmp_path.rglob("*") if it.is_file()}
    run(project)
    assert {it: it.read_bytes() for it in tmp_path.rglob("*") if it.is_file()} == before
