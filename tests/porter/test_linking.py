"""What a build links, by the words of its commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.project.linking import Linking, parse_linking

HERE = Path("/project/app")
PROGRAM = Linking(HERE / "b/main.elf", (HERE / "b/linker.ld",))


@pytest.mark.parametrize(
    "command",
    [
        "arm-none-eabi-gcc main.o -o b/main.elf -Tb/linker.ld -Wl,--gc-sections",
        "arm-none-eabi-g++ -T b/linker.ld -o b/main.elf main.o",
        "arm-none-eabi-gcc main.o -Wl,-T,b/linker.ld,-Map=x.map -o b/main.elf",
        "arm-none-eabi-gcc main.o -Wl,-Tb/linker.ld -Ttext=0x8004000 -o b/main.elf",
        "arm-none-eabi-gcc main.o -Xlinker -T -Xlinker b/linker.ld -o b/main.elf",
        "/opt/arm/bin/arm-none-eabi-ld --script=b/linker.ld main.o -o b/main.elf",
        "ccache arm-none-eabi-gcc main.c -o b/main.elf -Tb/linker.ld",
    ],
)
def test_program_and_script(command: str) -> None:
    assert parse_linking(command.split(), HERE) == PROGRAM


@pytest.mark.parametrize(
    "command",
    [
        "arm-none-eabi-gcc -c main.c -o main.o -Tb/linker.ld",
        "arm-none-eabi-ld -r a.o b.o -o both.o -Tb/linker.ld",
        "arm-none-eabi-gcc main.o -o tool",
        "arm-none-eabi-gcc main.o -o main.elf -Ttext=0x8000000",
        "arm-none-eabi-gcc main.o -Tb/linker.ld",
        "arm-none-eabi-objcopy -O binary b/main.elf -o x",
        "",
    ],
)
def test_another_command(command: str) -> None:
    assert parse_linking(command.split(), HERE) is None
