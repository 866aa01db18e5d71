"""Handlers of a project: which are its own, which lines it enables, how urgent they are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from composer.chips.chip import Chip
from composer.init.elf_vectors import DEFAULT_USES
from composer.init.facts import Decision, Line, Places, shown
from porter.execution.program import FunctionText
from porter.execution.survey import Survey
from porter.execution.words import number
from porter.project.vectors import FIRST_IRQ, SYSTEM
from porter.source.c_tree import text_of

_NOTHING = re.compile(
    rb"\{[\s;]*(?:(?:while\s*\(\s*(?:1|true)\s*\)|for\s*\(\s*;\s*;\s*\))"
    rb"\s*(?:;|\{[\s;]*\}))?[\s;]*\}"
)
"""A body as the preprocessor leaves it: empty, or a loop without end."""
_ENABLE = range(0xE000_E100, 0xE000_E120, 4)
_PRIORITY = 0xE000_E400


class Interrupts:
    """What the vector table, the definitions and the run say together."""

    def __init__(self, survey: Survey, chip: Chip) -> None:
        self._survey = survey
        self._names: Mapping[int, str] = {line: name for name, line in chip.interrupts.items()}
        uses = Counter(survey.handlers.values())
        self._handlers = {
            n: h
            for n, h in survey.handlers.items()
            if h in survey.strong and uses[h] < DEFAULT_USES
        } or self._by_line()
        self._enabled, self._unclear = self._enables()
        self._thresholds = {threshold.value for threshold in survey.record.thresholds}
        self.decisions: list[Decision] = []
        for handler in sorted(set(survey.handlers.values()) & set(survey.strong)):
            if uses[handler] >= DEFAULT_USES and self._does_something(handler):
                self._say(
                    f"{handler} serves {uses[handler]} exceptions, so it was taken for the default"
                    " handler: if it passes them on, name the handlers that it calls",
                    handler,
                )
        self.system_handlers = self._system()

    def _by_line(self) -> dict[int, str]:
        """Handlers of lines by their CMSIS names, where no vector table was found."""
        if self._survey.handlers:
            return {}
        names = {FIRST_IRQ + line: f"{name}_IRQHandler" for line, name in self._names.items()}
        return {n: name for n, name in names.items() if name in self._survey.strong}

    def _system(self) -> dict[str, str]:
        """Handlers of supervisor call, switch and tick, by what the description calls them."""
        found = {SYSTEM[n]: h for n, h in self._handlers.items() if n in SYSTEM}
        if not self._survey.handlers:
            found = self._by_name({11: "SVC_Handler", 14: "PendSV_Handler", 15: "SysTick_Handler"})
            self.decisions.append(
                Decision(
                    "no vector table was found in the built files or a built ELF; handlers are"
                    " taken by their CMSIS names"
                )
            )
        return found

    def has_tasks(self) -> bool:
        """Whether the switch handler does something: CubeMX writes an empty one."""
        return self._does_something(self.system_handlers.get("switch", ""))

    def _does_something(self, handler: str) -> bool:
        """Whether a function is more than a loop without end; one in assembler counts as more."""
        definition = self._survey.strong.get(handler)
        if not isinstance(definition, FunctionText):
            return definition is not None
        body = definition.body
        return body is not None and _NOTHING.fullmatch(text_of(body)) is None

    def _by_name(self, names: Mapping[int, str]) -> dict[str, str]:
        return {SYSTEM[n]: name for n, name in names.items() if name in self._survey.strong}

    def lines(self, of_other_chip: bool = False) -> list[Line]:
        """Lines that have a handler of the project's own. `of_other_chip`: only handlers that are
        called as the line is, since another chip numbers its lines otherwise."""
        found = []
        idle: list[str] = []
        for exception, handler in sorted(self._handlers.items()):
            line = exception - FIRST_IRQ
            if line < 0:
                continue
            if line not in self._names:
                self._say(f"{handler} handles line {line}, which the chip doesn't have", handler)
                continue
            if of_other_chip and self._names[line].lower() not in handler.lower():
                self._say(
                    f"{handler} handles line {line}, which is {self._names[line]} on this chip and"
                    " something else on the project's: left out, else name it as an <irq>",
                    handler,
                )
                continue
            if self._names[line].startswith("EXTI"):
                self._say(
                    f"EXTI can't be granted, since its registers are shared by all lines: {handler}"
                    " can't clear the flag that it serves",
                    handler,
                )
            places = self._enabled.get(line, ())
            if not places:
                idle.append(handler)
            found.append(self._line(line, handler, places or self._defined(handler)))
        if idle:
            lines = ", ".join(name for name in idle)
            what = f"nothing was seen to enable the lines of {lines}"
            if self._unclear:
                what += f", but {self._unclear[0]} enables one that isn't known"
            self._say(f"{what}: are they used at all?", idle[0])
        for line, places in sorted(self._enabled.items()):
            if line + FIRST_IRQ in self._handlers or of_other_chip:
                continue
            text = f"line {line} is enabled, which the chip doesn't have"
            if line in self._names:
                text = (
                    f"line {self._names[line]} is enabled, but no built source defines its handler"
                )
            self.decisions.append(Decision(text, places))
        return found

    def _line(self, line: int, handler: str, places: Places) -> Line:
        priority = self._priority(line)
        threshold = min(self._thresholds, default=0)
        transparent = bool(threshold) and priority is not None and priority < threshold
        if threshold and priority is None:
            self._say(
                f"the priority of {self._names[line]} isn't known: above the BASEPRI threshold"
                f' 0x{threshold:02X} it must be mask="transparent"',
                handler,
            )
        return Line(self._names[line], handler, places, priority, transparent)

    def _priority(self, line: int) -> int | None:
        """The last priority that the code sets; 0 after reset."""
        writes = self._survey.record.to(_PRIORITY + line)
        if not writes:
            return 0
        value = number(writes[-1].value)
        return None if value is None else value & 0xFF

    def _enables(self) -> tuple[dict[int, Places], Places]:
        """Lines that are enabled, and places that enable a line that isn't known."""
        enabled: dict[int, Places] = {}
        unclear: list[str] = []
        for write in self._survey.record.writes:
            if write.address not in _ENABLE:
                continue
            place = shown(write.where, self._survey.root)
            bits = number(write.value)
            if bits is None:
                unclear.append(place)
                continue
            for bit in range(32):
                if bits >> bit & 1:
                    line = (write.address - _ENABLE[0]) * 8 + bit
                    if place not in enabled.get(line, ()):
                        enabled[line] = (*enabled.get(line, ()), place)
        return enabled, tuple(unclear)

    def _defined(self, handler: str) -> Places:
        definition = self._survey.strong[handler]
        if isinstance(definition, FunctionText):
            unit = self._survey.program.units[definition.unit]
            return (shown(unit.where(definition.node), self._survey.root),)
        path: Path = definition
        root = self._survey.root
        return (path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path),)

    def _say(self, text: str, handler: str) -> None:
        self.decisions.append(Decision(text, self._defined(handler)))
