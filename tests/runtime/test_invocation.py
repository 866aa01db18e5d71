"""Invocation: a thread runs a function of another process, and nothing else passes between them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.runtime.observed import about
from tests.support.built import Built
from tests.support.counted import Transcript, run

OK, E_CALL, E_CAPABILITY, E_BUSY, E_FAULT = 0, -1, -2, -6, -7
KERNEL_RAM = 0x20000000
CALLEE_SAVED, FPU_REGISTERS = 8, 32


@pytest.fixture(scope="module")
def transcript(system: Callable[[str], Built]) -> Transcript:
    return run(system("invocation").elf, {"client": 1}, 1500)


@pytest.fixture(scope="module")
def said(transcript: Transcript) -> dict[str, int]:
    values = transcript.values("client")
    assert values["done"] == 1
    return values


def test_a_call_brings_arguments_there_and_the_result_back(said: dict[str, int]) -> None:
    assert about(said, "plain") == {"status": OK, "sum": 321}


def test_a_port_is_closed_until_its_process_opens_it(said: dict[str, int]) -> None:
    assert about(said, "closed") == {"status": E_BUSY}
    assert said["refused.never_opened"] == E_BUSY


def test_no_register_passes_but_arguments_and_result(said: dict[str, int]) -> None:
    assert about(said, "registers") == {
        "leaked_without_fpu": 0,
        "leaked_with_fpu": 0,
        "kept_without_fpu": CALLEE_SAVED,
        "kept_with_fpu": CALLEE_SAVED + FPU_REGISTERS,
        "arguments": 1,
        "of_call": 1,
    }


def test_what_is_invoked_may_invoke(said: dict[str, int]) -> None:
    assert about(said, "nested") == {"status": OK, "sum": 5 + 6 + 7}


def test_wild_numbers_other_types_and_missing_rights_are_refused(said: dict[str, int]) -> None:
    assert said["refused.others"] == 0
    assert said["refused.wrong_type"] == E_CAPABILITY
    assert said["refused.return"] == E_CALL, "nobody invoked it"


def test_a_port_holds_one_caller(said: dict[str, int]) -> None:
    assert said["refused.busy"] == E_BUSY


def test_a_fault_inside_is_the_servers_and_its_callers_are_told(
    said: dict[str, int], transcript: Transcript
) -> None:
    assert about(said, "fault") == {
        "status": E_FAULT,
        "closed": E_BUSY,
        "again": OK,
        "starts": 2,
        "inside_meanwhile": 1,
        "nested": OK,
        "nested_result": E_FAULT,
    }
    first = transcript.faults[0]
    assert (first.domain, first.cause, first.address) == ("server", "memory", KERNEL_RAM)


def test_a_caller_that_restarts_inside_leaves_a_free_port_that_tells_of_it(
    said: dict[str, int],
) -> None:
    assert about(said, "caller_restart") == {
        "starts": 2,
        "went_on": 1,
        "broken": 1,
        "result": 1 + 2 + 3,
    }


def test_a_server_that_restarts_sends_its_callers_back(said: dict[str, int]) -> None:
    assert about(said, "server_restart") == {
        "starts": 4,
        "told": 1,
        "broken": 0,
        "result": 1 + 2 + 3,
        "other": 0,
    }


def test_one_that_restarts_in_the_middle_of_a_chain_sends_back_and_frees_both_ports(
    said: dict[str, int],
) -> None:
    assert about(said, "chain") == {"starts": 2, "told": 1, "went_on": 1, "broken": 1, "other": 0}


def test_only_those_restarted_that_faulted(transcript: Transcript) -> None:
    assert transcript.reached
    assert [f.domain for f in transcript.faults] == ["server", "server", "frail", "server", "relay"]
    restarts = {d: transcript.stats(d)[-1].restarts for d in ("server", "client", "relay", "frail")}
    assert restarts == {"server": 3, "client": 0, "relay": 1, "frail": 1}
