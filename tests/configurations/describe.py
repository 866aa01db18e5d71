"""A configuration as a system description.

Domains are p0, p1, p2 and v0, v1, v2. p0 decides about the others and has the line; the last
process serves; the last process and the last VM are the hostile ones. VMs of a row with `held`
lines are the more urgent the later they come.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.configurations.covering import Row
from tests.configurations.switches import NETDUINO

GUESTS = Path(__file__).parent / "guests"
ALL_AT_ONCE = '<fault delay="0ms" longest="0ms"/>'
FIRST_PRIORITY, PRIORITIES = 29, 10  # of p0's main thread; p1's is so many below


@dataclass(frozen=True)
class Wiring:
    """Names and numbers of a board's lines: those of the VMs, the process's, the split one.

    The split one comes behind the process's, so that each of the stubs, which follow that order, is
    met while somebody more urgent runs than it wakes.
    """

    chip: str
    console: str
    vm_lines: tuple[tuple[str, int], ...]
    process_line: tuple[str, int]
    split_line: tuple[str, int] = ("", 0)


_MPS2_LINES = (("UART2_RX", 4), ("UART3_RX", 18), ("UART4_RX", 20))
STM32 = Wiring(
    "STM32F405RG", "USART6", (("TIM2", 28), ("TIM3", 29), ("TIM5", 50)), ("USART1", 37),
    ("USART2", 38),
)  # fmt: skip


def wiring(row: Row) -> Wiring:
    if row["board"] == NETDUINO:
        return STM32
    return Wiring(row["board"].upper(), "UART0", _MPS2_LINES, ("UART1_RX", 2))


def domains(row: Row) -> list[str]:
    return [f"p{i}" for i in range(int(row["processes"]))] + vms(row)


def vms(row: Row) -> list[str]:
    return [f"v{i}" for i in range(int(row["vms"]))]


def hostile(row: Row) -> set[str]:
    kinds = {"none": "", "vm": "v", "process": "p", "both": "pv"}[row["hostile"]]
    return {[name for name in domains(row) if name[0] == kind][-1] for kind in kinds}


def lines(row: Row) -> list[int]:
    """Lines of interrupts that somebody serves."""
    with_line = vms(row) if row["vm-lines"] != "none" else []
    found = [number for _, (_, number) in zip(with_line, wiring(row).vm_lines, strict=False)]
    if row["process-line"] == "yes":
        found.append(wiring(row).process_line[1])
    if row["split"] == "yes":
        found.append(wiring(row).split_line[1])
    return found


def describe(row: Row, name: str, seed: int) -> str:
    log = f'console="{wiring(row).console}" report="100ms"' if row["log"] != "none" else ""
    parts = [
        f'<system name="{name}" chip="{wiring(row).chip}" board="{row["board"]}"'
        f' optimize="{row["optimize"]}">',
        f'<kernel {log} protection="{row["protection"]}" flash="64K" ram="16K"'
        ' hypervisor-flash="32K" hypervisor-ram="8K"/>',
    ]
    if row["board"] == NETDUINO:
        parts.append('<clocks m="8" n="336" p="2" q="7" apb1="4" apb2="2" latency="5"/>')
    parts += [_process(row, i, seed) for i in range(int(row["processes"]))]
    parts += [_vm(row, i, seed) for i in range(int(row["vms"]))]
    parts += _events(row)
    users = "".join(f'<user domain="{name}"/>' for name in domains(row))
    parts.append(f'<shared name="board" size="64">{users}</shared>')
    return "\n".join([*parts, "</system>"])


def _project(sources: list[str], defines: list[str]) -> str:
    return "".join(
        [
            f'<project path="{GUESTS}" port="no">',
            *(f"<source>{source}</source>" for source in sources),
            *(f"<define>{define}</define>" for define in defines),
            "</project>",
        ]
    )


def _defines(row: Row, name: str, seed: int, *, fpu: bool) -> list[str]:
    number = 1 + domains(row).index(name)
    return [
        f"TEST_SEED={(seed * 0x9E3779B1 + number * 0x85EBCA6B & 0xFFFFFFFF) | 1}u",
        f"TEST_FPU={int(fpu)}",
        f"TEST_HOSTILE={int(name in hostile(row))}",
        *(["TEST_WATCHDOG"] if row["watchdog"] == "yes" and name[0] == "v" else []),
    ]


def _has_fpu(choice: str, index: int) -> bool:
    return choice == "all" or (choice == "one" and index == 0)


def _fault(row: Row, name: str) -> str:
    if row["fault"] == "at-once":
        return ALL_AT_ONCE
    if name == "p0" or row["fault"] == "restart":
        return ""
    if row["fault"] == "user" and name[0] == "p" and _can_be_lowered(row):
        return ""  # no decider for a process: it has to be the more urgent one
    return {"stop": '<fault action="stop"/>', "user": '<fault action="user" process="p0"/>'}[
        row["fault"]
    ]


def _process(row: Row, index: int, seed: int) -> str:
    name = f"p{index}"
    fpu = _has_fpu(row["process-fpu"], index)
    sources = ["process.c", "tagged.c", "ways.S", "crimes.c"]
    if index == 0 and row["split"] == "yes":
        sources.append("middle.c")
    roles = _roles(row, index)
    if row["objects"] == "slots":
        roles.append(("", "TEST_SLOTS"))
    defines = [*_defines(row, name, seed, fpu=fpu), f"TEST_LOWEST={_lowest(index)}"]
    slots = 4 if index == 0 and row["objects"] != "none" else 0
    reads = ' log="read"' if index == 0 and row["log"] != "none" else ""
    return "\n".join(
        [
            f'<process name="{name}" flash="32K" ram="8K" heap="128"'
            f' fpu="{"yes" if fpu else "no"}" slots="{slots}"{reads}>',
            _project(sources, [*defines, *(define for _, define in roles if define)]),
            *_threads(row, index),
            *(element for element, _ in roles),
            _fault(row, name),
            "</process>",
        ]
    )


def _can_be_lowered(row: Row) -> bool:
    """p0 may give threads of its own other priorities at run time."""
    return row["threads"] == "several" or row["objects"] == "memory"


def _lowest(index: int) -> int:
    """Of the priorities that the process's second thread may have."""
    return FIRST_PRIORITY - PRIORITIES * index - 5


