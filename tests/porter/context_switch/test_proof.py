"""Every transcription does what its original does, from thousands of random states."""

from __future__ import annotations

import re
import tempfile
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
import unicorn

from porter.context_switch.assemble import assemble
from porter.context_switch.decode import decode
from tests.porter.context_switch.proof import EXC_RETURNS, Image, Outcome, Run, State, link
from tests.porter.context_switch.trees import Tree, fixture, freertos

STATES = 1000
HANDLERS = Path(__file__).parent / "handlers"
GUEST = {
    "fvm_state": False,
    "virt_unmask_pending": True,
    "virt_yield_set": True,
    "virt_yield_short_frames": True,
    "virt_yield_task": True,
    "virt_vct_trig": True,
}


@dataclass(frozen=True)
class Case:
    """A handler, the variables its original reads and the functions it calls (with how many
    arguments)."""

    file: str
    symbol: str
    variables: tuple[str, ...]
    functions: tuple[tuple[str, int], ...] = ()
    pick: str = ""
    registered: bool = False  # the running task's variable and what chooses, instead of a pick
    short: bool = False  # no EXC_RETURN in the frame

    def __str__(self) -> str:
        return f"{self.file}:{self.symbol}"


CASES = (
    Case(
        "FreeRTOS",
        "PendSV_Handler",
        ("pxCurrentTCB",),
        (("vTaskSwitchContext", 0),),
        registered=True,
    ),
    Case("FreeRTOS", "SVC_Handler", ("pxCurrentTCB",)),
    Case("flagged.c", "PendSV_Handler", ("from_stack", "to_stack", "switch_flag")),
    Case(
        "first_by_psp.c",
        "PendSV_Handler",
        ("current_task", "ready_task", "current_priority", "ready_priority"),
        (("switch_hook", 0),),
    ),
    Case("compare_tasks.c", "PendSV_Handler", ("current_task", "next_task")),
    Case("scheduler_says.c", "PendSV_Handler", ("active_thread",), (("schedule", 0),)),
    Case("high_registers.c", "PendSV_Handler", ("current_task",), (("choose_task", 0),)),
    Case(
        "running_task.c",
        "PendSV_Handler",
        ("running",),
        (("schedule", 0),),
        registered=True,
    ),
    Case(
        "short_frame.c",
        "PendSV_Handler",
        ("running",),
        (("schedule", 0),),
        registered=True,
        short=True,
    ),
    Case(
        "second_word.c",
        "PendSV_Handler",
        ("running",),
        (("schedule", 0),),
        "PendSV_Handler_pick",
    ),
    Case("mask_in_frame.c", "PendSV_Handler", ("tasks",)),
    Case(
        "stack_in_stack_out.c",
        "PendSV_Handler",
        (),
        (("next_stack", 2),),
        "PendSV_Handler_pick",
    ),
)


@dataclass(frozen=True)
class Pair:
    """Original and port of one case, ready to run."""

    case: Case
    tree: Tree
    images: tuple[Image, Image]
    runs: tuple[Run, Run]

    def outcomes(self, state: State) -> tuple[Outcome, Outcome] | None:
        """Both runs, None if the state makes both access memory that isn't there."""
        found: list[Outcome | None] = []
        for run, kind in zip(self.runs, (Run.original, Run.ported), strict=True):
            try:
                found.append(kind(run, self.case.symbol, state))
            except unicorn.UcError as error:
                assert error.errno in (
                    unicorn.UC_ERR_READ_UNMAPPED,
                    unicorn.UC_ERR_WRITE_UNMAPPED,
                )
                found.append(None)
        original, ported = found
        assert (original is None) == (ported is None)
        return (original, ported) if original is not None and ported is not None else None

    def state(self, seed: int) -> State:
        """A state; only first-task handlers may be entered with a mask set."""
        return State(seed, list(self.case.variables), masked=self.case.symbol == "SVC_Handler")


def make_tree(case: Case, folder: Path) -> Tree:
    """The project a case belongs to, as its author wrote it."""
    if case.file == "FreeRTOS":
        return freertos(folder)
    return fixture(folder, (HANDLERS / case.file).read_text())


@cache
def ported_text(case: Case) -> str:
    """The file after porting, made once for all tests that change it."""
    with tempfile.TemporaryDirectory() as folder:
        tree = make_tree(case, Path(folder, "project"))
        ports = tree.port()
        assert {port.status for port in ports} == {"rewritten"}, ports
        tree.apply(ports)
        return tree.files[0].read_text()


def make_pair(case: Case, folder: Path, change: Callable[[str], str] = lambda text: text) -> Pair:
    """Port, change the result, compile and link."""
    trees = [make_tree(case, folder / name) for name in ("original", "ported")]
    trees[1].files[0].write_text(change(ported_text(case)))
    functions = dict(case.functions)
    names = {**GUEST, "pcTaskGetName": True}
    names |= dict.fromkeys(functions, True) | dict.fromkeys(case.variables, False)
    images = []
    for tree in trees:
        command = [tree.options.compiler, *tree.options.cpu_flags, "-fkeep-static-functions"]
        command += [f"-I{include}" for include in tree.options.include_dirs]
        images.append(link(tree.files[0], command, tree.root / "image", names))
    original, ported = (Run(image, functions, list(case.variables)) for image in images)
    return Pair(case, trees[0], (images[0], images[1]), (original, ported))


