"""What would break off the call that asks for it is refused; what came for a process while it was
stopped is not what it finds after its restart."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.built import Built, once, with_other_kernel
from tests.support.counted import Transcript, run
from tests.support.halted import Halted
from tests.support.variables import Variables

OK, MORE, E_CALL, E_ARGUMENT = 0, 1, -1, -3
ICSR, PENDSTSET = 0xE000ED04, 1 << 26
CAP_SIGNAL, RIGHT_WAIT = 1, 1
CONSOLES = {"asker": 1, "late": 2, "below": 3}


@pytest.fixture(scope="module")
def transcript(system: Callable[[str], Built]) -> Transcript:
    return run(system("inside").elf, CONSOLES, 500)


def test_a_domain_is_not_restarted_by_a_call_of_its_own(transcript: Transcript) -> None:
    said = transcript.lines("asker")
    assert said[:3] == ["boot=1", f"restart={OK}", f"result={E_ARGUMENT}"]
    assert not any(line == "boot=2" for line in said)
    assert transcript.stats("asker")[-1].restarts == 0


def test_a_process_is_not_restarted_at_a_priority_below_its_own(transcript: Transcript) -> None:
    """Its threads would run in the middle of the restart, and find calls refused for it."""
    assert transcript.values("below") == {"restart": OK, "result": E_ARGUMENT}
    assert transcript.stats("asker")[-1].restarts == 0


def test_a_kernel_that_asks_for_no_priority_restarts_it(
    system: Callable[[str], Built], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Control: `main` runs before the restart is over, which then starts what `main` stopped."""
    changed = once(
        tmp_path_factory,
        "inside at any priority",
        lambda room: with_other_kernel(
            system("inside"),
            room,
            "kernel/syscall.c",
            ("caller->priority <= cap->limit ||", ""),
        ),
    )
    transcript = run(changed.elf, CONSOLES, 500)
    assert transcript.values("below")["result"] == OK
    assert transcript.lines("asker").count("boot=2") == 1
    assert transcript.stats("asker")[-1].restarts == 1


def test_a_thread_is_not_stopped_from_inside_of_its_own_call(transcript: Transcript) -> None:
    said = transcript.lines("asker")
    assert said[3:5] == [f"stop_me={OK}", f"result={E_CALL}"]
    assert said[5] == f"stop_other={OK}", "another thread is"
    assert said[6] in (f"result={OK}", f"result={MORE}")
    assert said[7].startswith("alive=")


def test_what_was_sent_before_a_start_is_dropped(transcript: Transcript) -> None:
    (fault,) = transcript.faults
    assert fault.domain == "late"
    said = transcript.values("late")
    assert said["timer"] <= 2 and said["events"] <= 2, "of 100 while it was stopped"
    assert 35 <= said["later"] <= 45, "none is lost afterwards"


@pytest.mark.campaign
def test_what_is_sent_while_it_is_made_ready_is_dropped(system: Callable[[str], Built]) -> None:
    """A tick comes between the steps of the restart, with all but its threads' start to do."""
    built = system("inside")
    sent: list[int] = []
    left: list[int] = []

    def inspect(halted: Halted) -> None:
        with halted:
            kernel = Variables(built.folder / "kernel" / "kernel.elf", halted.memory.memory)
            names = [bytes(it["name"]).rstrip(b"\0").decode() for it in kernel["fvm_domain"]]
            main = built.symbol("late", "main")
            halted.run_to(main)
            name = ""
            while name != "late":
                halted.run_to(built.symbol("kernel", "domain_prepare_thread"))
                place = halted.register(0) - kernel.address("thread_table")
                thread = kernel["thread_table"][place // kernel.element("thread_table")]
                name = names[thread["domain_index"]]
            domain = kernel["fvm_domain"][thread["domain_index"]]
            size = 4 * domain["capability_count"]
            words = halted.memory.memory(domain["capability"], size)
            own = {
                words[at + 2]
                for at in range(0, size, 4)
                if words[at] == CAP_SIGNAL and words[at + 1] & RIGHT_WAIT
            }
            halted.memory.write(ICSR, PENDSTSET)
            halted.run_to(built.symbol("kernel", "start_step"))
            sent.extend(kernel["signal_table"][at]["count"] for at in own)
            halted.run_to(main)
            left.extend(kernel["signal_table"][at]["count"] for at in own)

    with tempfile.TemporaryDirectory(prefix="fvm-") as folder:
        halted = Halted(Path(folder), from_reset=True)
        run(
            built.elf, CONSOLES, 0,
            options=halted.options, patience=0, inspect=lambda: inspect(halted),
        )  # fmt: skip
    assert any(sent)
    assert not any(kept for kept, came in zip(left, sent, strict=True) if came)
