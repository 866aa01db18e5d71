"""What in a project, outside of its handlers, forbids a yield that switches in user mode."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from porter.context_switch.assemble import assemble, preprocess
from porter.context_switch.c_flow import CUnits
from porter.context_switch.handler import transcribe
from porter.context_switch.names import Names
from porter.context_switch.only_in_handler import only_in_handler
from porter.context_switch.pick import Pick
from porter.context_switch.project import transcribe_project
from porter.context_switch.project_data import ProjectData
from porter.context_switch.proof import NotProved
from porter.project.vectors import PENDSV, SVC, Vectors
from tests.porter.context_switch.cases import SOURCES
from tests.porter.context_switch.trees import Tree, fixture, freertos

MEMBERS = "uint32_t *limit; struct task *next; unsigned ticks;"
CHOICE = "void schedule(void) { running = running->next; }\n"
FRAME = "struct frame { uint32_t r4_11[8], exc, r0; };\n"
EVENTS = "struct event { void *who; } q[4];\nvoid post(struct task *t, int i) { q[i].who = t; }\n"
COPY = "void *memcpy(void *, const void *, unsigned);\n"
FOLLOWS = {
    "a result": "void f(struct task *t) { struct frame *at = (struct frame *)t->sp; at->r0 = 1; }",
    "a place": "void f(struct task *t, void (*g)(void)) { t->sp[15] = (uint32_t)g; }",
    "a callee": "static uint32_t pc(uint32_t *sp) { return *(sp + 15); }\n"
    "uint32_t f(struct task *t) { return pc(t->sp); }",
    "pushes": "void f(struct task *t) { t->sp = t->sp - 8; t->sp[0] = 1; }",
    "walks": "unsigned f(struct task *t) { unsigned sum = 0;\n"
    "    for (uint32_t *p = t->sp; p < t->limit; p = p + 1) sum += *p; return sum; }",
    "hands out": "void copy(void *, const void *, unsigned);\n"
    "void f(void *to, struct task *t) { copy(to, t->sp, 68); }",
    "asm": "uint32_t f(struct task *t) { uint32_t pc;\n"
    '    __asm("ldr %0, [%1, #60]" : "=r"(pc) : "r"(t->sp)); return pc; }',
    "asm's result": "uint32_t f(struct task *t) { uint32_t *sp;\n"
    '    __asm("ldr %0, [%1]" : "=r"(sp) : "r"(t)); return sp[9]; }',
    "a cast": "uint32_t f(struct task *t) { return ((uint32_t **)t)[0][9]; }",
    "another block": "struct other { uint32_t *top; };\n"
    "uint32_t f(struct task *t) { return ((struct other *)t)->top[9]; }",
    "a handle": "static uint32_t f(void *handle) { uint32_t **block = handle; return **block; }\n"
    "uint32_t g(struct task *t) { return f(t); }",
    "an element": "struct task tasks[2];\nuint32_t f(int i) { return **(uint32_t **)&tasks[i]; }",
    "a sum": "uint32_t f(struct task *t) { char *at = (char *)t; return **(uint32_t **)(at + 0); }",
    "keeps": "void f(struct task *t, uint32_t **to) { *to = t->sp; }",
    "its address": "void f(struct task *t) { uint32_t **at = &t->sp; (*at)[9] = 3; }",
    "a union": "union view { uint32_t *w; struct frame *at; };\n"
    "void f(struct task *t) { union view u; u.w = t->sp; u.at->r0 = 3; }",
    "a union's value": "void f(struct task *t) {\n"
    "    union { uint32_t *w; struct frame *at; } u = { t->sp }; u.at->r0 = 3; }",
    "a union with a name": "void f(struct task *t) {\n"
    "    union { uint32_t *w; struct frame *at; } u = { .w = t->sp }; u.at->r0 = 3; }",
    "another's": "void f(struct task *t, uint32_t *top) {\n"
    "    t->sp = top - 17; t = t->next; t->sp[15] = 3; }",
    "a handle in an event": f"{EVENTS}void f(int i) {{ uint32_t **t = q[i].who; (*t)[9] = 3; }}",
    "another block in an event": f"{EVENTS}struct view {{ uint32_t *top; }};\n"
    "void f(int i) { struct view *t = q[i].who; t->top[9] = 3; }",
    "a handle in an array": "void *slots[4];\nvoid put(struct task *t, int i) { slots[i] = t; }\n"
    "void f(int i) { uint32_t **t = slots[i]; t[0][9] = 3; }",
    "a member's namesake": "struct slot { uint32_t **next; } s;\n"
    "void put(struct task *t) { s.next = (void *)t; }\nvoid f(void) { (*s.next)[9] = 3; }",
    "a copied word": f"{COPY}uint32_t f(struct task *t) {{\n"
    "    uint32_t *w; memcpy(&w, t, 4); return w[9]; }",
    "a copied block": f"{COPY}struct view {{ uint32_t *top; unsigned ticks; }};\n"
    "struct task all[3];\nuint32_t f(int i) {\n"
    "    struct view v; memcpy(&v, &all[i], sizeof v); return v.top[9]; }",
    "a statement's value": "void f(struct task *t) {\n"
    "    ({ uint32_t *top = t->sp; top; })[9] = 3; }",
    "a block by a statement": "void f(struct task *t) { (*({ (uint32_t **)t; }))[9] = 3; }",
    "any number of arguments": "void take(int n, ...) { (void)n; }\n"
    "void f(struct task *t) { take(1, t->sp); }",
    "an element backwards": "void f(struct task *t) { 9[t->sp] = 3; }",
    "types behind": "static void pc(p, v) unsigned *p; unsigned v; { p[9] = v; }\n"
    "void f(struct task *t) { pc(t->sp, 3); }",
    "by type": "void f(struct task *t) {\n    _Generic(t->sp, default: t->sp)[9] = 3; }",
    "an element of a number": "void f(struct task *t) { int i = 0; i[(uint32_t **)t][9] = 3; }",
    "asm that gets the block": "void f(struct task *t) { uint32_t *sp;\n"
    '    __asm("ldr %0, %1" : "=r"(sp) : "m"(*t)); sp[9] = 3; }',
    "asm that changes the block": "void f(struct task *t) {\n"
    '    __asm("ldr r1, %0\\n str r1, [r1, #36]" : "+m"(*t) :: "r1"); }',
    "asm that gets the variable": "void f(void) { struct task *t;\n"
    '    __asm("ldr %0, %1\\n ldr %0, [%0]\\n str %0, [%0]" : "=r"(t) : "m"(running)); }',
    "xor-ed": "uint32_t k; void note(struct task *t) { k = (uint32_t)t->sp ^ 0x5a5a; }\n"
    "void f(void) { ((uint32_t *)(k ^ 0x5a5a))[9] = 3; }",
    "a block xor-ed": "uint32_t k; void note(struct task *t) { k = ~(uint32_t)t ^ 0x5a5a; }\n"
    "void f(void) { (*(uint32_t **)~(k ^ 0x5a5a))[9] = 3; }",
    "of bytes": "void f(struct task *t) { unsigned char *b = (unsigned char *)t;\n"
    "    uint32_t at = b[0] | b[1] << 8 | b[2] << 16 | (uint32_t)b[3] << 24;\n"
    "    ((uint32_t *)at)[9] = 3; }",
    "in front of a member": "void f(struct task *t) { unsigned *n = &t->ticks;\n"
    "    ((uint32_t *)n[-3])[9] = 3; }",
    "less than a member": "void f(struct task *t) { unsigned *n = &t->ticks;\n"
    "    ((uint32_t *)*(n - 3))[9] = 3; }",
    "back from a member": "void f(struct task *t) { unsigned *n = &t->ticks; n -= 3;\n"
    "    ((uint32_t *)*n)[9] = 3; }",
    "whoever runs": "void f(uint32_t *top) { running->sp = top; schedule(); running->sp[9] = 3; }",
}
CPLUSPLUS = {
    "its word": (
        "struct task { unsigned *sp; };\nunsigned r0(task *t) { return t->sp[9]; }",
        "task",
    ),
    "the variable": ("extern void *running;\nvoid *now() { return running; }", "running"),
    "neither": ("// a running task\nint other() { return 3; }", ""),
}
CREATES = {
    "through a local": "void f(struct task *t, uint32_t *top) {\n"
    "    *--top = 1u << 24; *--top = 3; top -= 15; t->sp = top; }",
    "through the member": "void f(struct task *t, uint32_t *top) {\n"
    "    t->sp = top; *--t->sp = 1u << 24; *--t->sp = 3; t->sp -= 15; }",
    "by a function": "uint32_t *init(uint32_t *top) { top[-1] = 1u << 24; return top - 17; }\n"
    "struct task tasks[3];\n"
    "void f(int i, uint32_t *top) { tasks[i].sp = init(top); tasks[i].sp[8] = -3; }",
    "other words": "unsigned f(struct task *t) { struct task copy = *t; unsigned *w = (void *)t;\n"
    "    (*t).ticks = w[3]; return (*(struct task *)t).ticks + copy.ticks; }",
    "copies": f"{COPY}unsigned f(struct task *t) {{\n"
    "    struct task copy; memcpy(&copy, t, sizeof copy); return copy.ticks; }",
    "is copied to": f"{COPY}void f(struct task *t, void *from) {{ memcpy(t, from, sizeof *t); }}",
    "sets": "void f(struct task *t, uint32_t *top) { *(uint32_t **)t = top; }",
    "lists": "struct event { struct event *next; void *who; } *q;\n"
    "void post(struct task *t, struct event *e) { e->who = t; e->next = q; q = e; }\n"
    "struct task *get(void) { struct event *e = q; q = e->next; return e->who; }\n"
    "unsigned f(void) { struct task *t = get(); return t->next->ticks; }",
    "asks how it is aligned": "unsigned f(struct task *t) {\n"
    "    return ((uint32_t)t->sp & 7) == 0 && (uint32_t)t->sp >> 28 == 2; }",
    "a distance as an index": "struct task tasks[4]; unsigned left[4], of[64];\n"
    "unsigned f(struct task *t) { return left[t - tasks] + of[t->sp - t->limit]; }",
    "keeps asm in order": "void f(struct task *t) {\n"
    '    __asm volatile("" : "+m"(*t)); t->ticks++; }',
    "a member's address": "static void add(unsigned *to, unsigned n) { *to += n; to[0]++; }\n"
    "void f(struct task *t) { add(&t->ticks, 3); }",
    "lists of members": "struct node { struct node *next; };\n"
    "struct timed { int when; struct node node; struct task *of; } *all;\n"
    "static struct node *head; void put(struct timed *t) { head = &t->node; }\n"
    "unsigned f(void) { struct timed *t = (struct timed *)((char *)head - 4);\n"
    "    return t->of->ticks; }",
    "compares": "void print(const char *, unsigned);\n"
    'void f(struct task *t) { print("%u left", (unsigned)(t->sp - t->limit));\n'
    '    if (t->sp <= t->limit) print("none of %u", t->ticks); }',
}
CMSIS = "uint32_t __get_PRIMASK(void); void __set_PRIMASK(uint32_t);\n" \
    "void __disable_irq(void); void __enable_irq(void);\n"  # fmt: skip
ASM = """
static uint32_t lock(void) { uint32_t m; __asm("mrs %0, primask\\n cpsid i" : "=r"(m)); return m; }
static void set(uint32_t m) { __asm volatile("msr primask, %0" :: "r"(m)); }
static void open(uint32_t m) { if ((m & 1) == 0) __asm volatile("cpsie i"); }
"""
OPENS = {
    "asm": 'void schedule(void) { __asm("cpsid i"); running = 0; __asm("cpsie i"); }',
    "counts": 'static unsigned n; void lock(void) { __asm("cpsid i"); n++; }\n'
    'void unlock(void) { if (--n == 0) __asm("cpsie i"); }\n'
    "void schedule(void) { lock(); running = 0; unlock(); }",
    "CMSIS": f"{CMSIS}void schedule(void) {{ __disable_irq(); running = 0; __enable_irq(); }}",
    "a number": f"{CMSIS}void schedule(void) {{ running = 0; __set_PRIMASK(0); }}",
    "assembler": '__attribute__((naked)) void off(void) { __asm("mov r0, #0\\n msr primask, r0\\n'
    ' bx lr"); }\nvoid schedule(void) { off(); }',
    "asks another": f"{CMSIS}unsigned level;\nvoid schedule(void) {{ unsigned was = level;\n"
    "    running = 0; if (was == 0) __enable_irq(); }",
}
RESTORES = {
    "CMSIS": f"{CMSIS}void schedule(void) {{ uint32_t was = __get_PRIMASK(); __disable_irq();\n"
    "    running = 0; __set_PRIMASK(was); }",
    "asks": f"{CMSIS}void schedule(void) {{ uint32_t was = __get_PRIMASK(); __disable_irq();\n"
    "    running = 0; if (!was) __enable_irq(); }",
    "asm": f"{ASM}void schedule(void) {{ uint32_t m = lock(); running = 0; set(m); }}",
    "asm that asks": f"{ASM}void schedule(void) {{ uint32_t m = lock(); running = 0; open(m); }}",
    "counts": f"{CMSIS}static uint32_t n, saved;\n"
    "void lock(void) { uint32_t m = __get_PRIMASK();\n"
    "    __disable_irq(); if (n++ == 0) saved = m; }\n"
    "void unlock(void) { if (--n == 0) __set_PRIMASK(saved); }\n"
    "void schedule(void) { lock(); running = 0; unlock(); }",
    "BASEPRI": 'static void set(uint32_t m) { __asm volatile("msr basepri, %0" :: "r"(m)); }\n'
    "void schedule(void) { set(0x40); running = 0; set(0); }",
}


def why(folder: Path, c: str, file: str = "running_task.c", text: str = "") -> str:
    """Why the handler of a file gets no fast yield in a project with this C, too."""
    text = (text or (SOURCES / file).read_text()).replace("char name[8];", MEMBERS)
    return why_not(fixture(folder, f"{text}{FRAME}{c}\n"), "PendSV_Handler")


def why_not(tree: Tree, symbol: str) -> str:
    """Why a handler of a project's first file gets none."""
    source = tree.files[0]
    assembly = assemble(source, tree.options)
    project = ProjectData(tree.files, tree.options, CUnits(tree.files, tree.options))
    names = Names(preprocess(source, tree.options), "", lambda expression: None, project)
    (function,) = (it for it in assembly.object.functions if it.name == symbol)
    pick = transcribe(assembly, function, "switch", names).pick
    assert isinstance(pick, Pick)
    return only_in_handler(pick, project.units, project.callees, project.resumers)