@pytest.fixture(scope="module", params=CASES, ids=str)
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    """Each case once a module."""
    case: Case = request.param
    return make_pair(case, tmp_path_factory.mktemp("proof"))


def test_same_registers_memory_masks_and_calls(pair: Pair) -> None:
    steps: set[tuple[int, int]] = set()
    skipped = 0
    for seed in range(STATES):
        outcomes = pair.outcomes(pair.state(seed))
        if outcomes is None:
            skipped += 1
            continue
        original, ported = outcomes
        steps |= original.steps
        assert ported.context == original.context, f"state {seed}"
        assert ported.calls == original.calls, f"state {seed}"
        assert ported.memory == original.memory, f"state {seed}"
        assert ported.masks == original.masks, f"state {seed}"
    assert skipped < STATES / 2
    check_coverage(pair, steps)


def check_coverage(pair: Pair, steps: set[tuple[int, int]]) -> None:
    """Every instruction of the original ran, and every condition went both ways."""
    assembly = assemble(pair.tree.files[0], pair.tree.options)
    (function,) = [f for f in assembly.object.functions if f.name == pair.case.symbol]
    base = (pair.images[0].symbols[pair.case.symbol] & ~1) - function.start
    followers = defaultdict(set)
    for here, after in steps:
        followers[here - base].add(after)
    instructions = decode(assembly.object, function, assembly.text)
    ran = {after - base for _, after in steps}
    for instruction in instructions:
        if instruction.name == "nop":
            continue
        assert instruction.address in ran, f"'{instruction.text}' never ran"
        if instruction.name in ("it", "cbz", "cbnz") or (
            instruction.name == "b" and instruction.condition
        ):
            assert len(followers[instruction.address]) > 1, f"'{instruction.text}' goes one way"


def with_library(text: str) -> str:
    """With a pick that does what the guest library does with the registered variable."""
    found = re.search(r"virt_yield_task\( ?\(.*?\) ?&(\w+), (\w+), ", text)
    assert found is not None
    return text + (
        "\nuint32_t *library_pick(uint32_t *sp);\nuint32_t *library_pick(uint32_t *sp)\n{\n"
        f"    uint32_t **volatile *task = (uint32_t **volatile *)&{found[1]};\n"
        f"    **task = sp;\n    {found[2]}();\n    return **task;\n}}\n"
    )


@pytest.mark.parametrize("case", [case for case in CASES if case.pick or case.registered], ids=str)
def test_pick_is_the_middle_of_the_handler(case: Case, tmp_path: Path) -> None:
    """A yield that has pushed the frame itself and calls the pick ends up where PendSV would."""
    pair = make_pair(case, tmp_path, with_library if case.registered else lambda text: text)
    for seed in range(STATES // 2):
        state = pair.state(seed)
        outcomes = pair.outcomes(state)
        if outcomes is None:
            continue
        original, _ = outcomes
        words = list(state.core)
        if not case.short:
            words.append(state.exc_return)
            words += state.fpu if state.exc_return == EXC_RETURNS[1] else []
        frame = b"".join(word.to_bytes(4, "little") for word in words)
        name = case.pick or "library_pick"
        picked = pair.runs[1].pick(name, state, frame, state.psp - len(frame))
        resumed = 32 if case.short else 36 + (0 if original.context[8] & 0x10 else 64)
        assert picked.result + resumed == original.context[9]
        assert picked.memory == original.memory
        assert picked.calls == original.calls


WRONG = (
    ("USR_VSTMDB( sp );", ""),
    ("USR_STMDB( sp, R4, LR );", "USR_STMDB( sp, R4, R11 ); *--sp = USR_REG->Reg.LR;"),
    ("USR_STMDB( sp, R4, LR );", "sp -= 9; sp[ 8 ] = USR_REG->Reg.LR;"),
    ("*r2 = ( uint32_t ) sp;", ""),
    ("vTaskSwitchContext();", ""),
    ("USR_LDMIA( sp, R4, LR );", "sp[ 0 ] ^= 4; USR_LDMIA( sp, R4, LR );"),
    ("USR_LDMIA( sp, R4, LR );", "USR_LDMIA( sp, R4, R11 ); sp++;"),
    ("USR_VLDMIA( sp );", "sp += 16;"),
    ("USR_REG->Reg.SP = ( uint32_t ) sp;", "USR_REG->Reg.SP = ( uint32_t ) ( sp + 1 );"),
    ("0x10", "0x20"),
)


@pytest.mark.parametrize("right, mistake", WRONG)
def test_a_wrong_transcription_is_caught(right: str, mistake: str, tmp_path: Path) -> None:
    def change(text: str) -> str:
        before, mark, handler = text.rpartition("void xPortPendSVHandler( void )\n{")
        assert right in handler
        return before + mark + handler.replace(right, mistake, 1)

    wrong = make_pair(CASES[0], tmp_path, change)
    for seed in range(200):
        try:
            outcomes = wrong.outcomes(wrong.state(seed))
        except AssertionError:
            return
        if outcomes is None:
            continue
        original, ported = outcomes
        same = ported.context == original.context and ported.memory == original.memory
        if not same or ported.calls != original.calls:
            return
    pytest.fail("no state shows the difference")
