"""A draft as the text of a description, each line with the place that it comes from."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from composer.description.model import Clocks
from composer.description.units import show_size
from composer.init.claims import Lost, lost_decision
from composer.init.draft import Draft, Machine
from composer.init.facts import Decision, Line, PinUse, Places
from composer.init.links import link_proposals

_WIDTH = 100


def xml_text(draft: Draft, folder: Path) -> str:
    """The description, for a file in `folder`."""
    return "\n".join(_system(draft, folder)) + "\n"


def _system(draft: Draft, folder: Path) -> Iterator[str]:
    names = ", ".join(machine.facts.name for machine in draft.machines)
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield from _comment(
        f"Written by fvmkit init from {names}. Look at every DECIDE: there a person must choose."
        " The places at the ends of lines are where the projects say so.",
        "",
    )
    board = f" board={quoteattr(draft.board.name)}" if draft.board else ""
    yield f"<system name={quoteattr(draft.name)} chip={quoteattr(draft.chip.name)}{board}>"
    yield from _decisions(draft.decisions, "  ")
    head = (
        f'  <kernel tick="{draft.tick_hz}Hz" slice="{_time(draft.slice_us)}"'
        f" console={quoteattr(draft.console.device)}"
    )
    yield head + (">" if draft.console.pins else "/>")
    for port, number, function in draft.console.pins:
        yield (
            f'    <pin port="{port}" pin="{number}" mode="alternate" af="{function}" pull="up"'
            ' speed="high"/>'
        )
    if draft.console.pins:
        yield "  </kernel>"
    yield from _decisions(draft.clock_decisions, "  ")
    yield from _with(_clocks(draft.clocks.clocks), draft.clocks.places, "  ")
    for machine in draft.machines:
        yield ""
        yield from _vm(machine, folder)
    for text, elements in link_proposals(draft):
        yield ""
        yield from _comment(f"DECIDE: {text}", "  ", elements)
    yield "</system>"


def _clocks(clocks: Clocks) -> str:
    hse = f' hse="{_rate(clocks.hse)}"' if clocks.source == "HSE" else ""
    pll = clocks.pll
    factors = f' m="{pll.m}" n="{pll.n}" p="{pll.p}" q="{pll.q}"' if pll else ""
    buses = f'ahb="{clocks.ahb}" apb1="{clocks.apb1}" apb2="{clocks.apb2}"'
    return f'<clocks source="{clocks.source}"{hse}{factors} {buses} latency="{clocks.latency}"/>'


def _vm(machine: Machine, folder: Path) -> Iterator[str]:
    facts, sizes = machine.facts, machine.sizes
    yield from _comment(f"{facts.name}: {sizes.reason}.", "  ")
    yield from _decisions((*machine.decisions, *sizes.decisions), "  ")
    heap = f' heap="{_size(sizes.heap)}"' if sizes.heap else ""
    dog = f' watchdog="{_time(facts.watchdog_us)}"' if facts.watchdog_us else ""
    yield (
        f'  <vm name={quoteattr(facts.name)} flash="{_size(sizes.flash)}" ram="{_size(sizes.ram)}"'
        f'{heap} fpu="{"yes" if facts.build.fpu else "no"}"'
    )
    yield (
        f'      tick="{machine.tick_hz}Hz"{dog} usr-stack="{_size(sizes.usr_stack)}"'
        f' vct-stack="{_size(sizes.vct_stack)}">'
    )
    yield from _project(machine, folder)
    if facts.switch:
        yield f"    <switch handler={quoteattr(facts.switch)}/>"
    if facts.tick:
        yield from _with(f"<tick handler={quoteattr(facts.tick)}/>", facts.tick_places, "    ")
    if facts.svc:
        yield f"    <svc handler={quoteattr(facts.svc)}/>"
    for device in machine.devices:
        yield from _with(f"<device name={quoteattr(device.name)}/>", device.places[:1], "    ")
    for line in machine.lines:
        yield from _with(_irq(line), line.places, "    ")
    for clock in machine.clocks:
        yield from _with(f"<clock name={quoteattr(clock.name)}/>", clock.places[:1], "    ")
    for pin in machine.pins:
        yield from _with(_pin(pin), pin.places, "    ")
    for lost in machine.lost:
        yield from _lost(lost, facts.name)
    yield "  </vm>"


def _project(machine: Machine, folder: Path) -> Iterator[str]:
    build = machine.facts.build
    path = Path(os.path.relpath(build.root, folder.resolve())).as_posix()
    standard = f" standard={quoteattr(build.standard)}" if build.standard else ""
    flags = [build.optimize] if build.optimize else []
    flags += build.language
    cflags = f" cflags={quoteattr(' '.join(flags))}" if flags else ""
    if build.cxx_flags is not None:
        cflags += f" cxx-standard={quoteattr(build.cxx_standard)}" if build.cxx_standard else ""
        cflags += f" cxxflags={quoteattr(' '.join(build.cxx_flags))}"
    entry = f" entry={quoteattr(build.entry)}" if build.entry != "main" else ""
    if build.preprocess and any(it.endswith(".s") for it in build.sources):
        cflags += ' preprocess="yes"'
    yield f"    <project path={quoteattr(path)}{entry}{standard}{cflags}>"
    for tag, values in (
        ("source", build.sources), ("include", build.includes), ("define", build.defines),
        ("startup", build.startup),
    ):  # fmt: skip
        for value in values:
            yield f"      <{tag}>{escape(value)}</{tag}>"
    yield "    </project>"


def _irq(line: Line) -> str:
    mask = "transparent" if line.transparent else "maskable"
    return f'<irq name={quoteattr(line.name)} handler={quoteattr(line.handler)} mask="{mask}"/>'


def _pin(pin: PinUse) -> str:
    text = f'<pin port="{pin.port}" pin="{pin.number}" mode="{pin.mode}"'
    if pin.alternate is not None:
        text += f' af="{pin.alternate}"'
    for name, value, default in (
        ("pull", pin.pull, "none"),
        ("speed", pin.speed, "low"),
        ("output", pin.output, "push-pull"),
    ):
        if value != default:
            text += f' {name}="{value}"'
    return text + (' runtime="yes"/>' if pin.mode == "output" else "/>")


def _lost(lost: Lost, name: str) -> Iterator[str]:
    """What another machine keeps, as a comment that can become elements again."""
    text = str(lost_decision(lost))
    free = f" ({' or '.join(lost.instead[-3:])})" if lost.instead else ""
    if lost.tied:
        text += (
            ". Until they can be shared, give all of it to one <vm>, or change one of the two"
            f" projects to use something else{free}"
        )
    elif lost.devices:
        text += (
            f". Give it to one of them: take these lines out of <vm> {lost.owner} and into this"
            f" one, or change {name} to use another{free}. If it joined the two, see the end of"
            " this file"
        )
    else:
        text += f". Change one of the two projects, or take it out of <vm> {lost.owner}"
    elements = [f"<device name={quoteattr(device.name)}/>" for device in lost.devices]
    elements += [_irq(line) for line in lost.lines]
    elements += [f"<clock name={quoteattr(device.name)}/>" for device in lost.devices]
    elements += [_pin(pin) for pin in lost.pins]
    yield from _comment(f"DECIDE: {text}", "    ", elements)


def _decisions(decisions: Iterable[Decision], indent: str) -> Iterator[str]:
    for decision in decisions:
        yield from _comment(f"DECIDE: {decision}", indent)


def _with(element: str, places: Places, indent: str) -> Iterator[str]:
    """An element with its evidence, in one line where that fits."""
    evidence = f"<!-- {_safe(', '.join(places))} -->" if places else ""
    if len(indent) + len(element) + len(evidence) + 2 <= _WIDTH or not evidence:
        yield f"{indent}{element}{'  ' + evidence if evidence else ''}"
    else:
        yield f"{indent}{evidence}"
        yield f"{indent}{element}"


def _comment(text: str, indent: str, elements: Iterable[str] = ()) -> Iterator[str]:
    lines = textwrap.wrap(
        _safe(text), _WIDTH - len(indent) - 9, break_long_words=False, break_on_hyphens=False
    )
    elements = [_safe(element) for element in elements]
    if not elements:
        lines[-1] += " -->"
    yield f"{indent}<!-- {lines[0]}"
    for line in lines[1:]:
        yield f"{indent}     {line}"
    if elements:
        for element in elements:
            yield f"{indent}{element}"
        yield f"{indent}-->"


def _safe(text: str) -> str:
    """Text that may stand in a comment."""
    clean = "".join(c if c.isprintable() else "?" for c in text)
    while "--" in clean:
        clean = clean.replace("--", "- -")
    return clean.rstrip("-") if clean.endswith("-") else clean


def _size(value: int) -> str:
    return show_size(value).removesuffix(" B")


def _time(microseconds: int) -> str:
    for unit, scale in (("s", 1_000_000), ("ms", 1000)):
        if microseconds % scale == 0:
            return f"{microseconds // scale}{unit}"
    return f"{microseconds}us"


def _rate(hertz: int) -> str:
    return f"{hertz // 1_000_000}MHz" if hertz % 1_000_000 == 0 else f"{hertz}Hz"
