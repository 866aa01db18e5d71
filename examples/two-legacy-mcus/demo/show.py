"""What happens when the consolidated system runs, and when a part of it misbehaves."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection
from report import Report
from road import BUILD, CONTROL, command
from talk import MOTOR, SENSOR, Silence, Talk

from composer.simulate.log import Record
from composer.simulate.running import start

# Time on the chip is counted in instructions, so a busy host slows the chip down as a whole instead
# of making its timer miss ticks.
CLOCK = "shift=4,sleep=on"
RECORD, RAM, TIMELINE = BUILD / "run.json", BUILD / "run.ram", BUILD / "timeline.svg"
PAGE = BUILD / "report.html"
GAIN = 5  # what the sensor node is told, and must still know afterwards
GARBAGE = 0xDEADBEEF  # what `crash` writes
WINDOW = 1000  # kernel ticks that an observation lasts, at least
HEARTBEAT_TICKS = (10, 20)  # ticks of a VM between two beats, the same in both projects


def address_of(elf: Path, name: str) -> int:
    """Where a variable is."""
    with elf.open("rb") as file:
        symbols = ELFFile(file).get_section_by_name(".symtab")
        assert isinstance(symbols, SymbolTableSection)
        found = symbols.get_symbol_by_name(name)
        assert found, f"{elf} has no variable {name}"
        return int(found[0]["st_value"])


def number(line: str, field: str) -> int:
    """A number out of an answer: `gaps=0`, `hb1 n=12`."""
    found = re.search(rf"{field}=?\s*(\d+)", line)
    return int(found[1]) if found else -1


def hear(report: Report, talk: Talk, name: str, command: str) -> list[str]:
    """Ask, and show question and answer."""
    lines = talk.ask(name, command)
    report.line(f"  {name}> {command}")
    for line in lines:
        report.line(f"    {line}")
    return lines


def converse(report: Report, talk: Talk) -> None:
    """Both VMs answer, at the same time, as they did on their own chips."""
    talk.say(MOTOR, "set speed 1200")
    talk.say(SENSOR, f"set gain {GAIN}")
    both = talk.answer(MOTOR), talk.answer(SENSOR)
    report.check(
        "both answer at the same time",
        both == (["speed 1200", "ok"], [f"gain {GAIN}", "ok"]),
        str(both),
    )
    talk.until(
        lambda: talk.ask(SENSOR, "get setpoint")[0] == "setpoint 1200",
        "the set-point does not reach the sensor node",
    )
    report.check("what one is told reaches the other", True)
    for name in (MOTOR, SENSOR):
        hear(report, talk, name, "status")
        line = hear(report, talk, name, "link")[0]
        flows = number(line, r"received n") > 0
        report.check(
            f"{name} gets messages, without gap", flows and number(line, "gaps") == 0, line
        )


def vitals(talk: Talk, name: str) -> tuple[int, int, int]:
    """A VM's tick count and its two heartbeat counters, as it tells them itself."""
    line = talk.ask(name, "status")[0]
    return number(line, "status t"), number(line, "hb1 n"), number(line, "hb2 n")


def incident(
    report: Report, talk: Talk, culprit: str, witness: str, command: str, promised: str
) -> None:
    """One VM misbehaves: it alone reboots, and the other doesn't miss a tick."""
    before, vitals_before = talk.next_stat(witness), vitals(talk, witness)
    report.line(f"  {culprit}> {command}")
    talk.say(culprit, command)
    sentence = talk.sentence(f"{culprit} rebooted")
    report.line(f"    {sentence}")
    report.check("the kernel's log says what happened and where", promised in sentence, sentence)
    talk.answer(culprit, "ready")
    back = talk.ask(culprit, "echo back")
    report.check(f"{culprit} is back and answers", back == ["back", "ok"], str(back))
    after, vitals_after = talk.next_stat(witness), vitals(talk, witness)

    window = count(after, "tick") - count(before, "tick")
    ticks = count(after, "ticks") - count(before, "ticks")
    report.check(
        f"{witness} counted {ticks} of {window} kernel ticks meanwhile",
        window >= WINDOW and abs(ticks - window) <= 1,
        after.text,
    )
    report.check(
        f"{witness} dropped no tick and did not reboot",
        all(count(after, key) == count(before, key) for key in ("dropped", "restarts")),
        after.text,
    )
    passed, *heartbeats = (b - a for a, b in zip(vitals_before, vitals_after, strict=True))
    report.check(
        f"its heartbeats went on: {heartbeats[0]} and {heartbeats[1]} in {passed} ticks",
        all(
            abs(beats - passed / period) <= 1
            for beats, period in zip(heartbeats, HEARTBEAT_TICKS, strict=True)
        ),
    )