@pytest.mark.parametrize("name", FOLLOWS)
def test_nobody_follows_a_saved_stack_pointer(name: str, tmp_path: Path) -> None:
    found = why(tmp_path, CHOICE + FOLLOWS[name])
    assert "() looks into saved frames: '" in found and found[:2] in ("f(", "pc")


DUMP = """
    .syntax unified
    .thumb
    .global dump
    .type dump, %function
dump:
    {}
    bx lr
"""
LOOKS = {
    "a task": ("ldr r0, [r0]\n ldr r0, [r0, #36]", True),
    "its stack pointer": ("ldr r0, [r0]", True),
    "its name": ("ldr r0, [r0, #4]", False),
    "starts": ("ldr r0, [r0]\n ldmia r0!, {r4-r11}\n msr psp, r0", False),
}


@pytest.mark.parametrize(("code", "found"), LOOKS.values(), ids=LOOKS)
def test_assembler_that_gets_a_task_may_look_into_its_frame(
    code: str, found: bool, tmp_path: Path
) -> None:
    text = (SOURCES / "running_task.c").read_text()
    use = "uint32_t dump(struct task *t);\nuint32_t f(struct task *t) { return dump(t); }\n"
    tree = fixture(tmp_path, text + use)
    (tmp_path / "dump.S").write_text(DUMP.format(code))
    tree = replace(tree, files=(*tree.files, tmp_path / "dump.S"))
    told = "f() looks into saved frames: '(t)'" if found else ""
    assert why_not(tree, "PendSV_Handler") == told


