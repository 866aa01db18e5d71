"""Descriptions for tests: one small system, and variants of it by replacing text."""

from __future__ import annotations

from pathlib import Path

from composer.description.parse import parse
from composer.plan import Plan
from composer.resolve import resolve

TINY = """<?xml version="1.0"?>
<system name="tiny" chip="STM32F405RG" board="netduinoplus2">
  <kernel console="USART6"/>
  <clocks m="8" n="336" p="2" q="7" ahb="1" apb1="4" apb2="2" latency="5"/>
  <process name="beater" priority="10" flash="8K" ram="4K">
    <project builtin="heartbeat"/>
    <timer name="beat" period="10ms"/>
  </process>
  <vm name="one" flash="32K" ram="16K" fpu="yes" watchdog="500ms">
    <project path="one" port="no"><source>*.c</source></project>
    <tick handler="SysTick_Handler"/>
    <device name="USART1"/>
    <irq name="USART1" handler="USART1_IRQHandler"/>
    <clock name="USART1"/>
    <pin port="A" pin="9" mode="alternate" af="7"/>
  </vm>
  <vm name="two" flash="10K" ram="5K" tick="100Hz">
    <project path="two" port="no"><source>*.c</source></project>
    <device name="USART2"/>
    <irq name="USART2" handler="USART2_IRQHandler" mask="transparent"/>
    <clock name="USART2"/>
    <pin port="A" pin="6" mode="output" runtime="yes"/>
  </vm>
  <shared name="link" size="1000"><user domain="one"/><user domain="two" access="r"/></shared>
  <event name="to-two" from="one" to="two" handler="event_handler"/>
  <event name="to-one" from="two" to="one" handler="event_handler"/>
  <event name="alarm" from="two" to="beater"/>
</system>
"""

GUEST = """#include <fvm/guest.h>
int table[8] = {1, 2, 3};
static int zero[16];
void SysTick_Handler(void) { zero[0]++; }
void USART1_IRQHandler(void) {}
void USART2_IRQHandler(void) {}
void event_handler(void) {}
int main(void) { return table[zero[1]]; }
"""


def write(folder: Path, *changes: tuple[str, str], text: str = TINY) -> Path:
    """A description with its projects in `folder`; each change must match once."""
    for old, new in changes:
        assert text.count(old) == 1, f"{old!r} occurs {text.count(old)} times"
        text = text.replace(old, new)
    for name in ("one", "two"):
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / "main.c").write_text(GUEST, "utf-8")
    path = folder / "system.xml"
    path.write_text(text, "utf-8")
    return path


def plan_of(folder: Path, *changes: tuple[str, str], text: str = TINY) -> Plan:
    """The plan of `write`'s description."""
    return resolve(parse(write(folder, *changes, text=text)), folder / "out")
