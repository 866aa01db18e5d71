"""No transcription is accepted unless both oracles find it equal to its original."""

from __future__ import annotations

import itertools
import time
from pathlib import Path

import pytest

from porter.context_switch.accept import with_runtime
from porter.context_switch.assemble import compile_object
from porter.context_switch.proof import Model, NotProved, prove
from porter.context_switch.proof.compare import compare
from porter.context_switch.proof.equivalence import equivalent
from porter.context_switch.proof.link import link_pair
from porter.context_switch.proof.prove import prove_linked
from porter.context_switch.proved import port_object
from porter.project.compile_options import CompileOptions
from tests.porter.context_switch.campaign import STATES, ArmSubject, arm, campaign
from tests.porter.context_switch.cases import HANDLERS, tree_of
from tests.porter.context_switch.mutants import Mutant
from tests.porter.context_switch.trees import M4F, fixture

M0 = ("-mcpu=cortex-m0", "-mthumb", "-mfloat-abi=soft")
COMMAND = ("arm-none-eabi-gcc", *M4F)
SAVE = "mrs r0, psp\\n stmdb r0!, {r4-r11}\\n ldr r1, =task\\n ldr r2, [r1]\\n str r0, [r2]\\n"
LOAD = "ldr r2, [r1]\\n ldr r0, [r2]\\n ldmia r0!, {r4-r11}\\n msr psp, r0\\n bx lr\\n .ltorg"
NAKED = """
#include <stdint.h>
extern uint32_t *task;
__attribute__((naked)) void PendSV_Handler(void) {{ __asm volatile("{text}"); }}
"""
C = """
#include <fvm/guest.h>
extern uint32_t *task;
void PendSV_Handler(void);
void PendSV_Handler(void)
{{
    uint32_t *sp = (uint32_t *)USR_REG->Reg.SP;
    USR_STMDB(sp, R4, R11);
    *task = (uint32_t)sp;
    {middle}
    sp = (uint32_t *)*task;
    USR_LDMIA(sp, R4, R11);
    USR_REG->Reg.SP = (uint32_t)sp;
}}
"""
SWITCH = Model("switch")


def objects(
    folder: Path, text: str, ported: str, cpu: tuple[str, ...] = M4F
) -> tuple[bytes, bytes]:
    """An original and a C handler that somebody wrote for it."""
    tree = fixture(folder, text, cpu)
    options = with_runtime(tree.options)
    source = tree.files[0]
    return compile_object(source, options), port_object(
        source, {source.name: ported.encode()}, options
    )


def middle(folder: Path, original: str, ported: str) -> tuple[bytes, bytes]:
    return objects(folder, NAKED.format(text=SAVE + original + LOAD), C.format(middle=ported))


@pytest.mark.parametrize("file", sorted({handler.file for handler in HANDLERS}))
def test_every_handler_is_proved(file: str, tmp_path: Path) -> None:
    ports = {port.name: port for port in tree_of(file, tmp_path).port() if port.proof is not None}
    for handler in (handler for handler in HANDLERS if handler.file == file):
        port = ports[handler.name]
        proof = port.proof
        assert port.status == "rewritten" and proof is not None
        assert proof.runs.states > 1000 and proof.paths > 0
        assert proof.runs.instructions >= 5
        assert (proof.yields > 500) == handler.yields
        assert f"{proof.runs.states} states" in port.reason and "z3" in port.reason


def test_a_slow_machine_proves_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = middle(tmp_path, CLEARS, "virt_vct_clear(FVM_VIRT_SWITCH);")
    fast = prove(*pair, "PendSV_Handler", SWITCH, COMMAND, STATES)
    hours = itertools.count(0, 3600)
    for clock in ("process_time", "thread_time", "monotonic", "perf_counter", "time"):
        monkeypatch.setattr(time, clock, lambda: next(hours))
    prove_linked.cache_clear()
    slow = prove.__wrapped__(*pair, "PendSV_Handler", SWITCH, COMMAND, STATES)
    assert str(slow) == str(fast) and slow.seconds > fast.seconds