TAKES = {
    "starts": ("msr psp, r1\n movs r4, #2\n msr control, r4\n isb\n blx r0", ""),
    "looks": ("ldr r0, [r1, #36]", "f() looks into saved frames: '(entry, (uint32_t)first.sp)'"),
    "counts": ("clz r0, r1", "f() looks into saved frames: '(entry, (uint32_t)first.sp)'"),
}


@pytest.mark.parametrize(("code", "told"), TAKES.values(), ids=TAKES)
def test_what_starts_the_first_task_looks_into_no_saved_frame(
    code: str, told: str, tmp_path: Path
) -> None:
    """No task has yielded by then. Other assembler gets no saved stack pointer."""
    text = (SOURCES / "running_task.c").read_text()
    use = "struct task first;\nvoid dump(void (*entry)(void), uint32_t sp);\nvoid set(void);\n"
    use += "void f(void (*entry)(void), uint32_t *sp) {\n    first.sp = sp; set();\n"
    use += "    dump(entry, (uint32_t)first.sp); }\n"
    tree = fixture(tmp_path, text + use)
    (tmp_path / "dump.S").write_text(DUMP.format(code))
    tree = replace(tree, files=(*tree.files, tmp_path / "dump.S"))
    assert why_not(tree, "PendSV_Handler") == told


