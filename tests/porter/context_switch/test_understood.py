"""What chooses the next task gets a fast yield only if all that it may do is known and harmless."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.porter.context_switch.cases import SOURCES
from tests.porter.context_switch.test_why_no_fast_yield import why, why_not
from tests.porter.context_switch.trees import KERNEL, fixture, freertos

BLOCK = """uint32_t *limit, words, state, bits[2]; struct task *next; char label[8];"""
HEAD = """
struct queue { struct task *first, *last; unsigned count; };
typedef struct task *handle;
struct task tasks[4];
static uint32_t stacks[4][64], ready[2];
struct queue queues[8];
static void list_of(int i) { tasks[i].limit = stacks[i]; }
"""
MAKES = "static uint32_t *make(uint32_t *top) { *--top = 1u << 24; return top - 16; }\n"
UNKNOWN = {
    "alias": ('void other(void) { }\nvoid schedule(void) __attribute__((alias("other")));',
              "no body of schedule() in C"),
    "library": ("void *memcpy(void *, const void *, unsigned);\n"
                "void schedule(void) { memcpy(tasks, tasks + 1, 4); }", "no body of memcpy() in C"),
    "missing": ("void log_it(void);\nvoid schedule(void) { log_it(); }", "no body of log_it()"),
    "pointer": ("struct { void (*f)(void); } hooks;\nvoid schedule(void) { hooks.f(); }",
                "calls through a pointer: 'hooks.f()'"),
    "parameter": ("static void run(void (*f)(void)) { f(); }\nvoid f(void) { }\n"
                  "void schedule(void) { run(f); }", "calls through a pointer: 'f()'"),
    "a pointer of a type's name": (
        "typedef unsigned word;\nstatic void call(void (*word)(int)) { (word)(1); }\n"
        "void f(int i) { }\nvoid schedule(void) { call(f); }", "calls through a pointer"),
    "hook": ("void (*hook)(void);\nvoid schedule(void) { hook(); }", "no body of hook()"),
    "asm": ('void schedule(void) { __asm volatile("udf #0"); }', "has asm"),
    "asm calls": ('void schedule(void) { __asm volatile("bl other" ::: "lr"); }', "has asm"),
    "the stack by asm": ('void schedule(void) { uint32_t r; __asm("mov %0, sp" : "=r"(r));\n'
                         "    tasks[0].state = r; }", "has asm"),
    "a frame": (f"{MAKES}void schedule(void) {{ running->sp = make(running->limit); }}",
                "make(), which choosing a task may call, writes through a pointer: '*--top ="),
    "a struct frame": ("void schedule(void) { struct frame *f = (void *)running->limit;\n"
                       "    f->r0 = 0; }", "writes through a pointer: 'f->r0 = 0'"),
    "wipes": ("void schedule(void) { for (unsigned n = 0; n < running->words; n++)\n"
              "    running->limit[n] = 0; }", "writes through a pointer"),
    "wipes an array": ("void schedule(void) { stacks[1][3] = 0; }", "writes through a pointer"),
    "RAM by number": ("void schedule(void) { *(uint32_t *)0x20000400 = 0; }", "writes through a"),
    "wipes as structs": (
        "struct fill { uint32_t w; } pattern;\nvoid schedule(void) {\n"
        "    struct fill *b = (struct fill *)running->limit;\n"
        "    for (; b < (struct fill *)running->sp; b++) b->w = pattern.w; }",
        "writes through a pointer: 'b->w = pattern.w'"),
    "sets a struct": ("struct area { uint32_t a[32]; } zero;\n"
                      "void schedule(void) { *(struct area *)running->limit = zero; }",
                      "writes through a pointer: '*(struct area *)running->limit"),
    "a struct in one": ("struct word { uint32_t w; }; struct area { struct word in[4]; } zero;\n"
                        "void schedule(void) { ((struct area *)tasks[1].limit)->in[1].w = 0; }",
                        "writes through a pointer"),
    "is handed a cast": ("static void wipe(struct queue *q) { q->count = 0; }\n"
                         "void schedule(void) { wipe((struct queue *)running->limit); }",
                         "wipe(), which choosing a task may call, writes through a pointer"),
    "is handed a place": ("static void wipe(struct queue *q) { q->count = 0; }\n"
                          "void schedule(void) { void *p = running->limit; wipe(p); }",
                          "wipe(), which choosing a task may call, writes through a pointer"),
    "gets a cast": ("static struct queue *of(void) { return (void *)running->limit; }\n"
                    "void schedule(void) { of()->count = 0; }", "writes through a pointer"),
    "a cast kept": ("struct queue *q; void keep(void) { q = (struct queue *)running->limit; }\n"
                    "void schedule(void) { q->count = 0; }", "writes through a pointer"),
    "a cast kept, by a local": (
        "struct queue *q; void keep(void) { uint32_t *p = running->limit;\n"
        "    q = (struct queue *)p; }\n"
        "void schedule(void) { q->count = 0; }", "writes through a pointer"),
    "a place kept": (
        "struct queue *q; void keep(void) { void *p = running->limit; q = p; }\n"
        "void schedule(void) { q->count = 0; }", "writes through a pointer"),
    "a place kept, handed over": (
        "struct queue *q; static void set(void *p) { q = p; }\n"
        "void keep(void) { set(running->limit + 2); }\n"
        "void schedule(void) { q->count = 0; }", "writes through a pointer"),
    "a place kept, a result": (
        "struct queue *q; static void *of(struct task *t) { return t->limit; }\n"
        "void keep(void) { q = of(running); }\n"
        "void schedule(void) { q->count = 0; }", "writes through a pointer"),
    "a place kept twice": (
        "struct queue *q; void *area; void keep(void) { area = running->limit; q = area; }\n"
        "void schedule(void) { q->count = 0; }", "writes through a pointer"),
    "a place of an array": (
        "struct queue *q; struct { void *area; } s; void keep(int i) { s.area = stacks[i]; }\n"
        "void use(void) { q = s.area; }\n"
        "void schedule(void) { q->count = 0; }", "writes through a pointer"),
    "a place handed over": (
        "struct queue *q; struct { void *area; } s;\n"
        "void keep(uint32_t *low) { s.area = low; }\nvoid use(void) { q = s.area; }\n"
        "void schedule(void) { q->count = 0; }", "writes through a pointer"),
    "a member's place": (
        "struct holder { struct queue *q; } s;\n"
        "void keep(void) { void *p = running->limit; s.q = p; }\n"
        "void schedule(void) { s.q->count = 0; }", "writes through a pointer"),
    "far from a struct": (
        "void schedule(void) { ((struct queue *)((char *)running - ready[0]))->count = 0; }",
        "writes through a pointer"),
    "asm's pointer": ("void schedule(void) { struct queue *q;\n"
                      '    __asm("mov %0, #64" : "=r"(q)); q->count = 0; }',
                      "writes through a pointer"),
    "asks for its stack": ("extern uint32_t low[]; void schedule(void) { uint32_t here;\n"
                           "    if ((uint32_t)&here < (uint32_t)low) for (;;); }",
                           "takes the address of a local variable: 'here'"),
    "an array of its own": ("extern uint32_t low[]; void schedule(void) { uint32_t here[2];\n"
                            "    if (here < low) for (;;); }", "takes the address of a local"),
    "a frame of GCC": ("void schedule(void) {\n"
                       "    running->state = (uint32_t)__builtin_frame_address(0); }",
                       "no body of __builtin_frame_address()"),
}  # fmt: skip
HARMLESS = {
    "lists": "static void append(struct queue *q, struct task *t) {\n"
             "    if (q->last) q->last->next = t; else q->first = t;\n"
             "    q->last = t; q->count++; }\n"
             "void schedule(void) { append(&queues[1], running); running = queues[1].first; }",
    "handles": "void schedule(void) { handle t = running; t->state = 1; t->words = 2; }",
    "arrays": "void schedule(void) { static int i; ready[i] |= 1u << 3; running->bits[1] = 0;\n"
              "    do i = (i + 1) % 4; while (!tasks[i].state); running = &tasks[i];\n"
              "    running->label[0]++; tasks[2].state = 1; }",
    "locals": "struct pair { int a, b[2]; }; void schedule(void) { struct pair p; int n[2];\n"
              "    p.a = 1; p.b[1] = 2; n[1] = p.b[1]; running = &tasks[n[1] & 3]; }",
    "lists of nodes": "struct node { struct node *next; } head;\n"
                      "struct timed { int when; struct node node; } timers[2];\n"
                      "static struct timed *first(void) {\n"
                      "    return head.next ? (struct timed *)((char *)head.next - 4) : 0; }\n"
                      "static void mark(struct timed *t) { t->when++; }\n"
                      "void schedule(void) { struct timed *t = first(); mark(t); t->when++;\n"
                      "    mark(&timers[1]); (timers + 1)->node.next = &head; t = timers;\n"
                      "    for (; t < timers + 2; t++) t->when = 0; }",
    "a pool elsewhere": "static void count(struct queue *q) { q->count++; }\n"
                        "void make(void) { count((struct queue *)stacks[3]); }\n"
                        "void schedule(void) { count(&queues[2]); }",
    "owners": "struct item { void *owner; } items[3]; struct task *of; void *alloc(unsigned);\n"
              "struct task *create(void) { struct task *t = alloc(64);\n"
              "    items[0].owner = t; items[1].owner = &tasks[2]; return t; }\n"
              "void pick(int i) { of = items[i].owner; }\n"
              "void schedule(void) { of->state = 1; running = of; }",
    "a pool of bytes": "static char pool[512]; static unsigned used; struct queue *q;\n"
                       "static void *alloc(unsigned n) { char *p = pool + used; used += n;\n"
                       "    return p; }\n"
                       "void make(void) { q = alloc(sizeof *q); }\n"
                       "void schedule(void) { q->count++; }",
    "pulls a pin": "struct gpio { volatile uint32_t out; };\n"
                   "void schedule(void) { ((struct gpio *)0x40020000)->out = 1; }",
    "casts": "typedef unsigned word_t; typedef word_t word;\n"
             "void schedule(void) { running = &tasks[((word)(1U) << 1) & (word)(ready[0])]; }",
    "counts zeros": "static int top(uint32_t m) { int n;\n"
                    '    __asm("clz %0, %1\\n\\tdsb sy" : "=r"(n) : "r"(m)); return n; }\n'
                    "void schedule(void) { running = &tasks[top(ready[0]) + __builtin_ctz(4)]; }",
    "looks for an overflow": "void schedule(void) { const uint32_t *const p = running->limit;\n"
                             "    if (p[0] != 0xA5A5A5A5) for (;;); }",
}  # fmt: skip


def reason(folder: Path, c: str) -> str:
    text = (SOURCES / "running_task.c").read_text().replace("char name[8];", BLOCK)
    return why(folder, f"{HEAD}{c}", text=text)


@pytest.mark.parametrize("name", UNKNOWN)
def test_in_doubt_there_is_none(name: str, tmp_path: Path) -> None:
    c, told = UNKNOWN[name]
    assert told in reason(tmp_path, c)


@pytest.mark.parametrize("name", HARMLESS)
def test_what_is_understood_is_fast(name: str, tmp_path: Path) -> None:
    assert reason(tmp_path, HARMLESS[name]) == ""


@pytest.mark.parametrize(
    "head", [".global pick\n    .thumb_func\npick:\n    str r0, [r0]", "pick:"]
)
def test_a_body_in_assembler_isnt_read(head: str, tmp_path: Path) -> None:
    """That does more than to calculate, or of which only its own file knows."""
    text = (SOURCES / "running_task.c").read_text()
    calls = "void pick(void);\nvoid schedule(void) { pick(); }\n"
    tree = fixture(tmp_path, f"{text}{calls}")
    (tmp_path / "pick.S").write_text(
        f"    .thumb\n    .type pick, %function\n    {head}\n    bx lr\n"
    )
    tree = replace(tree, files=(*tree.files, tmp_path / "pick.S"))
    assert why_not(tree, "PendSV_Handler").startswith("no body of pick() in C")


def test_a_pick_that_writes_primask_has_none(tmp_path: Path) -> None:
    """The library holds VCT off by it until the chosen task's stack is in use."""
    text = (SOURCES / "running_task.c").read_text().replace("char name[8];", "uint32_t primask;")
    load = next(it for it in text.splitlines() if "ldr r0, [r2]" in it)
    text = text.replace(load, f'"ldr r3, [r2, #4]\\n msr primask, r3\\n"\n{load}', 1)
    assert "msr primask" in text
    assert why(tmp_path, "", text=text) == "choosing the next task writes PRIMASK"


