"""The machines of QEMU that the benchmark runs on, and the compiler's flags for each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Machine:
    """`shift`: an instruction takes 2**shift nanoseconds of the machine's timers. That decides how
    many lie between two ticks, and changes no count."""

    name: str
    core: str  # as the results call it
    chip: str
    board: str
    qemu: str
    shift: int
    flash: int
    headers: str  # folder below boards
    port: str  # FreeRTOS port, below portable/GCC
    cpu: tuple[str, ...]
    fpu: bool
    console: str
    device: str  # the VM's, which interrupts
    line: str
    native_device: str  # the process's
    native_line: str
    clocks: str = ""


NETDUINO = Machine(
    name="netduinoplus2",
    core="cm4f",
    chip="STM32F405RG",
    board="netduinoplus2",
    qemu="netduinoplus2",
    shift=7,
    flash=0x0800_0000,
    headers="stm32f4",
    port="ARM_CM4F",
    cpu=("-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"),
    fpu=True,
    console="USART6",
    device="USART1",
    line="USART1",
    native_device="USART2",
    native_line="USART2",
    clocks='<clocks m="8" n="336" p="2" q="7" apb1="4" apb2="2" latency="5"/>',
)


def _mps2(image: str, core: str, port: str, cpu: tuple[str, ...], fpu: bool) -> Machine:
    return Machine(
        name=f"mps2-{image}",
        core=core,
        chip=f"MPS2-{image.upper()}",
        board=f"mps2-{image}",
        qemu=f"mps2-{image}",
        shift=7,
        flash=0,
        headers="mps2",
        port=port,
        cpu=cpu,
        fpu=fpu,
        console="UART0",
        device="UART1",
        line="UART1_TX",
        native_device="UART2",
        native_line="UART2_TX",
    )


MACHINES = {
    "cm3": _mps2(
        "an385", "cm3", "ARM_CM3", ("-mcpu=cortex-m3", "-mthumb", "-mfloat-abi=soft"), False
    ),
    "cm4f": NETDUINO,
    "cm4f-an386": _mps2("an386", "cm4f-an386", "ARM_CM4F", NETDUINO.cpu, True),
    "cm7": _mps2(
        "an500",
        "cm7",
        "ARM_CM4F",
        ("-mcpu=cortex-m7", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv5-d16"),
        True,
    ),
}