@pytest.mark.parametrize(
    ("variable", "use", "found"),
    [
        ("running", "ldr r0, [r0]\n ldr r0, [r0]\n str r2, [r0, #36]", True),
        ("running", "str r1, [r0]", False),
        ("other", "ldr r0, [r0]\n ldr r0, [r0]\n ldr r0, [r0, #36]", False),
    ],
    ids=["follows", "sets", "another"],
)
def test_assembler_that_finds_tasks_itself_may_look_into_frames(
    variable: str, use: str, found: bool, tmp_path: Path
) -> None:
    tree = fixture(tmp_path, (SOURCES / "running_task.c").read_text())
    code = f"ldr r0, ={variable}\n {use}\n bx lr\n.ltorg"
    (tmp_path / "dump.S").write_text(DUMP.format(code))
    tree = replace(tree, files=(*tree.files, tmp_path / "dump.S"))
    (reason,) = [port.reason for port in tree.port() if port.name == "PendSV_Handler"]
    told = "fast yield by itself (dump() of dump.S is assembler and finds tasks by running"
    assert (told in reason) is found


def test_what_the_compiler_alone_reads_may_look_into_frames(tmp_path: Path) -> None:
    hidden = "extern before();\nvoid f(struct task *t) { t->sp[9] = 3; }"
    assert "f() of switch.c can't be read: does it look into frames?" in why(
        tmp_path, f"{CHOICE}{hidden}"
    )