CONFIGURED = {
    "plain": {},
    "overflow 1": {"configCHECK_FOR_STACK_OVERFLOW": "1"},
    "overflow 2": {
        "configCHECK_FOR_STACK_OVERFLOW": "2", "configUSE_PORT_OPTIMISED_TASK_SELECTION": "0"},
    "statistics": {
        "configGENERATE_RUN_TIME_STATS": "1", "portGET_RUN_TIME_COUNTER_VALUE()": "now()",
        "portCONFIGURE_TIMER_FOR_RUN_TIME_STATS()": "(void)0\nuint32_t now(void);"},
}  # fmt: skip
COUNTER = b"uint32_t now(void) { return *(volatile uint32_t *)0x40001024; }\n"


@pytest.mark.parametrize("name", CONFIGURED)
def test_freertos_keeps_its_fast_yield(name: str, tmp_path: Path) -> None:
    tree = freertos(tmp_path)
    config = tmp_path / "FreeRTOSConfig.h"
    text = config.read_text()
    for macro in CONFIGURED[name]:
        text = re.sub(rf"(?m)^#define\s+{re.escape(macro)}\s.*$", "", text)
    defined = "".join(f"#define {macro} {value}\n" for macro, value in CONFIGURED[name].items())
    config.write_text(text.replace("#endif", f"{defined}#endif") if "#endif" in text[-30:]
                      else text + defined)  # fmt: skip
    tasks = tree.files[2]
    tasks.write_bytes(tasks.read_bytes() + COUNTER)
    assert why_not(tree, "PendSV_Handler") == ""


