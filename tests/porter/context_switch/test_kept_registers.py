"""What a handler calls may not count on registers that a call keeps: in a guest they are VCT's."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from porter.context_switch.c_flow import CUnits
from porter.context_switch.project_data import ProjectData
from porter.context_switch.result import ESCALATED, NotTranscribable
from porter.project.unread_inputs import UnreadInputs
from porter.project.vectors import Vectors
from tests.porter.context_switch.cases import SOURCES
from tests.porter.context_switch.trees import fixture

HEAD = ".syntax unified\n.fpu fpv4-sp-d16\n.thumb\n.text\n"
POP = "ldr r1, [r0]; vldmia r1!, {s16-s31}; str r1, [r0]; bx lr"
TASK = "unsigned *place; void save(unsigned **); void load(unsigned **);\n"
CALLS = f"{TASK}void schedule(void) {{ load(&place); }}\n"
# Functions in assembler, C of the project, and what the handler is refused for.
REFUSED: dict[str, tuple[dict[str, str], str, str]] = {
    "through C": ({"load": POP}, CALLS, r"schedule\(\), which leads to load\(\) of callees.S"),
    "stored": (
        {"load": "ldr r1, [r0]; vstmdb r1!, {d8-d15}; str r1, [r0]; bx lr"}, CALLS,
        "reads s16-s31 of its caller",
    ),
    "core registers": ({"load": "stmia r0!, {r4-r11}; bx lr"}, CALLS, "reads r4-r11 of its caller"),
    "moved": ({"load": "vmov r1, s16; str r1, [r0]; bx lr"}, CALLS, "reads s16 of its caller"),
    "one way": ({"load": "cbz r0, 1f; mov r7, r0; 1: bx lr"}, CALLS, "changes r7"),
    "through assembler": (
        {"load": "push {lr}; bl inner; pop {pc}", "inner": POP}, CALLS, r"leads to load\(\)",
    ),
    "through a table": (
        {"load": POP},
        f"{TASK}void (*const hooks[])(unsigned **) = {{ save, load }};\n"
        "void schedule(void) { hooks[1](&place); }\n",
        r"leads to load\(\)",
    ),
    "through a variable": (
        {"load": POP},
        f"{TASK}void (*hook)(unsigned **);\nvoid begin(void) {{ hook = load; }}\n"
        "void schedule(void) { hook(&place); }\n",
        r"leads to load\(\)",
    ),
    "a caller's address": (
        {"load": POP},
        f"{TASK}void (*hook)(void);\nstatic void step(void) {{ load(&place); }}\n"
        "void begin(void) { hook = step; }\nvoid schedule(void) { hook(); }\n",
        r"leads to load\(\)",
    ),
    "a jump in asm": (
        {"load": POP}, 'void schedule(void) { __asm volatile("b load"); }\n', r"leads to load\(\)",
    ),
    "asm by an operand": (
        {"load": POP},
        f'{TASK}void schedule(void) {{ __asm volatile("blx %0" :: "r"(load) : "lr"); }}\n',
        r"leads to load\(\)",
    ),
    "a branch by a register": (
        {"schedule": "ldr r0, =load; bx r0; .ltorg", "load": POP}, "", r"leads to load\(\)",
    ),
    "an alias": (
        {"load": POP},
        'void wrapped(void) __attribute__((alias("real")));\n'
        f"{TASK}void real(void) {{ load(&place); }}\nvoid schedule(void) {{ wrapped(); }}\n",
        r"leads to load\(\)",
    ),
    "asm in C": (
        {},
        'void schedule(void) { unsigned t[16]; __asm volatile("vstmia %0, {s16-s31}" :: "r"(t) : '
        '"memory"); }\n',
        r"calls schedule\(\) of switch.c, which reads s16-s31",
    ),
    "asm that says nothing": (
        {}, 'void schedule(void) { __asm volatile("mov r9, #0"); }\n', "changes r9",
    ),
    "a call in asm": (
        {"load": POP}, 'void schedule(void) { __asm volatile("bl load" ::: "memory", "lr"); }\n',
        r"leads to load\(\)",
    ),
    "asm at file scope": (
        {},
        '__asm(".global load\\n.type load, %function\\nload: vldmia r0, {s16-s31}\\nbx lr");\n'
        f"{CALLS}",
        r"leads to load\(\)",
    ),
    "naked": (
        {},
        "__attribute__((naked)) void load(unsigned **p) { "
        '__asm volatile("vldmia r0, {s16-s31}\\n bx lr"); }\n'
        "unsigned *place;\nvoid schedule(void) { load(&place); }\n",
        r"leads to load\(\)",
    ),
}  # fmt: skip
ACCEPTED: dict[str, tuple[dict[str, str], str]] = {
    "saved": ({"load": "vpush {d8-d15}; vldmia r0, {s16-s31}; vpop {d8-d15}; bx lr"}, CALLS),
    "saved in words": (
        {"load": "strd r4, r5, [sp, #-8]!; ldm r0, {r4, r5}; ldrd r4, r5, [sp], #8; bx lr"}, CALLS,
    ),
    "saved below": (
        {"load": "sub sp, #8; stm sp, {r4, r5}; mov r4, r0; ldm sp, {r4, r5}; add sp, #8; bx lr"},
        CALLS,
    ),
    "not called": ({"load": POP}, f"{TASK}void other(void) {{ load(&place); }}\n"),
    "its address isn't taken": (
        {"load": POP}, "void (*hook)(void);\nvoid schedule(void) { if (hook) hook(); }\n"
        f"{TASK}void other(void) {{ load(&place); }}\n",
    ),
    "clobbers": (
        {}, 'void schedule(void) { __asm volatile("mov r9, #0" ::: "r9"); }\n',
    ),
    "operands": (
        {}, "void schedule(void) { int r; __asm volatile("
        '"mov r0, %1\\nmov r1, r0\\nmov r2, r0\\nmov r3, r0\\nmov %0, r3" : "=r"(r) : "r"(1) : '
        '"r0", "r1", "r2", "r3"); }\n',
    ),
    "no register of a caller": (
        {"load": "movs r4, #0; bx lr"},
        "void load(void);\nvoid fault(void) { load(); }\nvoid schedule(void) { }\n",
    ),
}  # fmt: skip

SETJMP = "int setjmp(unsigned *);\nunsigned place[40];\n"
# What a C library or a compiler has to see registers, and functions of the same name that don't.
SEEING = {
    "setjmp": f"{SETJMP}void schedule(void) {{ setjmp(place); }}\n",
    "_longjmp": "void _longjmp(int *, int);\nvoid schedule(void) { _longjmp(0, 1); }\n",
    "getcontext": "int getcontext(void *);\nvoid schedule(void) { getcontext(0); }\n",
    "_Unwind_Backtrace": "int _Unwind_Backtrace(void *, void *);\n"
                         "void schedule(void) { _Unwind_Backtrace(0, 0); }\n",
    "__builtin_unwind_init": "void schedule(void) { __builtin_unwind_init(); }\n",
    "__builtin_setjmp": "void *at[5];\nvoid schedule(void) { __builtin_setjmp(at); }\n",
}  # fmt: skip
SEEING_NOTHING = {
    "its own": "static int getcontext(void) { return 1; }\nvoid schedule(void) { getcontext(); }\n",
    "not called": f"{SETJMP}void other(void) {{ setjmp(place); }}\nvoid schedule(void) {{ }}\n",
    "another": "unsigned n;\nvoid schedule(void) { n = __builtin_clz(n | 1); }\n",
}
RD = '#define RD(v, n) __asm volatile("mov %0, r" #n : "=r"(v))\n'
PUT = "#define S_(x) #x\n#define S(x) S_(x)\n#define N 8\n"
HOOK = "void schedule(void) {{ unsigned v; __asm volatile({}); (void)v; }}\n"
# asm whose text alone names no register that a call keeps, and the reason.
HIDDEN = {
    "an argument of a macro": (
        f"{RD}void schedule(void) {{ unsigned v; RD(v, 8); }}\n", "reads r8",
    ),
    "adjacent strings": (PUT + HOOK.format('"mov %0, r" S(N) : "=r"(v)'), "reads r8"),
    "a list": (
        "#define LDF(p, a, b) "
        '__asm volatile("vldmia %0, {s" #a "-s" #b "}" :: "r"(p) : "memory")\n'
        "unsigned frame[16];\nvoid schedule(void) { LDF(frame, 16, 31); }\n",
        "changes s16-s31",
    ),
    "an operand in a name": (HOOK.format('"mov %0, r%c1" : "=r"(v) : "i"(8)'), "part of a word"),
    "a span of operands": (
        HOOK.format('"ldmia sp, {%0-%1}" : "=r"(v) : "r"(v)'), "part of a word or list",
    ),
    "another name of a register": (
        '__asm("tsk .req r8");\n' + HOOK.format('"mov %0, TSK" : "=r"(v)'), "other asm defines",
    ),
    "a macro of the assembler's": (
        r'__asm(".macro getr d, n\n mov \\d, r\\n\n.endm");'
        + HOOK.format('"getr %0, 8" : "=r"(v)'),
        "other asm defines",
    ),
    "macros of a file": (
        '__asm(".include \\"own.inc\\"");' + HOOK.format('"getr %0, 8" : "=r"(v)'),
        "another file may have",
    ),
    "macros within": (
        HOOK.format(r'".irp n, 8\n mov %0, r\\n\n .endr" : "=r"(v)'), "any instruction",
    ),
    "a number": (HOOK.format(r'".inst.n 0x4640" : "=r"(v)'), "any instruction"),
    "a label's number": (HOOK.format('"nop; 1: .short 0x4640" : "=r"(v)'), "any instruction"),
    "a word that is none's address": (
        HOOK.format(r'".word schedule - schedule + 0x46404640" : "=r"(v)'), "any instruction",
    ),
    "a naked one's number": (
        '__attribute__((naked)) unsigned pk(void) { __asm(".inst.n 0x4640\\n bx lr"); }\n'
        "unsigned x;\nvoid schedule(void) { x = pk(); }\n",
        r"leads to pk\(\), which has asm with words of the assembler's",
    ),
    "a number at file scope": (
        r'__asm(".global pk\n.thumb_func\n.type pk, %function\npk: .inst.n 0x4640\n bx lr\n");'
        "\nunsigned pk(void), x;\nvoid schedule(void) { x = pk(); }\n",
        r"leads to pk\(\) of switch.c, which reads r8",
    ),
    "a macro at file scope": (
        r'__asm(".macro getr d, n\n mov \\d, r\\n\n.endm");'
        r'__asm(".global pk\n.thumb_func\n.type pk, %function\npk: getr r0, 8\n bx lr\n");'
        "\nunsigned pk(void), x;\nvoid schedule(void) { x = pk(); }\n",
        r"leads to pk\(\) of switch.c, which reads r8",
    ),
    "what switches the FPU": (
        HOOK.format('"vlldm %0" :: "r"(v)'), "registers of its caller that can't be read",
    ),
}  # fmt: skip
PLAIN = (
    '"cpsid i" ::: "memory"', r'"mrs %0, primask\n\tcpsid i" : "=r"(v) :: "memory"',
    '"dsb\\n isb" ::: "memory"', '"clz %0, %1" : "=r"(v) : "r"(1)',
    '"msr basepri, %0" :: "r"(v) : "memory"', '"mov %0, %c1" : "=r"(v) : "i"(8)',
    '"bkpt %0" :: "i"(1)', '"ldr %0, [%1, #%c2]" : "=r"(v) : "r"(&v), "i"(0)',
    r'"1%=: subs %[n], #1\n bne 1%=b" : [n] "=r"(v) : "0"(3) : "cc"',
    '"ldrex %0, %1" : "=r"(v) : "Q"(v)', r'".syntax unified\n .align 2\n nop // .short 0x4640"',
    '"vmsr fpscr, %0" :: "r"(0)', '"strex %0, %2, %1" : "=&r"(v), "=Q"(v) : "r"(0)',
    '"b 1f; .align 2; 2: .word schedule; 1: ldr %0, 2b" : "=r"(v)',
)  # fmt: skip
# The task's registers on the stack, and somebody has the stack pointer; "" for what is no harm.
SHOWN: dict[str, tuple[str, str]] = {
    "copied for C": ("push {r4-r11, lr}; mov r0, sp; bl dump; pop {r4-r11, pc}", "reads r4-r11"),
    "floats": ("push {lr}; vpush {s16-s31}; mov r0, sp; bl dump; vpop {s16-s31}; pop {pc}",
               "reads s16-s31"),
    "calculated": ("push {r7, lr}; add r0, sp, #0; bl dump; pop {r7, pc}", "reads r7"),
    "stored": ("push {r8}; ldr r1, =shown; str sp, [r1]; pop {r8}; bx lr; .ltorg", "reads r8"),
    "as MSP": ("push {r8}; mrs r0, msp; str r0, [r0]; pop {r8}; bx lr", "reads r8"),
    "written by it": ("push {r8}; mov r1, sp; str r0, [r1]; pop {r8}; bx lr", "reads r8"),
    "written at an index": ("push {r8}; str r0, [sp, r0]; pop {r8}; bx lr", "reads r8"),
    "a byte written": ("push {r8}; strb r0, [sp]; pop {r8}; bx lr", "reads r8"),
    "read at an index": ("push {r8}; ldr r2, [sp, r0]; pop {r8}; bx lr", "reads r8"),
    "a byte read": ("push {r8}; ldrb r0, [sp]; pop {r8}; bx lr", "reads r8"),
    "a part of two words": ("push {r8, r9}; ldr r0, [sp, #2]; pop {r8, r9}; bx lr", "reads r8"),
    "copied before": ("mov r0, sp; push {r8, lr}; bl dump; pop {r8, pc}", "reads r8"),
    "another stack": ("mov r1, sp; mov sp, r0; push {r8}; mov sp, r1; bx lr", "reads r8"),
    "written on one way": (
        "sub sp, #4; cbz r0, 1f; str r8, [sp]; 1: ldr r0, [sp]; add sp, #4; bx lr", "reads r8",
    ),
    "a callee's look": ("push {r8, lr}; bl inner; pop {r8, pc}", "reads r8"),
    "a local's address": ("push {lr}; sub sp, #12; mov r0, sp; bl dump; add sp, #12; pop {pc}", ""),
    "arguments": ("push {r0-r3, lr}; mov r0, sp; bl dump; pop {r0-r3, pc}", ""),
    "much room": ("push {r4}; subw sp, sp, #1028; addw sp, sp, #1028; pop {r4}; bx lr", ""),
    "a check": ("push {r4, lr}; ldr r4, =shown; cmp sp, r4; pop {r4, pc}; .ltorg", ""),
    "a callee's own": ("push {r8, lr}; bl other; pop {r8, pc}", ""),
}  # fmt: skip
LOOKS = {"inner": "ldr r0, [sp]; str r0, [r1]; bx lr",
         "other": "push {r4}; movs r4, #0; pop {r4}; bx lr"}  # fmt: skip
# Registers that Capstone names as operands only.
OPERANDS: dict[str, str] = {
    "fldmiax r0!, {d8-d15}; bx lr": "reads s16-s31 and changes s16-s31",
    "fstmiax r0!, {d8-d15}; bx lr": "reads s16-s31",
    "fldmdbx r0!, {d8-d15}; bx lr": "reads s16-s31",
    "pkhbt r0, r0, r8; bx lr": "reads r8",
    "push {r8}; pkhtb r8, r0, r8; str r8, [r0]; pop {r8}; bx lr": "reads r8",
    "sxtab r0, r0, r8; bx lr": "reads r8",
    "uxtah r0, r0, r8; bx lr": "reads r8",
    "ssat r0, #5, r8; bx lr": "reads r8",
    "usat16 r0, #5, r8; bx lr": "reads r8",
    "vmsr fpscr, r8; bx lr": "reads r8",
    "mcrr p1, 0, r0, r8, c0; bx lr": "reads r8",
    "mrrc p1, 0, r0, r8, c0; bx lr": "changes r8",
    "push {r4}; ldr r4, [r0]; pkhbt r1, r1, r4; pop {r4}; bx lr": "",
}
# Where nothing that is followed leads to.
JUMPS: dict[str, tuple[str, str]] = {
    "a table of words": (
        "and r1, r0, #1; adr r2, 1f; ldr pc, [r2, r1, lsl #2]; .align 2; 1: .word 2f+1, 3f+1;"
        "2: bx lr; 3: str r8, [r0]; bx lr", "jumps to an address that it calculates",
    ),
    "a table of bytes": (
        "tbb [pc, r0]; 1: .byte (2f-1b)/2, (3f-1b)/2; 2: bx lr; 3: str r8, [r0]; bx lr",
        "aren't understood",
    ),
    "added": ("lsls r1, r0, #2; add pc, r1; nop; bx lr; nop; str r8, [r0]; bx lr", "calculates"),
    "an address made": (
        "adr r1, 1f; orr r1, #1; bx r1; nop; .align 2; 1: mov r0, r8; bx lr", "reads r8",
    ),
    "a word": ("ldr pc, 1f; .align 2; 1: .word 2f+1; 2: mov r0, r8; bx lr", "calculates"),
    "a word in a register": (
        "ldr r1, 1f; mov pc, r1; .align 2; 1: .word 2f+1; 2: mov r0, r8; bx lr", "reads r8",
    ),
    "from the stack": ("adr r1, 1f; push {r1}; pop {pc}; .align 2; 1: mov r0, r8; bx lr", "r8"),
    "from elsewhere": ("bx lr; nop; vldmia r0!, {s16-s31}; bx lr", "changes s16-s31"),
    "also led to": (
        "adr r1, 1f; cbz r0, 2f; bx r1; 2: movs r2, #0; mov r3, r2; .align 2; 1: str r2, [r0];"
        "bx lr; str r8, [r0]", "reads r8",
    ),
    "into the middle": (
        "adr r1, 1f; cbz r0, 2f; adds r1, #1; bx r1; 2: push {r7}; movs r7, #0; .align 2;"
        "1: str r7, [r0]; pop {r7}; bx lr", "reads r7",
    ),
    "into the middle, by a word": (
        "ldr r1, =1f + 1; cbz r0, 2f; bx r1; 2: push {r7}; movs r7, #0; 1: str r7, [r0];"
        "pop {r7}; bx lr; .ltorg", "reads r7",
    ),
    "pc copied": ("mov r1, pc; bx r1", "calculates"),
    "a table of data": ("adr r1, 1f; ldr r0, [r1]; bx r0; .align 2; 1: .word dump", ""),
    "a routine": ("push {lr}; bl 1f; pop {pc}; 1: mov r0, r8; bx lr", "reads r8"),
    "a pointer": ("ldr r1, [r0]; bx r1", ""),
    "a pointer in a field": ("ldr pc, [r0, #4]", ""),
    "by name": ("ldr pc, =dump; .ltorg", ""),
    "back, a word": ("push {r4, lr}; mov r4, r0; ldr r4, [sp], #4; ldr pc, [sp], #4", ""),
    "filled up": ("cbz r0, 1f; bx lr; nop; 1: b 1b; nop; .align 4; .word 8", ""),
    "a routine that keeps them": (
        "push {r4, lr}; mov r4, r0; bl 1f; pop {r4, pc}; 1: str r4, [r0]; bx lr", "",
    ),
}  # fmt: skip
DATA: dict[str, tuple[str, str]] = {
    "first": (".hword 0x4640; str r0, [r1]; bx lr", "reads r8"),
    "a file": ('.incbin "code.bin"; bx lr', "reads r8"),
    "no instruction": (".word 0xffffffff; bx lr", "aren't understood"),
    "jumped to": ("b 1f; nop; 1: .hword 0x4640; bx lr", "jumps into data"),
    "behind": ("movs r0, #1; bx lr; .hword 0x4640, 0x4640", ""),
    "of no register": (".hword 0x2000; bx lr", ""),
}

OUTSIDE = ".global deep; .type deep, %function; deep: ldr r1, =seen; {}; bx lr; .ltorg"
AT_FILE_SCOPE: dict[str, tuple[str, str]] = {
    "reads": (OUTSIDE.format("str r8, [r1]"), r"deep\(\) of other.c, which reads r8"),
    "its own": (OUTSIDE.format("str r0, [r1]"), ""),
    "includes": ('.include \\"body.s\\"', r"deep\(\) of other.c, which reads r8"),
    "is unknown": (OUTSIDE.format("store r8"), r"deep\(\), which can't be assembled"),
}


def project(
    folder: Path, functions: dict[str, str], c: str, vectors: Vectors | None = None
) -> ProjectData:
    """A project with a handler that calls schedule()."""
    text = (SOURCES / "running_task.c").read_text()
    if "schedule" in functions:
        text = text.replace("void schedule(void);", "void  schedule(void);")
    tree = fixture(folder, f"{text}{c}")
    bodies = "".join(
        f".global {name}\n.type {name}, %function\n{name}:\n{body.replace(';', chr(10))}\n"
        for name, body in functions.items()
    )
    (folder / "callees.S").write_text(HEAD + bodies)
    files = (*tree.files, folder / "callees.S", *sorted(folder.glob("*.cpp")))
    files += tuple(sorted(folder.glob("other.c")))
    return ProjectData(files, tree.options, CUnits(files, tree.options), vectors=vectors)


def refused(data: ProjectData) -> str:
    try:
        data.kept.refuse(["schedule"])
    except NotTranscribable as reason:
        return str(reason)
    return ""


@pytest.mark.parametrize("name", REFUSED)
def test_registers_of_the_task_are_told(name: str, tmp_path: Path) -> None:
    functions, c, why = REFUSED[name]
    assert re.search(why, refused(project(tmp_path, functions, c)))


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_a_call_may_do_is_no_reason(name: str, tmp_path: Path) -> None:
    assert not refused(project(tmp_path, *ACCEPTED[name]))


@pytest.mark.parametrize("name", SEEING)
def test_what_is_made_to_see_them_is_told(name: str, tmp_path: Path) -> None:
    found = refused(project(tmp_path, {}, SEEING[name]))
    assert f"leads to {name}(), which sees or sets registers that calls keep" in found


@pytest.mark.parametrize("name", SEEING_NOTHING)
def test_what_sees_none_of_them_is_not(name: str, tmp_path: Path) -> None:
    assert not refused(project(tmp_path, {}, SEEING_NOTHING[name]))


@pytest.mark.parametrize("name", HIDDEN)
def test_what_the_assembler_gets_is_looked_at(name: str, tmp_path: Path) -> None:
    c, why = HIDDEN[name]
    assert re.search(why, refused(project(tmp_path, {}, c)))


@pytest.mark.parametrize("text", PLAIN)
def test_ordinary_asm_is_no_reason(text: str, tmp_path: Path) -> None:
    tables = '__asm(".macro other d\\n nop\\n.endm");\n'
    assert not refused(project(tmp_path, {}, tables + HOOK.format(text)))


@pytest.mark.parametrize(("asm", "read"), [("mov %0, r8", True), ("mov %0, r3", False)])
@pytest.mark.parametrize("suffix", ["inc", "def", "h", "x"])
def test_an_included_file_counts_whatever_its_name(
    asm: str, read: bool, suffix: str, tmp_path: Path
) -> None:
    hook = f'void schedule(void) {{ unsigned v; __asm volatile("{asm}" : "=r"(v)); }}\n'
    (tmp_path / f"hook.{suffix}").write_text(hook)
    found = refused(project(tmp_path, {}, f'#include "hook.{suffix}"\n'))
    assert ("reads r8 of its caller" in found) is read


def told(folder: Path, body: str, **functions: str) -> str:
    """What is said of load(), which C calls."""
    (folder / "code.bin").write_bytes(b"\x40\x46")  # mov r0, r8
    c = f"unsigned *shown; void dump(unsigned *p) {{ shown = p; }}\n{CALLS}"
    return refused(
        project(folder, {"load": body.replace("code.bin", f"{folder}/code.bin")} | functions, c)
    )


@pytest.mark.parametrize("name", SHOWN)
def test_who_has_the_stack_pointer_has_what_lies_there(name: str, tmp_path: Path) -> None:
    body, why = SHOWN[name]
    found = told(tmp_path, body, **LOOKS)
    assert f"load() of callees.S, which {why}" in found if why else not found


@pytest.mark.parametrize("body", OPERANDS)
def test_an_operand_counts_whatever_it_is(body: str, tmp_path: Path) -> None:
    found = told(tmp_path, body)
    assert OPERANDS[body] in found if OPERANDS[body] else not found


@pytest.mark.parametrize("name", JUMPS)
def test_a_jump_may_go_to_what_nothing_else_leads_to(name: str, tmp_path: Path) -> None:
    body, why = JUMPS[name]
    found = told(tmp_path, body)
    assert why in found if why else not found


@pytest.mark.parametrize(
    ("c", "why"),
    [
        ("extern before();\nvoid schedule(void) { }\n", r"schedule\(\) of switch.c, which can't"),
        ("count() { return 0; }\nvoid schedule(void) { count(); }\n", r"leads to count\(\) of sw"),
        ("static count(void) { return 0; }\nvoid schedule(void) { count(); }\n", r"count\(\) of"),
        ("extern int before();\nvoid schedule(void) { before(); }\n", ""),
        ("int count(n) int n; { return n; }\nvoid schedule(void) { count(0); }\n", ""),
        ("static other;\nvoid schedule(void) { other++; }\n", ""),
    ],
)
def test_c_without_types_hides_nothing(c: str, why: str, tmp_path: Path) -> None:
    found = refused(project(tmp_path, {}, c))
    assert re.search(why, found) if why else not found


@pytest.mark.parametrize("weak", [True, False])
@pytest.mark.parametrize("name", AT_FILE_SCOPE)
def test_asm_outside_of_functions_defines_some(name: str, weak: bool, tmp_path: Path) -> None:
    text, why = AT_FILE_SCOPE[name]
    lines = text.replace(";", r"\n")
    (tmp_path / "other.c").write_text(f'unsigned seen;\n__asm("{lines}");\n')
    (tmp_path / "body.s").write_text(OUTSIDE.format("str r8, [r1]").replace(";", "\n") + "\n")
    deep = "__attribute__((weak)) void deep(void) { }\n" if weak else "void deep(void);\n"
    found = refused(project(tmp_path, {}, f"{deep}void schedule(void) {{ deep(); }}\n"))
    assert re.search(why, found) if why else not found


@pytest.mark.parametrize("name", DATA)
def test_data_that_runs_is_code(name: str, tmp_path: Path) -> None:
    body, why = DATA[name]
    found = told(tmp_path, body)
    assert why in found if why else not found


def test_a_vector_of_its_own_is_no_callee(tmp_path: Path) -> None:
    dump = {"HardFault_Handler": "push {r4-r11}; mov r0, sp; str r4, [r0]; b ."}
    c = (
        "void HardFault_Handler(void); void (*const vectors[])(void) = { HardFault_Handler };\n"
        "void (*hook)(void);\nvoid schedule(void) { hook(); }\n"
    )
    assert not refused(project(tmp_path, dump, c))


@pytest.mark.parametrize("registers", ["s16-s31", 's" "16-s31'])
def test_cplusplus_isnt_followed(registers: str, tmp_path: Path) -> None:
    text = f'void f(float *p) {{ __asm volatile("vstmia %0, {{{registers}}}" :: "r"(p)); }}\n'
    (tmp_path / "hook.cpp").write_text(f'{text}extern "C" void hook() {{ f(0); }}\n')
    c = "void hook(void);\nvoid schedule(void) { hook(); }\n"
    assert "leads to hook(), which hook.cpp names, C++ with asm" in refused(
        project(tmp_path, {}, c)
    )


def test_a_handler_that_leads_there_stays_as_it_was(tmp_path: Path) -> None:
    text = (SOURCES / "running_task.c").read_text()
    tree = fixture(tmp_path, f"{text}{CALLS}")
    (tmp_path / "callees.S").write_text(
        f"{HEAD}.global load\n.type load, %function\nload: {POP.replace(';', chr(10))}\n"
    )
    found = replace(tree, files=(*tree.files, tmp_path / "callees.S")).port()
    reasons = {it.name: it.reason for it in found if it.status == ESCALATED and it.start < it.end}
    assert "leads to load() of callees.S" in reasons["PendSV_Handler"]


@pytest.mark.parametrize("body", ["nop", "cbz r0, 1f; bx lr; 1: nop", "bl other"])
def test_what_lies_behind_a_section_is_nobodys_to_know(body: str, tmp_path: Path) -> None:
    """There the linker puts whatever it likes, code that touches the task's registers for one."""
    told = refused(project(tmp_path, {"other": "bx lr", "schedule": body}, ""))
    assert "schedule runs on where its section ends" in told
    assert not refused(project(tmp_path, {"other": "bx lr", "schedule": f"{body}; bx lr"}, ""))


def test_a_name_that_a_linker_script_places_isnt_its_function(tmp_path: Path) -> None:
    text = (SOURCES / "running_task.c").read_text().replace("schedule(void);", "schedule(void) { }")
    tree = fixture(tmp_path, text)
    inputs = UnreadInputs(placed={"schedule": tmp_path / "chip.ld"})
    units = CUnits(tree.files, tree.options)
    data = ProjectData(tree.files, tree.options, units, inputs=inputs)
    assert "which chip.ld may define" in refused(data)
    assert not refused(ProjectData(tree.files, tree.options, units))
