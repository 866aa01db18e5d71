"""What the demonstration prints, and what it keeps count of."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

BOLD, GREEN, RED, DIM = "1", "32", "31", "2"
COLOURED = sys.stdout.isatty() and "NO_COLOR" not in os.environ


def paint(text: str, colour: str) -> str:
    """Text in a colour where the terminal wants colours."""
    return f"\033[{colour}m{text}\033[0m" if COLOURED else text


class Report:
    """Steps, what was said in them, and whether it was as promised."""

    def __init__(self) -> None:
        self.passed = 0
        self.failed = 0
        self._steps = 0
        self._listener: Callable[[str, bool], None] | None = None
        self._started = time.monotonic()

    def step(self, title: str) -> None:
        """A new step."""
        self._steps += 1
        seconds = f"{time.monotonic() - self._started:.0f} s"
        print(f"\n{paint(f'{self._steps}. {title}', BOLD)}  {paint(seconds, DIM)}", flush=True)

    def line(self, text: str) -> None:
        """Something that is just shown."""
        print(f"   {text}", flush=True)

    @contextmanager
    def told(self, listener: Callable[[str, bool], None]) -> Iterator[None]:
        """Meanwhile another one hears of every promise too."""
        self._listener = listener
        try:
            yield
        finally:
            self._listener = None

    def check(self, promise: str, kept: bool, seen: str = "") -> None:
        """A promise; where it is not kept, `seen` says what was there instead."""
        if self._listener is not None:
            self._listener(promise, kept)
        if kept:
            self.passed += 1
            print(f"   {paint('ok', GREEN)}      {promise}", flush=True)
        else:
            self.failed += 1
            print(f"   {paint('FAILED', RED)}  {promise}", flush=True)
            if seen:
                print(f"           instead: {seen}", flush=True)

    def close(self) -> int:
        """The last line, and the exit status."""
        seconds = time.monotonic() - self._started
        print(f"\ndemo: {self.passed} promises kept, {self.failed} broken, {seconds:.0f} s")
        return 0 if self.failed == 0 else 1