def test_a_file_may_have_another_idea_of_the_running_task(tmp_path: Path) -> None:
    tree = fixture(tmp_path, (SOURCES / "running_task.c").read_text())
    text = "extern unsigned **running;\nunsigned pc(void) { return (*running)[15]; }\n"
    (tmp_path / "dump.c").write_text(text)
    tree = replace(tree, files=(*tree.files, tmp_path / "dump.c"))
    (reason,) = [port.reason for port in tree.port() if port.name == "PendSV_Handler"]
    assert "fast yield by itself ('extern unsigned **running;' is under another type" in reason


BLOCKS = "struct task tasks[2]{};\n"
TABLE = '__attribute__((section("tcbs")))'
# A file beside the handler's, and how tasks may be reached; "" for their names alone.
REACHED = {
    "an asm label": (
        'extern struct other { unsigned *base; } *volatile other __asm__("running");\n'
        "unsigned pc(void) { return other->base[14]; }\n", "running has a second name",
    ),
    "a section": (BLOCKS.format(f" {TABLE}"), "tasks lies in a section of its own"),
    "a section in front": (f"{TABLE} {BLOCKS.format('')}", "tasks lies in a section of its own"),
    "a section of another": (f"{BLOCKS.format('')}int n {TABLE};\n", ""),
    "a label of another": (f'{BLOCKS.format("")}extern int n __asm__("m");\n', ""),
}  # fmt: skip


