"""Supervisor calls that name the function they want in r12: the handler calls it, and switches."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.context_switch import proved
from porter.context_switch.proved import port_object
from porter.judging.verdict import Status
from porter.port import port_project
from porter.project.compile_options import CompileOptions
from tests.porter.helpers import escalations, port_files

HANDLER = """
    .syntax unified
    .thumb
    .text
    .global SVC_Handler
    .type SVC_Handler, %function
    .thumb_func
SVC_Handler:
    tst lr, #4
    ite eq
    mrseq r0, msp
    mrsne r0, psp
    push {r0, lr}
    ldm r0, {r0-r3, r12}
    blx r12
    pop {r12, lr}
    str r0, [r12]
    ldr r3, =tasks
    ldm r3, {r1, r2}
    cmp r1, r2
    it eq
    bxeq lr
    str r2, [r3]
    cbz r1, restore
    stmdb r12!, {r4-r11}
    str r12, [r1]
restore:
    ldr r0, [r2]
    mvn lr, #2
    ldmia r0!, {r4-r11}
    msr psp, r0
    bx lr
    .ltorg
    .size SVC_Handler, . - SVC_Handler
"""
KERNEL = """
#include <stdint.h>
struct task { uint32_t *sp; } *tasks[2];
static uint32_t count;
static uint32_t take(uint32_t much) { count += much; tasks[1] = tasks[0]; return count; }
static inline uint32_t call_take(uint32_t much)
{
    register uint32_t r0 __asm("r0") = much;
    register uint32_t f __asm("r12") = (uint32_t)take;
    __asm volatile("svc 0" : "=r"(r0) : "r"(f), "r"(r0) : "memory");
    return r0;
}
uint32_t api(uint32_t much) { return call_take(much); }
int main(void) { return (int)api(3); }
"""


def ported(folder: Path, kernel: str = KERNEL, handler: str = HANDLER, more: str = "") -> list[str]:
    """Reasons of what is escalated."""
    files = {"kernel.c": kernel.encode(), "svc.S": (handler + more).encode()}
    return escalations(port_files(folder, files))


def test_what_a_service_calls_may_name_registers(tmp_path: Path) -> None:
    twice = """__attribute__((always_inline)) static inline uint32_t twice(uint32_t much)
{
    register uint32_t r3 __asm("r3") = (uint32_t)much;
    __asm volatile("lsls %0, #1" : "+r"(r3));
    return r3;
}
"""
    kernel = KERNEL.replace("static uint32_t take", twice + "static uint32_t take").replace(
        "+= much", "+= twice(much)"
    )
    assert not ported(tmp_path, kernel)


def test_the_call_brings_its_registers_and_the_handler_calls_what_they_name(tmp_path: Path) -> None:
    files = {"kernel.c": KERNEL.encode(), "svc.S": HANDLER.encode()}
    result = port_files(tmp_path, files)
    assert not escalations(result)
    texts = {it.file.path.name: it.ported for it in result.files}
    assert b'"push {r4, lr}\\n\\tbl virt_svc_call\\n\\tpop {r4, lr}"' in texts["kernel.c"]
    made = texts["svc_fvm.c"]
    assert b"virt_service(r0, r1, r2, r3, r12)" in made
    assert b"msp" not in made.split(b"SVC_Handler(void)")[1].split(b"USR_REG")[0]
    verdicts = [it for file in result.files for it in file.verdicts if "svc" in it.site.what]
    assert all(it.status is Status.REWRITTEN for it in verdicts)


def test_a_macro_that_makes_such_functions_is_rewritten_where_it_stands(tmp_path: Path) -> None:
    head, body = KERNEL.split("static inline uint32_t call_take(uint32_t much)\n")
    inner, tail = body.split("\n}\n", 1)
    text = inner.replace("(uint32_t)take", "(uint32_t)name")
    lines = f"#define SERVICE(name) static inline uint32_t call_##name(uint32_t much)\n{text}\n}}"
    macro = " \\\n".join(lines.split("\n"))
    assert ported(tmp_path, f"{head}{macro}\nSERVICE(take)\n{tail}") == []


PUSH = "    push {r0, lr}\n"
CHECK = """    ldr r12, [r0, #16]
    sub r1, r12, #1
    lsls r2, r1, #30
    bne refused
    ldr r2, =services
    ldr r3, =services_size
    subs r2, r1, r2
    cmp r2, r3
    bhs refused
    push {r0, lr}
"""
LAZY = """    cbnz r1, save
    tst lr, #0x10
    bne restore
    ldr r3, =0xE000EF34
    ldr r0, [r3]
    bic r0, r0, #1
    str r0, [r3]
    b restore
save:
    stmdb r12!, {r4-r11}
    tst lr, #0x10
    it eq
    vstmdbeq r12!, {s16-s31}
    strb lr, [r1, #4]
"""
M4F = ("-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard")
EXTENDED = """    ldrsb lr, [r2, #4]
    tst lr, #0x10
    it eq
    vldmiaeq r0!, {s16-s31}
"""


def with_fpu(check: str) -> str:
    """The handler with FPU state, lazily stacked."""
    text = HANDLER.replace(PUSH, check)
    text = text.replace("    cbz r1, restore\n    stmdb r12!, {r4-r11}\n", LAZY)
    text = text.replace("    ldr r3, =tasks\n", "decide:\n    ldr r3, =tasks\n")
    text = text.replace("    mvn lr, #2\n", EXTENDED)
    if check == PUSH:
        return text
    return text.replace("    .ltorg\n", "refused:\n    mov r12, r0\n    b decide\n    .ltorg\n")


@pytest.mark.parametrize(
    "check",
    [
        pytest.param(PUSH, id="any function"),
        pytest.param(CHECK, id="functions in one place", marks=pytest.mark.campaign),
    ],
)
def test_with_fpu_the_handler_is_proved(check: str, tmp_path: Path) -> None:
    kernel = KERNEL.replace("{ uint32_t *sp; }", "{ uint32_t *sp; int8_t frame; }")
    (tmp_path / "kernel.c").write_text(kernel)
    (tmp_path / "svc.S").write_text(with_fpu(check))
    result = port_project(tmp_path, cpu=M4F)
    assert not escalations(result)
    (made,) = (it.ported for it in result.files if it.file.path.name == "svc_fvm.c")
    assert b"USR_VSTMDB(" in made and b"USR_VLDMIA(" in made and b"virt_service(" in made


LOST = {
    "FPU state that is saved": (b"USR_VSTMDB(sp);", b""),
    "FPU state that is loaded": (b"USR_VLDMIA(sp);", b""),
    "how the next task is resumed": (b"USR_REG->Reg.LR = (uint32_t)", b"(void)"),
    "where functions have to lie": (b"if (r2 >= (uint32_t)&services_size)", b"if (0)"),
}


@pytest.mark.campaign
@pytest.mark.parametrize("what", LOST)
def test_a_port_that_loses_something_isnt_proved(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def losing(source: Path, edited: dict[str, bytes], options: CompileOptions) -> bytes:
        spoilt = {name: text.replace(*LOST[what]) for name, text in edited.items()}
        assert spoilt != edited
        return port_object(source, spoilt, options)

    monkeypatch.setattr(proved, "port_object", losing)
    (tmp_path / "kernel.c").write_text(KERNEL.replace("*sp; }", "*sp; int8_t frame; }"))
    (tmp_path / "svc.S").write_text(with_fpu(CHECK))
    found = escalations(port_project(tmp_path, cpu=M4F))
    assert any("SVC_Handler: transcribed, but" in it for it in found), found


REFUSED = {
    "a function that is looked up": (
        "(uint32_t)take;", "(uint32_t)(much ? take : 0);", "doesn't say which function it wants"
    ),
    "a register that is set again": (
        '    __asm volatile("svc 0"', '    f++;\n    __asm volatile("svc 0"',
        "doesn't say which function it wants",
    ),
    "no function of the project": (
        "(uint32_t)take;", "(uint32_t)elsewhere;", "doesn't say which function it wants"
    ),
    "a number": ('"svc 0"', '"svc 1"', "doesn't say which function it wants"),
    "another register": ('__asm("r12")', '__asm("r7")', "doesn't say which function it wants"),
    "a call beside them": (
        "int main(void) {", 'void plain(void) { __asm volatile("svc 3"); }\nint main(void) {',
        "doesn't say which function it wants",
    ),
    "a service that waits": ("count += much;", '__asm volatile("wfi");', "wfi"),
    "a service that moves the stack of whoever calls": (
        "count += much;", '__asm volatile("msr psp, %0" :: "r"(much));', "PSP"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_isnt_known_to_be_such_a_call_stays(tmp_path: Path, case: str) -> None:
    old, new, reason = REFUSED[case]
    assert old in KERNEL
    found = ported(tmp_path, KERNEL.replace(old, new))
    assert any("SVC_Handler" in it and reason in it for it in found), "\n".join(found)


def test_assembler_that_makes_calls_of_its_own_keeps_the_handler_from_being_ported(
    tmp_path: Path,
) -> None:
    more = "    .global go\n    .type go, %function\n    .thumb_func\ngo:\n    svc 2\n    bx lr\n"
    found = ported(tmp_path, more=more)
    assert any("svc.S makes supervisor calls too" in it for it in found), found


def test_a_call_under_a_condition_isnt_proved(tmp_path: Path) -> None:
    handler = HANDLER.replace("    blx r12\n", "    cmp r0, #0\n    it ne\n    blxne r12\n")
    assert any("SVC_Handler" in it for it in ported(tmp_path, handler=handler))


def test_an_interrupts_handler_calls_nothing_by_a_register(tmp_path: Path) -> None:
    handler = HANDLER.replace("SVC_Handler", "PendSV_Handler")
    found = ported(tmp_path, handler=handler)
    assert any("PendSV_Handler" in it and "r12 points to at run time" in it for it in found), found


def test_a_handler_that_asks_more_of_the_callers_stack_is_refused(tmp_path: Path) -> None:
    """What it does for a caller on MSP would never happen."""
    handler = HANDLER.replace(
        "    mrsne r0, psp\n", "    mrsne r0, psp\n    it eq\n    moveq r1, #1\n"
    )
    handler = handler.replace(
        "    str r0, [r12]\n", "    tst lr, #4\n    it ne\n    strne r0, [r12]\n"
    )
    assert any("SVC_Handler" in it for it in ported(tmp_path, handler=handler))


EXIT = "count += much; count ^= __get_PSP();"


def test_a_service_finds_its_callers_stack_pointer(tmp_path: Path) -> None:
    kernel = KERNEL.replace("struct task", "uint32_t __get_PSP(void);\nstruct task", 1)
    files = {"kernel.c": kernel.replace("count += much;", EXIT).encode(), "svc.S": HANDLER.encode()}
    result = port_files(tmp_path, files)
    assert not escalations(result)
    texts = {it.file.path.name: it.ported for it in result.files}
    assert b"count ^= USR_REG->Reg.SP;" in texts["kernel.c"]


def test_what_others_call_too_isnt_known_to_have_a_caller(tmp_path: Path) -> None:
    kernel = KERNEL.replace("struct task", "uint32_t __get_PSP(void);\nstruct task", 1)
    kernel = kernel.replace("count += much;", EXIT).replace("(int)api(3)", "(int)take(3)")
    assert any("__get_PSP" in it for it in ported(tmp_path, kernel))


RIGHTS = "void __set_CONTROL(uint32_t);\nvoid rights(int all) { if (all) { __set_CONTROL(2); } }\n"


def with_rights(more: str) -> str:
    uses = "rights(1); go(0); " if more else "rights(1); "
    return KERNEL.replace("int main(void) { ", f"{RIGHTS}{more}int main(void) {{ {uses}")


def test_a_handlers_service_that_gives_tasks_rights_gives_a_machines_none(tmp_path: Path) -> None:
    files = {"kernel.c": with_rights("").encode(), "svc.S": HANDLER.encode()}
    result = port_files(tmp_path, files)
    assert not escalations(result)
    texts = {it.file.path.name: it.ported for it in result.files}
    assert b"__set_CONTROL(2)" not in texts["kernel.c"]


CORE = """#include <stdint.h>
static inline void __set_CONTROL(uint32_t control)
{ __asm volatile("MSR control, %0" :: "r"(control) : "memory"); }
static inline uint32_t __get_CONTROL(void)
{ uint32_t r; __asm volatile("MRS %0, control" : "=r"(r)); return r; }
"""
ASKS = "int asks(void) { return ((__get_CONTROL() & 1U) == 0U); }\n"


def with_asker(asks: str) -> dict[str, bytes]:
    """CMSIS' functions in a header, as a project has them."""
    text = with_rights("").replace(RIGHTS, RIGHTS.partition("\n")[2] + asks)
    text = '#include "core.h"\n' + text.replace("api(3)", "(api(3) + asks())")
    return {"core.h": CORE.encode(), "kernel.c": text.encode(), "svc.S": HANDLER.encode()}


def test_what_was_written_to_npriv_is_kept_for_who_asks(tmp_path: Path) -> None:
    result = port_files(tmp_path, with_asker(ASKS))
    assert not escalations(result)
    texts = {it.file.path.name: it.ported for it in result.files}
    assert b"if (all) { virt_npriv_set(2); }" in texts["kernel.c"]
    assert b"return (virt_npriv() == 0U);" in texts["kernel.c"]


def test_more_of_control_is_told(tmp_path: Path) -> None:
    more = "int stack(void) { return (__get_CONTROL() & 2U) != 0U; }\n"
    more += "unsigned all(void) { return __get_CONTROL(); }\n"
    more += "uint32_t (*const getter)(void) = __get_CONTROL;\n"
    more += "int asks(void) { return stack() + (int)all() + (int)getter(); }\n"
    told = escalations(port_files(tmp_path, with_asker(more)))
    assert ["__get_CONTROL" in it for it in told] == [True] * 3


def test_what_others_write_to_control_isnt_kept(tmp_path: Path) -> None:
    more = 'void drop(void) { __asm volatile("\\tmsr\\tcontrol, %0" :: "r"(3)); }\n'
    assert any(
        "__get_CONTROL" in it for it in escalations(port_files(tmp_path, with_asker(ASKS + more)))
    )


@pytest.mark.parametrize(
    "more",
    [
        "void __set_PSP(uint32_t);\nvoid go(uint32_t to) { __set_PSP(to); }\n",
        'void go(uint32_t to) { __asm volatile("msr psp, %0" :: "r"(to)); }\n',
    ],
)
def test_where_others_set_psp_control_may_select_it(tmp_path: Path, more: str) -> None:
    assert any("__set_CONTROL" in it for it in ported(tmp_path, with_rights(more)))


# What the handler leaves in more registers than r0, and a service that starts the first task.
HANDS_ON = """
    .syntax unified
    .thumb
    .text
    .global to_psp
    .type to_psp, %function
    .thumb_func
to_psp:
    msr psp, r0
    movs r0, #2
    msr control, r0
    isb
    bx lr
    .size to_psp, . - to_psp
    .global SVC_Handler
    .type SVC_Handler, %function
    .thumb_func
SVC_Handler:
    mrs r0, psp
    ldr r1, [r0, #24]
    ldrb r1, [r1, #-2]
    cbnz r1, others
    ldm r0, {r0-r3, r12}
    push {r4, lr}
    blx r12
    pop {r4, lr}
    mrs r12, psp
    stm r12, {r0-r2}
others:
    bx lr
    .size SVC_Handler, . - SVC_Handler
"""
STARTS = """
#include <stdint.h>
void __set_PSP(uint32_t top);
void to_psp(uint32_t *top);
struct task { uint32_t *sp; uint32_t argument; } first;
uint32_t own[64];
uint32_t go(void) { __set_PSP((uint32_t)first.sp + 32); return first.argument; }
static inline void call_go(void)
{
    __asm volatile("ldr r12, =go\\n\\tsvc 0" ::: "r0", "r1", "r2", "r3", "r12", "lr", "memory");
}
int main(void) { to_psp(own + 64); call_go(); return 0; }
"""


def ported_start(
    folder: Path, kernel: str = STARTS, handler: str = HANDS_ON
) -> tuple[dict[str, str], list[str]]:
    files = {"kernel.c": kernel.encode(), "svc.S": handler.encode()}
    result = port_files(folder, files)
    texts = {it.file.path.name: it.ported.decode() for it in result.files}
    return texts, escalations(result)


def test_a_service_sets_the_frame_that_its_caller_goes_on_with(tmp_path: Path) -> None:
    texts, reasons = ported_start(tmp_path)
    assert not reasons
    assert "USR_REG->Reg.SP = (uint32_t)((uint32_t)first.sp + 32);" in texts["kernel.c"]
    made = texts["svc_fvm.c"]
    assert made.index("virt_service_left(") < made.index("sp = (fvm_word *)USR_REG->Reg.SP;")


def test_the_handler_hands_on_what_a_service_leaves(tmp_path: Path) -> None:
    texts, _ = ported_start(tmp_path)
    assert "virt_service_left(r0, r1, r2, r3, r12, &r1, &r2, NULL)" in texts["svc_fvm.c"]


def test_what_a_call_destroys_beside_them_isnt_handed_on(tmp_path: Path) -> None:
    handler = HANDS_ON.replace("    mrs r12, psp\n", "    mrs r1, psp\n").replace(
        "    stm r12, {r0-r2}\n", "    str r12, [r1]\n"
    )
    _, reasons = ported_start(tmp_path, handler=handler)
    assert any("SVC_Handler" in it and "destroyed" in it for it in reasons), reasons


NO_START = {
    "nobody puts its caller on PSP": (
        "to_psp(own + 64); ", "", "__set_PSP", "may be on MSP"
    ),
    "others call the service": (
        "int main(void) {", "int main(void) { go();", "__set_PSP", "stack pointers belong"
    ),
    "its address is kept": (
        "int main(void) {", "uint32_t (*kept)(void) = go;\nint main(void) {", "__set_PSP",
        "stack pointers belong"
    ),
    "an asm statement goes there": (
        "int main(void) {", 'int main(void) { __asm volatile("bl go");', "__set_PSP",
        "stack pointers belong"
    ),
    "a statement sets it": (
        "__set_PSP((uint32_t)first.sp + 32)",
        '__asm volatile("msr psp, %0" :: "r"(first.sp + 8))', "msr psp", "stack pointers belong"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", NO_START)
def test_a_stack_of_whom_nobody_knows_isnt_set(tmp_path: Path, case: str) -> None:
    old, new, where, reason = NO_START[case]
    assert old in STARTS
    handler = HANDS_ON
    if not new:  # and so nothing is ported that does
        head, _, behind = handler.partition("    .global to_psp")
        handler = head + behind[behind.index("    .global SVC_Handler") :]
    _, reasons = ported_start(tmp_path, STARTS.replace(old, new), handler)
    assert any(where in it and reason in it for it in reasons), reasons


def test_assembler_that_names_a_service_calls_it_too(tmp_path: Path) -> None:
    more = "    .global also\n    .type also, %function\n    .thumb_func\nalso:\n    b go\n"
    _, reasons = ported_start(tmp_path, handler=HANDS_ON + more)
    assert any("__set_PSP" in it for it in reasons), reasons


def test_a_call_that_nobody_makes_names_no_service(tmp_path: Path) -> None:
    """One in a function that its file keeps for itself and never calls."""
    never = (
        'void keep(void) { __asm volatile("wfi"); }\n'
        'static inline void never(void) { __asm volatile("ldr r12, =keep\\n\\tsvc 0"); }\n'
    )
    kernel = STARTS.replace("int main", never + "int main")
    _, reasons = ported_start(tmp_path, kernel)
    assert not any("SVC_Handler" in it for it in reasons), reasons
    used = kernel.replace("call_go();", "call_go(); never();")
    _, reasons = ported_start(tmp_path, used)
    assert any("SVC_Handler" in it for it in reasons), reasons
