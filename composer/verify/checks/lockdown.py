"""Is every VM's configuration frozen before its own code runs?"""

from __future__ import annotations

from collections.abc import Iterator

from composer.verify.code.decode import Decoder
from composer.verify.code.startup import SystemCall, follow_startup
from composer.verify.code.step import Stepper
from composer.verify.subject import Subject

# Numbers of fvm/hypercall.h.
ROUTE, EVENT, SENDER, LOCK, SEND = 16, 17, 18, 19, 8
_USR_ENTRY = 16  # offset in the header: entry of thread 1


def check_lockdown(subject: Subject) -> Iterator[str]:
    """USR registers exactly the described lines and events, then calls hyp_vct_lck."""
    expected = subject.expected
    decoder = Decoder(subject.memory)
    for index in range(expected.first_vm, len(expected.domains)):
        name, row = expected.names[index], subject.tables.domains[index]
        entry = subject.memory.word(row.flash_base + _USR_ENTRY) or 0
        stepper = Stepper(subject.memory, range(row.ram_base, row.ram_end))
        code = range(row.flash_base, row.flash_end)
        startup = follow_startup(stepper, decoder, code, entry & ~1, LOCK)
        yield from (f"'{name}': before hyp_vct_lck it {problem}" for problem in startup.problems)
        if not startup.reached:
            yield f"'{name}': hyp_vct_lck isn't reached"
            continue
        made = {_key(call) for call in startup.calls}
        wanted = _registrations(subject, index)
        for call in sorted(wanted - made):
            yield f"'{name}': {_text(call)} isn't registered before hyp_vct_lck"
        for call in sorted(made - wanted - {(LOCK, 0, 0), (SEND, 0, 0)}):
            yield f"'{name}': {_text(call)} is called before hyp_vct_lck, the description has none"


_UNKNOWN = 0xFFFFFFFF


def _key(call: SystemCall) -> tuple[int, int, int]:
    """The call as three numbers; arguments that a call doesn't have count as 0."""
    number, first, second = (
        value if isinstance(value, int) else _UNKNOWN
        for value in (call.number, call.first, call.second)
    )
    if number in (ROUTE, EVENT):
        return number, first, second
    return number, first if number == SENDER else 0, 0


def _text(call: tuple[int, int, int]) -> str:
    number, first, second = call
    return {
        ROUTE: f"line {first} as vector {second}",
        EVENT: f"event {first} as vector {second}",
        SENDER: f"sending event {first}",
    }.get(number, f"system call {number}")


def _registrations(subject: Subject, index: int) -> set[tuple[int, int, int]]:
    expected, found = subject.expected, set()
    vcpu = index - expected.first_vm
    for line, route in expected.routes().items():
        if route.kind & 0x7F == 1 and route.target == vcpu:
            found.add((ROUTE, line, route.virt_id))
    for number, (event, entry) in enumerate(
        zip(expected.all_events, expected.events(), strict=True)
    ):
        if event.receiver == index:
            found.add((EVENT, number, entry.route.virt_id))
        if event.sender == index:
            found.add((SENDER, number, 0))
    return found