@pytest.mark.parametrize("name", REACHED)
def test_tasks_may_have_other_names(name: str, tmp_path: Path) -> None:
    c, told = REACHED[name]
    tree = fixture(tmp_path, (SOURCES / "running_task.c").read_text())
    struct = "" if "label" in name and told else "struct task { unsigned *sp; char name[8]; };\n"
    (tmp_path / "tasks.c").write_text(struct + c)
    tree = replace(tree, files=(*tree.files, tmp_path / "tasks.c"))
    (reason,) = [port.reason for port in tree.port() if port.name == "PendSV_Handler"]
    assert (f"fast yield by itself ({told}" if told else "fast yield through schedule()") in reason


@pytest.mark.parametrize(("text", "name"), CPLUSPLUS.values(), ids=CPLUSPLUS)
def test_cplusplus_may_look_into_frames(text: str, name: str, tmp_path: Path) -> None:
    tree = fixture(tmp_path, (SOURCES / "running_task.c").read_text())
    (tmp_path / "wake.cpp").write_text(text)
    tree = replace(tree, files=(*tree.files, tmp_path / "wake.cpp"))
    (reason,) = [port.reason for port in tree.port() if port.name == "PendSV_Handler"]
    told = f"fast yield by itself (wake.cpp is C++ and has {name}: "
    assert (told in reason) if name else "fast yield through schedule()" in reason


@pytest.mark.parametrize("name", CREATES)
def test_a_new_tasks_frame_is_nobodys_yet(name: str, tmp_path: Path) -> None:
    assert why(tmp_path, CHOICE + CREATES[name]) == ""


def test_a_block_has_several_names(tmp_path: Path) -> None:
    """As FreeRTOS' has."""
    block = "typedef struct task block_t;\ntypedef block_t tcb_t;\nstruct y { int z; };\n"
    text = (SOURCES / "running_task.c").read_text()
    text = text.replace("extern struct task *", f"{block}extern tcb_t *")
    for use, found in (("sp[9]", True), ("next->ticks", False)):
        folder = tmp_path / use[:2]
        assert bool(why(folder, f"int f(tcb_t *t) {{ return t->{use}; }}", text=text)) is found


def test_freertos_kernel_only_compares(tmp_path: Path) -> None:
    tree = freertos(tmp_path)
    assert why_not(tree, "PendSV_Handler") == ""
    tasks = tree.files[2]
    wakes = b"int f(TCB_t *t) { return t->pxTopOfStack[9]; }\n"
    tasks.write_bytes(tasks.read_bytes() + wakes)
    assert why_not(tree, "PendSV_Handler").startswith("f() looks into saved frames")


def test_the_member_is_the_one_that_the_handler_saves_to(tmp_path: Path) -> None:
    second = "second_word.c"
    assert "f()" in why(tmp_path, "void f(struct task *t) { t->sp[9] = 1; }", second)
    other = "struct x { int y; };\nvoid f(struct task *t) { ((struct x *)t->state)->y = 1; }"
    assert why(tmp_path, other, second) == ""


@pytest.mark.parametrize(
    ("code", "c"),
    [
        ("core\\n ldr r1, [r1]\\n adds r1, #4", "struct core *core;"),
        ("core + 4", "struct core core;"),
        ("core\\n ldr r1, [r1]", "struct task **core;"),
    ],
    ids=["pointer", "struct", "pointers"],
)
def test_the_block_may_be_two_pointers_away(code: str, c: str, tmp_path: Path) -> None:
    text = (SOURCES / "running_task.c").read_text().replace("=running", f"={code}")
    cores = "struct core { int n; struct task *now; };\n"
    text = text.replace("extern struct task *volatile running;", f"{cores}extern {c}")
    for use, found in (("sp[9]", True), ("ticks", False)):
        assert (
            bool(why(tmp_path, f"int f(struct task *t) {{ return t->{use}; }}", text=text)) is found
        )


