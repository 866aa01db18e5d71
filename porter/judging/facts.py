"""What one file says that another file's sites are judged by."""

from __future__ import annotations

from dataclasses import dataclass, field

from porter.sites.site import Site


@dataclass(frozen=True)
class Priority:
    """An interrupt is given a priority, as the byte in the NVIC's register."""

    site: Site
    irq: int
    byte: int


@dataclass(frozen=True)
class Tick:
    """A place that starts the tick; `hz` None: at a rate that is known while running."""

    site: Site
    hz: int | None


@dataclass(frozen=True)
class Watchdog:
    """A place that starts the watchdog, or feeds it; `condition`: what a start depends on, "" for
    nothing."""

    site: Site
    starts: bool
    condition: str = ""


@dataclass
class Facts:
    """Priorities and BASEPRI thresholds that are constants, what starts the tick, and what starts
    and feeds the watchdog."""

    priorities: list[Priority] = field(default_factory=list)
    thresholds: set[int] = field(default_factory=set)
    ticks: list[Tick] = field(default_factory=list)
    watchdogs: list[Watchdog] = field(default_factory=list)

    def note_priority(self, site: Site, irq: int, priority: int | None, shift: int) -> None:
        """Remember a priority; None is not known and says nothing."""
        if priority is not None:
            self.priorities.append(Priority(site, irq, priority << shift & 0xFF))

    def note_threshold(self, value: int | None) -> None:
        """Remember a threshold; 0 unmasks."""
        if value is not None and value & 0xFF:
            self.thresholds.add(value & 0xFF)

    def note_tick(self, site: Site, hz: int | None) -> None:
        """Remember a place that starts the tick."""
        self.ticks.append(Tick(site, hz))

    def note_watchdog(self, site: Site, starts: bool, condition: str = "") -> None:
        """Remember a place that starts the watchdog or feeds it."""
        self.watchdogs.append(Watchdog(site, starts, condition))