ALL_OF_IT = """
#define INCLUDE_vTaskDelete 1
#define INCLUDE_xTaskAbortDelay 1
#define INCLUDE_uxTaskGetStackHighWaterMark 1
#define configUSE_TIMERS 1
#define configTIMER_TASK_PRIORITY 3
#define configTIMER_QUEUE_LENGTH 4
#define configTIMER_TASK_STACK_DEPTH 128
#define configUSE_MUTEXES 1
#define configUSE_COUNTING_SEMAPHORES 1
#define configUSE_QUEUE_SETS 1
#define configUSE_TRACE_FACILITY 1
#define configQUEUE_REGISTRY_SIZE 4
#define configUSE_APPLICATION_TASK_TAG 1
#define configNUM_THREAD_LOCAL_STORAGE_POINTERS 2
"""


@pytest.mark.parametrize("heap", ["heap_4.c", ""])
def test_freertos_with_all_its_files_keeps_its_fast_yield(heap: str, tmp_path: Path) -> None:
    """What frees a task, and what timers and queues keep of one, is no saved stack pointer."""
    tree = freertos(tmp_path)
    config = tmp_path / "FreeRTOSConfig.h"
    text = config.read_text()
    for macro in re.findall(r"#define (\w+)", ALL_OF_IT):
        text = re.sub(rf"(?m)^#define\s+{macro}\s.*$", "", text)
    config.write_text(text + ALL_OF_IT)
    files = [file for file in KERNEL.glob("*.c") if file.name != "tasks.c"]
    files += [KERNEL / "portable" / "MemMang" / heap] if heap else []
    headers = (KERNEL / "include").glob("*.h")
    whole = replace(tree, files=(*tree.files, *files, *headers))
    assert why_not(whole, "PendSV_Handler") == ""