@pytest.mark.parametrize("place", ["stacks[running]", "now->sp", "now->both[running]"])
def test_what_gets_the_stack_pointer_keeps_it_where_others_look(place: str, tmp_path: Path) -> None:
    text = (SOURCES / "stack_in_stack_out.c").read_text().replace("stacks[running]", place)
    text = f"struct t {{ uint32_t *sp, *both[2]; }} *now;\n{text}"
    text = f"#include <stdint.h>\n{text}"
    assert why(tmp_path, "", text=text) == ""
    found = why(tmp_path, f"void f(void) {{ {place}[9] = 1; }}", text=text)
    assert found.startswith("f() looks into saved frames")


@pytest.mark.parametrize("name", OPENS)
def test_a_choice_that_opens_interrupts_isnt_made_in_user_mode(name: str, tmp_path: Path) -> None:
    assert why(tmp_path, OPENS[name]).endswith("which choosing a task may call, opens interrupts")


@pytest.mark.parametrize("name", RESTORES)
def test_a_lock_that_restores_what_it_found_is_right(name: str, tmp_path: Path) -> None:
    assert why(tmp_path, RESTORES[name]) == ""


RESUMES = """
__attribute__((naked)) void {}(void)
{{
    __asm volatile("ldr r1, =running\\n ldr r2, [r1]\\n ldr r0, [r2]\\n"
                   "ldmia r0!, {{r4-r11, lr}}\\n msr psp, r0\\n bx lr\\n .ltorg");
}}
"""
SWITCHES = (SOURCES / "running_task.c").read_text().split("__attribute__")[1]


def reason(folder: Path, text: str, more: str = "", **served: int) -> str:
    """What a report says of the switch handler, with more handlers in front of the start; `served`:
    the vector table."""
    start = "__attribute__((naked)) void start"
    tree = fixture(folder, text.replace(start, f"{more}{start}"))
    vectors = Vectors(told=served.items())
    ports = transcribe_project(tree.root, tree.files, tree.options, vectors)
    assert {port.status for port in ports} == {"rewritten"}
    return next(port.reason for port in ports if port.role == "switch")


def test_nobody_else_resumes_tasks(tmp_path: Path) -> None:
    """The library completes frames of yields behind supervisor calls and PendSV's vector only."""
    text = (SOURCES / "running_task.c").read_text()
    found = reason(tmp_path / "resumes", text, RESUMES.format("EXTI1_IRQHandler"))
    assert "fast yield by itself (EXTI1_IRQHandler() of switch.c resumes tasks, too" in found
    second = "__attribute__" + SWITCHES.replace("PendSV_Handler", "SysTick_Handler")
    found = reason(tmp_path / "switches", text, second)
    assert "fast yield by itself (SysTick_Handler() of switch.c resumes tasks, too" in found


def test_each_handler_without_a_yield_says_why(tmp_path: Path) -> None:
    text = (SOURCES / "running_task.c").read_text()
    second = "__attribute__" + SWITCHES.replace("PendSV_Handler", "SysTick_Handler")
    start = "__attribute__((naked)) void start"
    found = fixture(tmp_path, text.replace(start, f"{second}{start}")).port()
    (other,) = (it for it in found if it.name == "SysTick_Handler" and it.start < it.end)
    assert "no fast yield: yields come to PendSV_Handler()" in other.reason


def test_a_reason_is_told_once(tmp_path: Path) -> None:
    asks = (
        'void schedule(void) { uint32_t m; __asm("mrs %0, primask" : "=r"(m)); if (m) for (;;); }'
    )
    found = reason(tmp_path, (SOURCES / "running_task.c").read_text() + asks)
    assert found.count("which asks for PRIMASK") == 1