@pytest.mark.parametrize(
    ("endless", "reason"),
    [
        (
            "for (fvm_word i = 0; USR_REG->Reg.R4 != i; i++) { *task = i; }",
            "port has more than 256 paths",
        ),
        ("for (;; sp++) { sp[2]++; }", "port has too many instructions"),
    ],
)
def test_what_never_ends_is_no_proof(endless: str, reason: str, tmp_path: Path) -> None:
    images = link_pair(*middle(tmp_path, "", endless), ("PendSV_Handler",) * 2, (), COMMAND)
    with pytest.raises(NotProved, match=reason):
        equivalent(*images, SWITCH)


def test_frames_are_copied_by_whole_load_and_store_multiples(tmp_path: Path) -> None:
    """Instructions of a switch, in the mean of frames with and without FPU state."""
    ports = tree_of("FreeRTOS", tmp_path).port()
    (proof,) = [port.proof for port in ports if port.role == "switch" and port.proof is not None]
    assert proof.steps < 36


def test_what_random_states_never_show_is_refuted_for_all_states(tmp_path: Path) -> None:
    rare = "if (USR_REG->Reg.R4 == 0x12345678u) { sp[20] = 1; }"
    original, ported = middle(tmp_path, "", rare)
    images = link_pair(original, ported, ("PendSV_Handler",) * 2, (), COMMAND)
    assert compare(*images, SWITCH)[0].states > 1000
    with pytest.raises(NotProved, match=r"differs \(z3\).*r4 = 0x12345678"):
        equivalent(*images, SWITCH)


@pytest.mark.parametrize(
    ("original", "ported"),
    [
        ("mvn lr, #6\\n", "USR_REG->Reg.LR = 0xFFFFFFF9u;"),
        ("bic lr, lr, #4\\n", "USR_REG->Reg.LR &= ~4u;"),
        ("ldr lr, [r0, #-4]\\n eor lr, lr, #0xC\\n", "USR_REG->Reg.LR = sp[-1] ^ 0xCu;"),
        ("cmp r4, #0\\n it eq\\n mvneq lr, #0xE\\n",
         "if (USR_REG->Reg.R4 == 0) { USR_REG->Reg.LR = 0xFFFFFFF1u; }"),
    ],
)  # fmt: skip
def test_a_return_to_the_main_stack_is_no_guests(
    original: str, ported: str, tmp_path: Path
) -> None:
    """The kernel takes the bit of the frame from EXC_RETURN and forces the others."""
    images = link_pair(*middle(tmp_path, original, ported), ("PendSV_Handler",) * 2, (), COMMAND)
    with pytest.raises(NotProved, match=r"ends with EXC_RETURN 0xffffff[ef][0-9a-f], .* on PSP"):
        compare(*images, SWITCH)
    with pytest.raises(NotProved, match="the mode or the stack"):
        equivalent(*images, SWITCH)


@pytest.mark.parametrize(
    ("original", "ported"),
    [
        ("ldrsb lr, [r0, #-4]\\n", "USR_REG->Reg.LR = (fvm_word)((signed char *)sp)[-4];"),
        ("ldrb lr, [r0, #-2]\\n orn lr, lr, #0xFF\\n",
         "USR_REG->Reg.LR = ((unsigned char *)sp)[-2] | ~0xFFu;"),
    ],
)  # fmt: skip
def test_the_low_byte_that_a_task_keeps_is_an_exc_return(
    original: str, ported: str, tmp_path: Path
) -> None:
    one, other = middle(tmp_path, original, ported)
    assert prove(one, other, "PendSV_Handler", SWITCH, COMMAND).paths == 1


def test_bit_0_of_an_exc_return_is_nobodys(tmp_path: Path) -> None:
    original, ported = "movs r3, #4\\n rsbs r3, r3, #0\\n mov lr, r3\\n", "USR_REG->Reg.LR = ~3u;"
    one, other = middle(tmp_path, original, ported)
    assert prove(one, other, "PendSV_Handler", SWITCH, COMMAND).paths == 1


def test_the_bit_of_the_frame_may_be_changed(tmp_path: Path) -> None:
    one, other = middle(tmp_path, "orr lr, lr, #0x10\\n", "USR_REG->Reg.LR |= 0x10u;")
    assert prove(one, other, "PendSV_Handler", SWITCH, COMMAND).paths == 1