def _threads(row: Row, index: int) -> list[str]:
    first, priority, lowest = index == 0, FIRST_PRIORITY - PRIORITIES * index, _lowest(index)
    found = [f'<thread name="main" priority="{priority}" stack="2K"/>']
    if first and row["split"] == "yes":
        found.append(f'<thread name="usart2_mid" priority="{priority - 1}"/>')
    if first and row["fault"] == "user":
        found.append(f'<thread name="judge" priority="{priority - 2}"/>')
    if row["threads"] == "several":
        found.append(f'<thread name="second" priority="{lowest + 2}"/>')
        found.append('<timer name="beat-second" period="3ms"/>')
    if first and row["threads"] == "several":
        found.append(f'<control thread="second" start="yes" stop="yes" ceiling="{lowest + 2}"/>')
    if row["timers"] == "yes" or not first:
        found.append(f'<timer name="beat" period="{2 + index}ms"/>')
    return found


def _roles(row: Row, index: int) -> list[tuple[str, str]]:
    """What only some processes do: elements of the description, and what the guest is told."""
    last = int(row["processes"]) - 1
    found = [("", f"TEST_{('FIRST', 'NUDGED', 'THIRD')[index]}")]
    if row["events"] == "yes":
        found.append(('<kernel-function name="ticks"/>', ""))
    if index == 0 and row["process-line"] == "yes":
        line, _ = wiring(row).process_line
        found.append((f'<irq name="{line}"/>', f"TEST_LINE_CAP=FVM_CAP_{line}"))
    if index == 0 and row["objects"] == "memory":
        ceiling = _lowest(index) - 1
        found.append((f'<kernel-memory size="256" ceiling="{ceiling}"/>', ""))
    if index == last and row["objects"] == "slots":
        found.append(('<delegate to="p0"/>', "TEST_LENDS"))
    if row["ports"] == "yes" and index == last:
        lends = "yes" if row["objects"] == "slots" else "no"
        port = f'<port name="serve" function="serve" stack="1K" delegate="{lends}"/>'
        found.append((port, "TEST_SERVES"))
    if row["ports"] == "yes" and index != last:
        found.append((f'<invoke process="p{last}" port="serve"/>', ""))
    return found


def _vm(row: Row, index: int, seed: int) -> str:
    name = f"v{index}"
    fpu = _has_fpu(row["vm-fpu"], index)
    # Of several only the last one wakes at each tick, so that others sleep while it runs.
    rate = 1000 if index == int(row["vms"]) - 1 else 250
    defines = ["TEST_VM", f"TEST_TICK_HZ={rate}", *_defines(row, name, seed, fpu=fpu)]
    inner = ['<tick handler="tick_handler"/>']
    if row["vm-lines"] != "none":
        line, number = wiring(row).vm_lines[index]
        inner.append(f'<irq name="{line}" handler="line_handler"/>')
        defines += [f"TEST_LINE={number}", f"TEST_VECTOR=FVM_VIRT_{line}"]
    if index == 0 and row["split"] == "yes":
        line, number = wiring(row).split_line
        inner.append(
            f'<device name="{line}"/><irq name="{line}" handler="split_handler">'
            '<split process="p0" ring="512"/></irq>'
        )
        defines.append(f"TEST_SPLIT_LINE={number}")
    if index == 0 and row["pins"] == "yes":
        inner.append('<pin port="A" pin="5" mode="output" runtime="yes"/>')
    watchdog = ' watchdog="100ms"' if row["watchdog"] == "yes" else ""
    writes = ' log="write"' if index == 0 and row["log"] == "text" else ""
    priority = index if row["vm-lines"] == "held" else 0
    return "\n".join(
        [
            f'<vm name="{name}" flash="32K" ram="8K" heap="128" usr-stack="2K" vct-stack="2K"'
            f' fpu="{"yes" if fpu else "no"}" priority="{priority}"{watchdog}{writes}>',
            _project(["vm.c", "tagged.c", "ways.S", "crimes.c"], defines),
            *inner,
            _fault(row, name),
            "</vm>",
        ]
    )


def _events(row: Row) -> list[str]:
    """In every direction that there is."""
    found = []
    processes, machines = int(row["processes"]), int(row["vms"])
    if row["objects"] == "slots":
        found.append(f'<event name="NOTE" from="p{processes - 1}" to="p0" delegate="yes"/>')
    if row["events"] == "no":
        return found
    if processes > 1:
        found.append('<event name="NUDGE" from="p0" to="p1"/>')
        found.append(f'<event name="UP" from="p{processes - 1}" to="p0"/>')
    if processes and machines:
        found.append('<event name="BELL" from="v0" to="p0"/>')
        found.append(
            f'<event name="TO_VM" from="p0" to="v{machines - 1}" handler="event_handler"/>'
        )
    if machines > 1:
        found.append('<event name="KNOCK" from="v0" to="v1" handler="event_handler"/>')
    return found
