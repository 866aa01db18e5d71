"""A composed and built system that is small enough to make by hand.

Its "kernel" runs privileged and alone; it plays the VMs `alpha` (USART1) and `beta` (USART2) and
writes a log on USART6 as a real kernel would. `alpha` and `beta` are never run: they are there to
be linked, and to be named in the log.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

FLASH, RAM = 0x08000000, 0x20000000
KERNEL_SIZE = 0x4000
PLACES = {
    "alpha": (FLASH + 0x4000, 0x4000, RAM + 0x4000, 0x4000),
    "beta": (FLASH + 0x8000, 0x4000, RAM + 0x8000, 0x4000),
}
USARTS = {"alpha": ("USART1", 0x40011000), "beta": ("USART2", 0x40004400)}

DOMAIN_C = """
#include <stdint.h>
volatile int counter = 7, cleared;
void crash_cmd(uint32_t address)
{
    *(volatile uint32_t *)address = 1; /* line 6 */
}
__attribute__((naked)) void hyp_reboot(void) { __asm__("svc 245"); }
void reset_cmd(void)
{
    hyp_reboot(); /* line 11 */
    counter++;
}
__attribute__((naked, used)) void halt_cmd(void) { __asm__("bkpt 0"); }
__attribute__((section(".fvm_header"), used)) const uint32_t header[10] = {
    MAGIC, 1, (uint32_t)crash_cmd, 0x20005000, (uint32_t)reset_cmd, 0x20005000};
"""

KERNEL_C = """
#include <stdint.h>
struct usart { volatile uint32_t sr, dr, brr, cr1; };
#define ALPHA ((struct usart *)0x40011000)
#define BETA ((struct usart *)0x40004400)
#define CONSOLE ((struct usart *)0x40011400)
static void print(struct usart *usart, const char *text)
{
    usart->cr1 = 0x200C;
    while (*text)
        usart->dr = *text++;
}
void reset(void)
{
    print(ALPHA, "hello from alpha\\r\\n");
    print(BETA, "hello from \\033[31mbeta\\r\\n> ");
    print(CONSOLE, LOG);
    for (;;)
        if (ALPHA->sr & 0x20) /* what alpha is told it repeats in capitals */
            ALPHA->dr = ALPHA->dr & ~0x20;
}
__attribute__((section(".vectors"), used)) const uint32_t vectors[16] = {0x20004000,
                                                                         (uint32_t)reset};
"""

SCRIPT = """
MEMORY {{ flash (rx) : ORIGIN = {flash}, LENGTH = 512K
          ram (rw) : ORIGIN = {ram}, LENGTH = 64K }}
PHDRS {{ text PT_LOAD FLAGS(5); data PT_LOAD FLAGS(6); }}
SECTIONS {{
  .text : {{ KEEP(*(.fvm_header .vectors)) *(.text* .rodata*) }} > flash : text
  .data : {{ *(.data*) }} > ram AT> flash : data
  .bss (NOLOAD) : {{ *(.bss*) . = . + {bss}; }} > ram : data
}}
ENTRY({entry})
"""


def grant(name: str, kind: str, base: int, size: int, access: str) -> dict[str, object]:
    return {"name": name, "kind": kind, "base": base, "size": size, "access": access}


def domain_json(name: str) -> dict[str, object]:
    flash, flash_size, ram, ram_size = PLACES[name]
    device, base = USARTS[name]
    return {
        "schema": 1,
        "system": "tiny",
        "name": name,
        "kind": "vm",
        "arch": "armv7em",
        "chip": "STM32F405RG",
        "watchdog_ms": 500,
        "fpu": False,
        "wfi": False,
        "svc": [245],
        "grants": [
            grant("flash", "code", flash, flash_size, "rx"),
            grant("ram", "ram", ram, ram_size, "rw"),
            grant(device, "device", base, 1024, "rw"),
        ],
    }


def build(
    folder: Path,
    name: str,
    source: str,
    *,
    flash: int,
    ram: int,
    entry: str,
    bss: int = 64,
    defines: tuple[str, ...] = (),
) -> None:
    """Compile and link one part into DIR/NAME/NAME.elf."""
    room = folder / name
    room.mkdir(parents=True, exist_ok=True)
    (room / "main.c").write_text(source.lstrip())
    (room / "part.ld").write_text(SCRIPT.format(flash=flash, ram=ram, entry=entry, bss=bss))
    subprocess.run(
        ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-Os", "-g", "-ffreestanding",
         "-nostdlib", "-Wl,--build-id=none", *defines, "main.c", "-T", "part.ld",
         "-o", f"{name}.elf"],
        cwd=room, check=True, capture_output=True,
    )  # fmt: skip


def build_domain(folder: Path, name: str, *, magic: int = 0x444D5646, bss: int = 64) -> None:
    flash, _, ram, _ = PLACES[name]
    entry = "crash_cmd"
    build(
        folder, name, DOMAIN_C, flash=flash, ram=ram, entry=entry, bss=bss,
        defines=(f"-DMAGIC={magic}u",),
    )  # fmt: skip


def build_kernel(folder: Path, log: str = "") -> None:
    text = json.dumps(log)
    build(
        folder, "kernel", KERNEL_C.replace("LOG", text), flash=FLASH, ram=RAM, entry="reset"
    )  # fmt: skip


def compose(folder: Path, waivers: str | None = None) -> None:
    """Write what `fvmkit compose` writes for link and run."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "system.json").write_text(
        json.dumps(
            {
                "schema": 1,
                "name": "tiny",
                "chip": "STM32F405RG",
                "qemu": {
                    "machine": "netduinoplus2",
                    "serial": ["USART1", "USART2", "USART3", "UART4", "UART5", "USART6"],
                },
                "console": "USART6",
                "protection": True,
                "waivers": waivers,
                "kernel": {
                    "flash": {"base": FLASH, "size": KERNEL_SIZE},
                    "ram": {"base": RAM, "size": KERNEL_SIZE},
                },
                "domains": [{"name": name, "policy": f"{name}.domain.json"} for name in PLACES],
            }
        )
    )
    for name in PLACES:
        (folder / f"{name}.domain.json").write_text(json.dumps(domain_json(name)))


def symbol(elf: Path, name: str) -> int:
    """Address of a function, bit 0 clear."""
    listing = subprocess.run(
        ["arm-none-eabi-nm", str(elf)], check=True, capture_output=True, text=True
    ).stdout
    return next(int(line.split()[0], 16) for line in listing.splitlines() if line.endswith(name))


def make(folder: Path, log: str = "") -> Path:
    """The whole system; returns `folder`."""
    compose(folder)
    for name in PLACES:
        build_domain(folder, name)
    build_kernel(folder, log)
    return folder