@pytest.mark.parametrize("ported", ["*task = 0;", "USR_REG->Reg.R11++; sp[8]++;"])
def test_a_mistake_comes_with_its_counterexample(ported: str, tmp_path: Path) -> None:
    original, wrong = middle(tmp_path, "", ported)
    with pytest.raises(NotProved, match=r"from r4-r11 = .* PSP = .* EXC_RETURN = "):
        prove(original, wrong, "PendSV_Handler", SWITCH, COMMAND)


CLEARS = "ldr r3, =0xE000ED04\\n mov r12, #0x08000000\\n str r12, [r3]\\n"


def test_a_request_that_is_withdrawn_is_withdrawn_in_the_port(tmp_path: Path) -> None:
    names = ("PendSV_Handler", SWITCH, COMMAND)
    prove(*middle(tmp_path, CLEARS, "virt_vct_clear(FVM_VIRT_SWITCH);"), *names)
    for wrong in ("", "virt_vct_trig(FVM_VIRT_SWITCH);", "virt_vct_clear(FVM_VIRT_TICK);"):
        with pytest.raises(NotProved):
            prove(*middle(tmp_path, CLEARS, wrong), *names)


def test_what_is_rare_gets_more_states(tmp_path: Path) -> None:
    """However many states a machine has time for, it isn't chance what has run."""
    rare = "cmp r4, r5\\n it eq\\n streq r1, [r2, #4]\\n"
    ported = "if (USR_REG->Reg.R4 == USR_REG->Reg.R5) { task[1] = (uint32_t)&task; }"
    one, other = middle(tmp_path, rare, ported)
    names = ("PendSV_Handler", "PendSV_Handler")
    images = link_pair(one, other, names, (), COMMAND)
    runs, _ = compare(*images, SWITCH, 400, 50)
    assert runs.states > 400


@pytest.mark.parametrize(
    ("original", "ported", "gap"),
    [
        ("movs r3, #1\\n cmp r3, #1\\n beq 1f\\n str r3, [r2]\\n 1:\\n", "", "one way"),
        (
            "mul r3, r4, r4\\n cmp r3, #2\\n it eq\\n moveq r12, #1\\n",
            "",
            "no state reaches 'mov.*' at|always goes one way",
        ),
        ("sdiv r3, r4, r5\\n", "", "doesn't know the instruction 'sdiv"),
        (
            "ldr r3, =0xE000ED88\\n ldr r3, [r3]\\n str r3, [r2, #4]\\n",
            "task[1] = 0;",
            "differ|is 0x",
        ),
    ],
)
def test_what_was_not_looked_at_is_no_proof(
    original: str, ported: str, gap: str, tmp_path: Path
) -> None:
    one, other = middle(tmp_path, original, ported)
    with pytest.raises(NotProved, match=gap):
        prove(one, other, "PendSV_Handler", SWITCH, COMMAND)


def test_calls_are_compared_in_order_with_the_memory_they_see(tmp_path: Path) -> None:
    early = "void hook(void);\n#define task_is_seen"
    original, ported = objects(
        tmp_path,
        NAKED.format(text="push {r1, lr}\\n bl hook\\n pop {r1, lr}\\n " + SAVE + LOAD),
        C.replace("void PendSV", early + "\nvoid PendSV", 1).format(middle="hook();"),
    )
    with pytest.raises(NotProved, match=r"hook\(\)"):
        prove(original, ported, "PendSV_Handler", SWITCH, COMMAND)


MASK = """
unsigned mask(void);
{naked}unsigned mask(void)
{{
    {body}
}}
"""