TICK = """
    .syntax unified
    .thumb
    .global tick
    .type tick, %function
tick:
    ldr r1, =running
    ldr r0, [r1]
    ldr r0, [r0]
    ldmia r0!, {r4-r11, lr}
    msr psp, r0
    bx lr
"""
NAKED = '__attribute__((naked)) void tick(void) {{ __asm volatile("{}"); }}\n'
ELSEWHERE = {
    "assembler": ("tick.S", TICK, "tick() of tick.S"),
    "C": ("tick.c", "extern int *running;" + RESUMES.format("tick"), "tick() of tick.c"),
    "escalated": ("tick.c", NAKED.format("msr psp, r0\\n wfi\\n bx lr"), "tick() of tick.c"),
    "main stack": ("tick.c", NAKED.format("mov sp, r0\\n pop {r4-r11, pc}"), "tick() of tick.c"),
    "can't be read": ("tick.c", '#include "psp.h"\n' + NAKED, "tick.c can't be compiled"),
}  # fmt: skip


@pytest.mark.parametrize("name", ELSEWHERE)
def test_nobody_else_resumes_tasks_elsewhere(name: str, tmp_path: Path) -> None:
    """Whatever becomes of the other handler."""
    file, text, told = ELSEWHERE[name]
    tree = fixture(tmp_path, (SOURCES / "running_task.c").read_text())
    (tmp_path / file).write_text(text)
    tree = replace(tree, files=(*tree.files, tmp_path / file))
    vectors = Vectors(told=[("tick", 15)])
    ports = transcribe_project(tree.root, tree.files, tree.options, vectors)
    (found,) = [port for port in ports if port.name == "PendSV_Handler"]
    assert f"fast yield by itself ({told}" in found.reason


def test_an_alternative_of_the_handler_is_no_other(tmp_path: Path) -> None:
    text = (SOURCES / "running_task.c").read_text()
    tree = fixture(tmp_path, text)
    (tmp_path / "other.c").write_text(text)
    tree = replace(tree, files=(*tree.files, tmp_path / "other.c"))
    reasons = [port.reason for port in tree.port() if port.role == "switch"]
    assert len(reasons) == 2 and all("fast yield through schedule()" in it for it in reasons)


def test_the_vector_table_says_who_serves_what(tmp_path: Path) -> None:
    """The library asks the pick where PendSV's vector would have run the handler."""
    text = (SOURCES / "running_task.c").read_text()
    own = text.replace("PendSV_Handler", "my_switch")
    fast, slow = "fast yield through schedule()", "says that my_switch() serves PendSV"
    assert fast in reason(tmp_path / "PendSV", own, my_switch=PENDSV)
    assert slow in reason(tmp_path / "tick", own, my_switch=15)
    assert slow in reason(tmp_path / "nobody", own)
    found = reason(tmp_path / "second", text, RESUMES.format("resume"), resume=PENDSV)
    assert "fast yield by itself (resume() of switch.c resumes tasks, too" in found
    assert fast in reason(tmp_path / "call", text, RESUMES.format("resume"), resume=SVC)


def test_a_start_wants_the_supervisor_calls_handler(tmp_path: Path) -> None:
    tree = fixture(tmp_path, (SOURCES / "running_task.c").read_text())
    for number, expected in ((SVC, "rewritten"), (15, "escalated")):
        vectors = Vectors(told=[("SVC_Handler", number)])
        ports = transcribe_project(tree.root, tree.files, tree.options, vectors)
        (start,) = [port for port in ports if port.role == "start"]
        assert start.status == expected


def test_a_handler_of_whatever_name_serves_the_only_call(tmp_path: Path) -> None:
    text = (SOURCES / "running_task.c").read_text().replace("SVC_Handler", "first_of_all")
    assert "fast yield through schedule()" in reason(tmp_path, text)


def test_a_yield_without_proof_costs_no_more_than_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> int:
        raise NotProved("it strays")

    monkeypatch.setattr("porter.context_switch.proved.prove_pick", refuse)
    found = reason(tmp_path, (SOURCES / "running_task.c").read_text())
    assert "fast yield by itself (not proved, it strays); proved: equal from" in found
