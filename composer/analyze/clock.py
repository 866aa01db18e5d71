"""The core's clock: from what set-up code leaves in registers, else from what files say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from composer.analyze.model import Told
from composer.chips.chip import Chip
from composer.init.clock_choice import describe
from composer.init.facts import ClockTree
from porter.port import Judged

_IOC = re.compile(r"(?m)^RCC\.(SYSCLKFreq_VALUE|HCLKFreq_Value)=(\d+)")
_NAMES = ("F_CPU", "STM32_SYSCLK", "configCPU_CLOCK_HZ", "BOARD_BOOTCLOCKRUN_CORE_CLOCK",
          "__SYSTEM_CLOCK", "CLOCK_CORECLOCK", "CORE_CLK")  # fmt: skip
_SLOWEST = 1000
_UNKNOWN = Told(
    None,
    "set-up code of this chip isn't calculated here, and no file says it: say it by --core-clock",
)
_MHZ = 1_000_000


def clock_of(
    root: Path, judged: Judged, tree: ClockTree | None, host: Chip, stated: int | None
) -> Told:
    """`tree`: what set-up code leaves in registers, where somebody can read them; `stated`: what
    the user says."""
    if stated is not None:
        return Told(f"{stated / _MHZ:g} MHz", "said by --core-clock")
    if tree is not None:
        hertz = tree.clocks.root_hz(int(host.clock_limits["hsi"])) // tree.clocks.ahb
        guess = f" ({tree.guessed})" if tree.guessed else ""
        return Told(f"{hertz / _MHZ:g} MHz", f"{describe(tree)}{guess}", tree.places)
    return next(_said(root, judged), _UNKNOWN)


def _said(root: Path, judged: Judged) -> Iterator[Told]:
    for path in [*sorted(root.glob("*.ioc")), *sorted(root.glob("*/*.ioc"))]:
        text = path.read_text(encoding="utf-8", errors="replace")
        for name, value in _IOC.findall(text):
            yield Told(f"{int(value) / _MHZ:g} MHz", f"{path.relative_to(root)}: RCC.{name}")
    for unit in judged.docket.units.values():
        for name in _NAMES:
            if name.encode() in unit.text.evaluator.macros:
                value = unit.text.evaluator.number_of_name(name.encode())
                if value is not None and value > _SLOWEST:
                    yield Told(f"{value / _MHZ:g} MHz", f"{name} ({unit.file.name})")