@pytest.mark.parametrize(("wrong", "caught"), [("", False), ("; virt_int_unmask(w)", True)])
def test_a_function_that_returns_the_mask_on_a_small_core(
    wrong: str, caught: bool, tmp_path: Path
) -> None:
    """The compiler makes sbcs of it there."""
    text = MASK.format(
        naked="__attribute__((naked)) ",
        body='__asm volatile("mrs r0, primask\\n cpsid i\\n bx lr");',
    )
    unmask = wrong.replace("w", "VIRT_PRIMASK")
    body = f"unsigned old = virt_int_query(VIRT_PRIMASK); virt_int_mask(VIRT_PRIMASK){unmask};"
    c = "#include <fvm/guest.h>" + MASK.format(naked="", body=f"{body} return old;")
    original, ported = objects(tmp_path, text, c, M0)
    model, command = Model("other", returns=True), ("arm-none-eabi-gcc", *M0)
    if caught:
        with pytest.raises(NotProved, match="the masks end"):
            prove(original, ported, "mask", model, command)
    else:
        assert prove(original, ported, "mask", model, command).paths > 0


@pytest.mark.parametrize(
    ("body", "caught"),
    [("virt_in_vct()", ""), ("0", "result"), ("virt_in_vct() + 1", "result"), ("2", "result")],
)
def test_whether_a_handler_calls_is_a_question(body: str, caught: str, tmp_path: Path) -> None:
    text = MASK.format(
        naked="__attribute__((naked)) ", body='__asm volatile("mrs r0, ipsr\\n bx lr");'
    )
    c = "#include <fvm/guest.h>" + MASK.format(naked="", body=f"return (unsigned)({body});")
    original, ported = objects(tmp_path, text, c)
    model = Model("other", returns=True)
    if not caught:
        assert prove(original, ported, "mask", model, COMMAND).paths > 0
        return
    images = link_pair(original, ported, ("mask", "mask"), (), COMMAND)
    for oracle in (compare, equivalent):
        with pytest.raises(NotProved, match=caught):
            oracle(*images, model)


def test_a_register_lost_by_save_and_restore_alike_is_seen(tmp_path: Path) -> None:
    """The frame fits itself, but r4 isn't in it."""
    wrong = C.replace("R4, R11", "R5, R11").format(middle="")
    original, ported = objects(tmp_path, NAKED.format(text=SAVE + LOAD), wrong)
    images = link_pair(original, ported, ("PendSV_Handler",) * 2, (), COMMAND)
    with pytest.raises(NotProved):
        compare(*images, SWITCH)
    with pytest.raises(NotProved):
        equivalent(*images, SWITCH)


@pytest.mark.campaign
@pytest.mark.parametrize("file", ["FreeRTOS", "flagged.c"])
def test_wrong_transcriptions_are_caught_or_proved_equal(file: str) -> None:
    """A sample; all of them: make mutants."""
    handler = next(handler for handler in HANDLERS if handler.file == file)
    found = campaign(arm(handler), 10, 2)
    assert "emulator" not in found, "the solver proved what the emulator refuted"
    assert sum(len(changes) for verdict, changes in found.items() if " and " in verdict) >= 3


def test_a_late_store_of_the_stack_pointer_is_caught(tmp_path: Path) -> None:
    subject = ArmSubject(HANDLERS[0], tmp_path)
    lines = subject.body.splitlines()
    store = next(line for line in lines if "= ( uint32_t ) sp;" in line and "USR_REG" not in line)
    call = next(line for line in lines if "vTaskSwitchContext();" in line)
    body = subject.body.replace(store + "\n", "").replace(call, call + "\n" + store)
    assert subject.verdict(Mutant("late", body)) == "emulator and solver"


def test_a_handler_whose_port_is_wrong_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the transcriber gets wrong: here the C loses r4 in save and restore."""

    def wrong(source: Path, edited: dict[str, bytes], options: CompileOptions) -> bytes:
        spoiled = {name: data.replace(b"R4, LR", b"R5, LR") for name, data in edited.items()}
        return port_object(source, spoiled, options)

    monkeypatch.setattr("porter.context_switch.proved.port_object", wrong)
    tree = tree_of("running_task.c", tmp_path)
    ports = {port.name: port for port in tree.port() if port.role != "other"}
    escalated = ports["PendSV_Handler"]
    assert escalated.status == "escalated" and "transcribed, but" in escalated.reason
    data = tree.files[0].read_bytes()
    assert escalated.replacement == data[escalated.start : escalated.end]