ASSEMBLER = {
    "counts": ("clz r1, r0\n movs r0, #31\n subs r0, r1\n bx lr", True),
    "under a condition": ("cmp r0, #0\n it eq\n moveq r0, #1\n bx lr", True),
    "fetches": ("ldr r0, [r0]\n bx lr", False),
    "a constant from behind": ("ldr r0, =0x12345678\n bx lr", False),
    "an address": ("movw r0, #:lower16:running\n bx lr", False),
    "its stack": ("mov r0, sp\n bx lr", False),
    "opens": ("cpsie i\n bx lr", False),
    "goes on": ("clz r0, r0\n b schedule", False),
    "falls through": ("clz r0, r0", False),
}


@pytest.mark.parametrize(("code", "harmless"), ASSEMBLER.values(), ids=ASSEMBLER)
def test_assembler_that_only_calculates_is_understood(
    code: str, harmless: bool, tmp_path: Path
) -> None:
    text = (SOURCES / "running_task.c").read_text().replace("char name[8];", BLOCK)
    use = "unsigned top(unsigned);\nvoid schedule(void) { running = &tasks[top(ready[0])]; }\n"
    tree = fixture(tmp_path, f"{text}{HEAD}{use}")
    (tmp_path / "top.S").write_text(
        ".syntax unified\n.thumb\n.global top\n.type top, %function\n"
        f"top:\n {code}\n"
        ".global other\n.type other, %function\nother:\n ldr r0, [r0]\n bx lr\n"
    )
    tree = replace(tree, files=(*tree.files, tmp_path / "top.S"))
    told = why_not(tree, "PendSV_Handler")
    assert (told == "") is harmless, told