def count(record: Record, key: str) -> int:
    """A number of a statistics line; -1 when it is missing."""
    value = record.number(key)
    return -1 if value is None else value


def misbehave(report: Report, talk: Talk) -> None:
    """A crash, a hang and a reset."""
    gain = address_of(BUILD / SENSOR / f"{SENSOR}.elf", "gain")
    crash = f"write to 0x{gain:08x} [{SENSOR} RAM], crash_cmd console.c:"
    incident(report, talk, MOTOR, SENSOR, f"crash {gain:08x}", crash)
    answer = talk.ask(SENSOR, "get gain")
    report.check(f"{SENSOR} still knows its gain", answer == [f"gain {GAIN}", "ok"], str(answer))
    incident(report, talk, SENSOR, MOTOR, "hang", "watchdog after 500 ms, hang_cmd console.c:")
    incident(report, talk, MOTOR, SENSOR, "reset", "reset request, reset_cmd console.c:")


def together(report: Report, talk: Talk) -> None:
    """First all goes well, then not."""
    converse(report, talk)
    misbehave(report, talk)


def control(report: Report, talk: Talk) -> None:
    """The same wild write where nothing stops it."""
    gain = address_of(CONTROL / "out" / SENSOR / f"{SENSOR}.elf", "gain")
    talk.ask(SENSOR, f"set gain {GAIN}")
    hear(report, talk, MOTOR, f"crash {gain:08x}")
    answer = hear(report, talk, SENSOR, "get gain")
    report.check(
        f"without protection the write of {MOTOR} changed the memory of {SENSOR}",
        answer == [f"gain {GARBAGE}", "ok"],
        str(answer),
    )


def watch(
    report: Report, image: Path, scene: Callable[[Report, Talk], None], keep: bool = False
) -> None:
    """Run an image and play a scene in it; `keep` what was said and the memory at the end."""
    report.line(f"$ fvmkit run {image} --icount {CLOCK}")
    with start(image, [], ["-icount", CLOCK]) as running, report.told(running.transcript.checked):
        talk = Talk(running)
        try:
            for name in (MOTOR, SENSOR):
                report.line(f"  {name} | {talk.answer(name, 'ready')[-2]}")
            scene(report, talk)
        except Silence as silence:
            report.check("everybody answers in time", False, str(silence))
        if keep:
            running.dump_ram(RAM)
            running.transcript.save(RECORD)


def write_report(report: Report) -> None:
    """One page on all of it, for those who must sign the migration."""
    traced = ("--icount", CLOCK, "--timeout", "2", "--trace", TIMELINE)
    command(report, "run", BUILD, *traced, shown=0)
    kept = ("--run", RECORD, "--ram", RAM, "--timeline", TIMELINE)
    command(report, "report", BUILD, "-o", PAGE, *kept)
    report.check(f"{PAGE}: open it in a browser", PAGE.is_file())


def perform(report: Report) -> None:
    """All scenes."""
    report.step("Run: both firmwares on one chip, under protection")
    watch(report, BUILD, together, keep=True)
    report.step("The control experiment: the same crash with protection off")
    watch(report, CONTROL / "out", control)
    report.step("The report")
    write_report(report)
