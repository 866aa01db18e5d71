"""The same work on many things, in as many processes as there are cores.

Processes are forked when everything that the work looks at is known, so that nothing need be handed
to them, and what they hand back is small. This process works, too: every one more costs memory. All
take the number of what is next out of one pipe. Nothing here needs /dev/shm, which a container may
not have.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from threading import Thread
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
_TICKET = 4  # bytes of a number in the pipe
_MOST_TICKETS = 8192  # that a pipe takes before somebody reads


def usable_cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def each(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    jobs: int,
    lost: Callable[[Item, str], Result],
    begins: Callable[[Item], None] = lambda _item: None,
) -> list[Result]:
    """What `work` makes of each item, in their order, whoever was done first. What it raises is
    raised here, the first item's first. `lost` makes the result of an item whose process ended in
    the middle of it, and is told how; `begins` is told what this process works on."""
    jobs = min(jobs, len(items))
    if jobs > 1 and "fork" in multiprocessing.get_all_start_methods():
        with _kept(), _Work(work, items) as shared:
            return list(shared.results(jobs, lost, begins))
    results = []
    for item in items:
        begins(item)
        results.append(work(item))
    return results


@contextmanager
def _kept() -> Iterator[None]:
    """While this lasts, nobody collects garbage among what there is now: processes share the memory
    of what they don't touch."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


@dataclass(frozen=True)
class _Raised:
    """What an item came to instead of a result."""

    error: Exception


class _Helper:
    """Another process, and what it has sent so far, which a thread takes from it so that it never
    has to wait for this one."""

    def __init__(self, connection: Connection, process: BaseProcess) -> None:
        self.sent: list[bytes] = []
        self.process = process
        self.connection = connection
        self._thread = Thread(target=self._take, daemon=True)

    def listen(self) -> None:
        """Begin to take what it sends."""
        self._thread.start()

    def end(self) -> str:
        """Wait until it is gone, and say how it went; "" if all is well."""
        if self._thread.ident is not None:
            self._thread.join()
        self.process.join()
        self.connection.close()
        code = self.process.exitcode or 0
        if code < 0:
            return f"its process was ended by {signal.Signals(-code).name}"
        return f"its process ended with status {code}" if code else ""

    def _take(self) -> None:
        try:
            while True:
                self.sent.append(self.connection.recv_bytes())
        except (EOFError, OSError):
            return


class _Work(ExitStack, Generic[Item, Result]):
    """Items that several processes work on. Whatever happens, no process is left behind."""

    def __init__(self, work: Callable[[Item], Result], items: Sequence[Item]) -> None:
        super().__init__()
        self._work = work
        self._items = items
        self._step = -(-len(items) // _MOST_TICKETS)  # items for a ticket
        self._tickets, tickets = os.pipe()
        self.callback(os.close, self._tickets)
        for number in range(0, len(items), self._step):
            os.write(tickets, number.to_bytes(_TICKET, "little"))
        os.close(tickets)

    def results(
        self, jobs: int, lost: Callable[[Item, str], Result], begins: Callable[[Item], None]
    ) -> Iterator[Result]:
        """One for each item, in their order."""
        helpers: list[_Helper] = []
        for _ in range(jobs - 1):
            helpers.append(self._helper([it.connection for it in helpers]))
        for helper in helpers:
            helper.listen()
        done: dict[int, Result | _Raised] = {}
        for number in self._numbers():
            begins(self._items[number])
            done[number] = self._one(number)
        ends = [helper.end() for helper in helpers]
        for helper in helpers:
            done.update(map(pickle.loads, helper.sent))
        how = next(filter(None, ends), "its process ended")
        for number, item in enumerate(self._items):
            result = done.pop(number) if number in done else lost(item, how)
            if isinstance(result, _Raised):
                raise result.error
            yield result

    def _helper(self, others: Iterable[Connection]) -> _Helper:
        context = multiprocessing.get_context("fork")
        ours, theirs = context.Pipe(duplex=False)
        foreign = [ours, *others]
        process = context.Process(target=self._help, args=(theirs, foreign), daemon=True)
        process.start()
        theirs.close()
        helper = _Helper(ours, process)
        self.callback(helper.end)
        self.callback(process.kill)
        return helper

    def _help(self, connection: Connection, foreign: Iterable[Connection]) -> None:
        """What another process does. `foreign`: ends that it has only because it is a fork; while
        somebody holds them, the others wouldn't see that nobody listens any more."""
        for it in foreign:
            it.close()
        for ends in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(ends) is not signal.SIG_IGN:
                signal.signal(ends, signal.SIG_DFL)
        for number in self._numbers():
            answer = pickle.dumps((number, self._one(number)), pickle.HIGHEST_PROTOCOL)
            try:
                connection.send_bytes(answer)
            except OSError:
                return

    def _numbers(self) -> Iterator[int]:
        """Those of items that nobody else works on."""
        while ticket := os.read(self._tickets, _TICKET):
            first = int.from_bytes(ticket, "little")
            yield from range(first, min(first + self._step, len(self._items)))

    def _one(self, number: int) -> Result | _Raised:
        try:
            return self._work(self._items[number])
        except Exception as error:  # noqa: BLE001 - raised where results are taken
            return _Raised(error)
