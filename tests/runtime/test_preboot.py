"""The kernel starts the same whatever a boot loader left behind: interrupts on and pending, the
MPU, another vector table, priorities, PSP, BASEPRI or FAULTMASK, live FPU state."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from tests.runtime.machine_code import Code
from tests.support.built import Built, once, with_other_kernel
from tests.support.counted import Transcript, run

pytestmark = pytest.mark.campaign

SOURCE = Path(__file__).parent / "preboot" / "preboot.c"
FLASH = 0x080C0000  # behind the image
RAM = 0x2001F000  # behind its memory; the kernel must not care what lies there
RESET_VECTOR = 0x08000004
NOP, NOP_WIDE = 0xBF00, 0x8000F3AF
CONSOLES = {"hard": 1, "soft": 2}

# A kernel that compares the configuration at every tick and resets the chip when it differs.
COMPARE = """
static void compare_configuration(void)
{
    static const uint32_t expected[][3] = {
        {0xE000ED08u, 0xFFFFFFFFu, 0x08000000u}, /* VTOR */
        {0xE000ED0Cu, 0x00000700u, 0},           /* AIRCR: PRIGROUP */
        {0xE000ED10u, 0xFFFFFFFFu, 0},           /* SCR */
        {0xE000ED14u, 0xFFFFFFFFu, 0x210u},      /* CCR */
        {0xE000ED18u, 0xFFFFFFFFu, 0},           /* SHPR1 */
        {0xE000ED1Cu, 0xFFFFFFFFu, 0x80000000u}, /* SHPR2 */
        {0xE000ED20u, 0xFFFFFFFFu, 0x80F00000u}, /* SHPR3 */
        {0xE000ED24u, 0x0007F000u, 0x00070000u}, /* SHCSR: enabled, nothing pending */
        {0xE000EF34u, 0xFFFFFFFFu, 0x80000000u}, /* FPCCR */
        {0xE000EF3Cu, 0xFFFFFFFFu, 0},           /* FPDSCR */
        {0xE000E104u, 0xFFFFFFFFu, 0},           /* no line of the second word is open */
        {0xE000E204u, 0xFFFFFFFFu, 0},           /* or pending */
        {0xE000E404u, 0xFFFFFFFFu, 0x80808080u}, /* priorities */
    };
    for (uint32_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        volatile uint32_t *reg = (volatile uint32_t *)expected[i][0];
        if ((*reg & expected[i][1]) != expected[i][2]) {
            cpu_arch_reset();
        }
    }
    uint32_t basepri, faultmask;
    __asm volatile("mrs %0, basepri\\n\\tmrs %1, faultmask" : "=r"(basepri), "=r"(faultmask));
    if (basepri != 0 || faultmask != 0) {
        cpu_arch_reset();
    }
}

"""
TICK = "void time_tick(void)\n{\n"


def after(
    system: Built, folder: Path, patches: Mapping[int, int], patience: float, *defines: str
) -> Transcript:
    """A run that begins in the boot loader."""
    elf = folder / "preboot.elf"
    options = ["-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16", "-mfloat-abi=softfp", "-O1"]
    options += ["-nostdlib", "-ffreestanding", "-Wall", "-Wextra", "-Werror"]
    options += [f"-Wl,-Ttext={FLASH:#x}", "-Wl,-e,preboot", f"-DPREBOOT_RAM={RAM:#x}u"]
    next_ = system.symbol("kernel", "reset_entry") | 1
    options += [f"-DPREBOOT_NEXT={next_:#x}u", *(f"-D{define}" for define in defines)]
    subprocess.run(["arm-none-eabi-gcc", *options, "-o", str(elf), str(SOURCE)], check=True)
    with elf.open("rb") as file:
        start = ELFFile(file)["e_entry"]
    image = system.patched(folder / "system.elf", {RESET_VECTOR: start | 1, **patches})
    return run(image, CONSOLES, 3000, options=("-device", f"loader,file={elf}"), patience=patience)


def boots(transcript: Transcript) -> int:
    return sum(record.text.startswith("fvm: boot") for record in transcript.log)


@pytest.fixture
def comparing(system: Callable[[str], Built], tmp_path_factory: pytest.TempPathFactory) -> Built:
    return once(
        tmp_path_factory,
        "tasks with compared configuration",
        lambda room: with_other_kernel(
            system("tasks"),
            room,
            "kernel/time.c",
            (TICK, COMPARE + TICK + "    compare_configuration();\n"),
        ),
    )


@pytest.mark.parametrize(
    "left",
    [
        ("PREBOOT_FAULTMASK=0", "PREBOOT_HFNMIENA=0"),
        ("PREBOOT_FAULTMASK=1", "PREBOOT_HFNMIENA=1"),
    ],
    ids=["PRIMASK", "FAULTMASK"],
)
def test_it_runs_as_if_nobody_ran_before(
    comparing: Built, tmp_path: Path, left: tuple[str, ...]
) -> None:
    transcript = after(comparing, tmp_path, {}, 30, *left)
    assert transcript.reached
    assert boots(transcript) == 1
    assert not transcript.faults
    assert all(transcript.values(vm)["done"] == 1 for vm in CONSOLES)
    assert transcript.stats("hypervisor")[-1].restarts == 0


@pytest.mark.parametrize(
    "register",
    [0xE000ED94, 0xE000EF3C, 0xE000E180, 0xE000ED10, "msr basepri, r0", "cpsie f"],
    ids=["MPU", "FPDSCR", "lines", "SCR", "BASEPRI", "FAULTMASK"],
)
def test_without_one_write_of_the_kernel_it_does_not(
    comparing: Built, tmp_path: Path, register: int | str
) -> None:
    code = Code(comparing.folder / "kernel" / "kernel.elf")
    place = next(
        address
        for entry in (code.handlers[1], code.functions["kernel_main"])
        for address, registers in code.values(entry).items()
        if code.text(address) == register
        or any(store.address == register for store in code.stores(address, registers))
    )
    word = code.word(place)
    assert word is not None
    nop = NOP_WIDE if code.instructions[place].size == 4 else word & 0xFFFF0000 | NOP
    transcript = after(
        comparing, tmp_path, {place: nop}, 1.5, "PREBOOT_FAULTMASK=1", "PREBOOT_HFNMIENA=1"
    )
    assert not transcript.reached or boots(transcript) > 1
