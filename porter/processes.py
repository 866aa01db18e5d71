"""The same work on many things, in as many processes as there are cores.

Processes are forked when everything that the work looks at is known, so that nothing is handed to
them but numbers, and what they hand back is small. Connections are pairs of sockets: nothing here
needs /dev/shm, which a container may not have.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


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
    the middle of it, and is told how; `begins` is told what is worked on."""
    jobs = min(jobs, len(items))
    if jobs < 2 or "fork" not in multiprocessing.get_all_start_methods():
        return list(_alone(work, items, begins))
    with _kept(), _Crew(work, items) as crew:
        return list(crew.results(jobs, lost, begins))


def _alone(
    work: Callable[[Item], Result], items: Iterable[Item], begins: Callable[[Item], None]
) -> Iterator[Result]:
    for item in items:
        begins(item)
        yield work(item)


@contextmanager
def _kept() -> Iterator[None]:
    """While this lasts, nobody collects garbage among what there is now: processes share the memory
    of what they don't touch."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


class _Worker:
    """A process, this end of its connection, and the item that it has."""

    def __init__(self, connection: Connection, process: multiprocessing.process.BaseProcess):
        self.connection = connection
        self.process = process
        self.item = -1

    def give(self, number: int) -> None:
        """An item to work on. One that is dead by now is found out when it should answer."""
        self.item = number
        try:
            self.connection.send(number)
        except OSError:
            pass

    def end(self) -> str:
        """Wait until it is gone, and say how it went."""
        self.connection.close()
        self.process.join()
        code = self.process.exitcode or 0
        if code >= 0:
            return f"its process ended with status {code}"
        return f"its process was ended by {signal.Signals(-code).name}"


class _Crew(Generic[Item, Result]):
    """The processes that work on items. Whatever happens, none of them is left behind."""

    def __init__(self, work: Callable[[Item], Result], items: Sequence[Item]) -> None:
        self._work = work
        self._items = items
        self._workers: list[_Worker] = []

    def __enter__(self) -> _Crew[Item, Result]:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.process.kill()
        for worker in self._workers:
            worker.end()

    def results(
        self, jobs: int, lost: Callable[[Item, str], Result], begins: Callable[[Item], None]
    ) -> Iterator[Result]:
        """One for each item, in their order."""
        todo = iter(range(len(self._items)))
        done: dict[int, tuple[Result | None, Exception | None]] = {}

        def next_for(worker: _Worker | None) -> None:
            number = next(todo, None)
            if number is not None:
                begins(self._items[number])
                (worker or self._new()).give(number)
            elif worker is not None:
                worker.item = -1

        for _ in range(jobs):
            next_for(None)
        while busy := {it.connection: it for it in self._workers if it.item >= 0}:
            for connection in wait(list(busy)):
                worker = busy[connection]  # type: ignore[index]
                item = worker.item
                try:
                    done[item] = worker.connection.recv()
                except (EOFError, OSError):
                    self._workers.remove(worker)
                    done[item] = lost(self._items[item], worker.end()), None
                    next_for(None)
                else:
                    next_for(worker)
        for number in range(len(self._items)):
            result, error = done.pop(number)
            if error is not None:
                raise error
            yield result  # type: ignore[misc]

    def _new(self) -> _Worker:
        context = multiprocessing.get_context("fork")
        ours, theirs = context.Pipe()
        foreign = [ours, *(it.connection for it in self._workers)]
        process = context.Process(target=self._serve, args=(theirs, foreign), daemon=True)
        process.start()
        theirs.close()
        self._workers.append(_Worker(ours, process))
        return self._workers[-1]

    def _serve(self, connection: Connection, foreign: Iterable[Connection]) -> None:
        """What a process does, until nobody is at the other end. `foreign`: ends that it has only
        because it is a fork; while somebody holds them, the others wouldn't see that."""
        for it in foreign:
            it.close()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        try:
            while True:
                connection.send(self._one(connection.recv()))
        except (EOFError, OSError):
            return

    def _one(self, number: int) -> tuple[Result | None, Exception | None]:
        try:
            return self._work(self._items[number]), None
        except Exception as error:
            return None, error
