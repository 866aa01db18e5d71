/* Counts what happens between two places of a program that QEMU runs: instructions, exceptions,
 * words loaded and stored. A place is the address of an instruction, the entry of an exception, or
 * the first instruction outside of a range of code or, for what is `left`, the next exception's, if
 * that comes first. The program that is measured doesn't know.
 *
 * An exception of code with FPU state leaves room for S0-S15 and FPSCR (ARMv7-M ARM B1.5.7): they
 * are stored when its handler uses the FPU, and loaded at the return. Both are counted where
 * handlers store S16-S31, and load them. QEMU doesn't show such accesses.
 *
 * Arguments: config=PATH, a text of lines in the form that read_config understands, and out=PATH,
 * which benchmarks/samples.py decodes. The run ends with status 0 when every span has its samples,
 * with status 3 when it reached the limit of instructions before.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qemu_plugin.h"

EXPORTED int qemu_plugin_version = QEMU_PLUGIN_API;

#define SPANS 64
#define PLACES 512
#define POINTS (1u << 20) /* of code, by halfword */
#define HISTORY (1u << 14)
#define SYSTICK 15u
#define FIRST_LINE 16u
#define LIMIT_REACHED 3
#define LAZY_WORDS 17u /* S0-S15, FPSCR */
#define WARM 9u        /* the sample whose path is kept: the first ones may be different */

struct counters {
    uint32_t instructions, exceptions, loads, stores, ticks;
};

struct path { /* the addresses of the instructions of one sample */
    uint32_t length, pc[HISTORY];
};

struct span {
    int open;
    struct counters start;
    uint32_t count, undisturbed, longest;
    struct counters *sample;
    struct path typical, slowest;
};

struct place { /* of a span, by the address of an instruction */
    uint32_t pc, span;
    int stops;
};

struct point { /* an instruction */
    uint32_t pc, exception;
    uint64_t starts, stops;
    int outside;     /* of the kernel */
    int handler_fpu; /* an instruction of the FPU in a handler */
};

struct range {
    uint32_t start, end;
};

static struct span span[SPANS];
static uint32_t spans, wanted, ready;
static size_t room_for; /* samples of a span */
static uint64_t limit, executed;
static uint32_t kernel_start, kernel_end;
static uint64_t start_at_line, start_at_tick, stop_outside, stop_left, open_spans;
static struct place place[PLACES];
static uint32_t places;
static uint32_t entry[256];
static struct range handler[256]; /* code of handlers */
static uint32_t handlers;
static int lazy_stored, lazy_loaded; /* since the last exception */
static struct point *point[POINTS];
static struct counters now;
static uint32_t history[HISTORY];
static const char *out_path;

static void *room(size_t bytes)
{
    void *found = malloc(bytes);
    if (found == NULL) {
        fputs("measure: no memory\n", stderr);
        exit(1);
    }
    return found;
}

static void write_path(FILE *file, const struct path *path)
{
    fwrite(&path->length, sizeof path->length, 1, file);
    fwrite(path->pc, sizeof path->pc[0], path->length, file);
}

static void finish(int status)
{
    FILE *file = fopen(out_path, "wb");
    if (file == NULL) {
        exit(1);
    }
    fwrite(&spans, sizeof spans, 1, file);
    for (uint32_t i = 0; i < spans; i++) {
        fwrite(&span[i].count, sizeof span[i].count, 1, file);
        fwrite(span[i].sample, sizeof *span[i].sample, span[i].count, file);
        write_path(file, &span[i].typical);
        write_path(file, &span[i].slowest);
    }
    exit(fclose(file) == 0 ? status : 1);
}

static void keep_path(struct path *path, uint32_t length)
{
    if (length > HISTORY) {
        length = HISTORY;
    }
    for (uint32_t i = 0; i < length; i++) {
        path->pc[i] = history[(executed - length + i) % HISTORY];
    }
    path->length = length;
}

static void stop(struct span *which)
{
    struct counters sample = {
        .instructions = now.instructions - which->start.instructions,
        .exceptions = now.exceptions - which->start.exceptions,
        .loads = now.loads - which->start.loads,
        .stores = now.stores - which->start.stores,
        .ticks = now.ticks - which->start.ticks,
    };
    if (which->undisturbed >= wanted || which->count == room_for) {
        return;
    }
    which->sample[which->count++] = sample;
    if (sample.ticks != 0) {
        return;
    }
    which->undisturbed++;
    if (which->undisturbed == WARM) {
        keep_path(&which->typical, sample.instructions);
    }
    if (which->undisturbed >= WARM && sample.instructions > which->longest) {
        which->longest = sample.instructions;
        keep_path(&which->slowest, sample.instructions);
    }
    if (which->undisturbed == wanted && ++ready == spans) {
        finish(0);
    }
}

static void stop_all(uint64_t which)
{
    which &= open_spans;
    open_spans &= ~which;
    for (uint32_t i = 0; which != 0; i++, which >>= 1) {
        if ((which & 1u) != 0) {
            stop(&span[i]);
        }
    }
}

/* Of several starts the last one counts: a task that yields passes its own start again. */
static void start_all(uint64_t which)
{
    open_spans |= which;
    for (uint32_t i = 0; which != 0; i++, which >>= 1) {
        if ((which & 1u) != 0) {
            span[i].start = now;
        }
    }
}

static void on_instruction(unsigned int cpu, void *data)
{
    (void)cpu;
    const struct point *here = data;
    if (here->exception != 0) { /* before the stops: a handler may begin with its mark */
        stop_all(stop_left);
        now.ticks += here->exception == SYSTICK; /* disturbs what is open, not what starts here */
        start_all(here->exception >= FIRST_LINE ? start_at_line
                  : here->exception == SYSTICK  ? start_at_tick
                                                : 0);
        now.exceptions++;
        lazy_stored = lazy_loaded = 0;
    }
    if (here->stops != 0) {
        stop_all(here->stops);
    }
    if (here->outside && (open_spans & (stop_outside | stop_left)) != 0) {
        stop_all(stop_outside | stop_left);
    }
    if (here->starts != 0) {
        start_all(here->starts);
    }
    history[executed++ % HISTORY] = here->pc;
    now.instructions++;
    if (executed == limit) {
        finish(LIMIT_REACHED);
    }
}

static void count_access(unsigned int cpu, uint32_t access, uint64_t address, void *data)
{
    (void)cpu;
    (void)address;
    const struct point *here = data;
    uint32_t words = qemu_plugin_mem_size_shift(access) > 2 ? 2 : 1;
    if (qemu_plugin_mem_is_store(access)) {
        now.stores += words;
        if (here->handler_fpu && !lazy_stored) {
            lazy_stored = 1;
            now.stores += LAZY_WORDS;
        }
    } else {
        now.loads += words;
        if (here->handler_fpu && !lazy_loaded) {
            lazy_loaded = 1;
            now.loads += LAZY_WORDS;
        }
    }
}

/* Coprocessors 10 and 11 (ARMv7-M ARM A5.3.18). */
static int is_fpu(const struct qemu_plugin_insn *instruction)
{
    const uint8_t *code = qemu_plugin_insn_data(instruction);
    return qemu_plugin_insn_size(instruction) == 4 && (code[1] & 0xECu) == 0xECu &&
           (code[3] & 0x0Eu) == 0x0Au;
}

static int in_handler(uint32_t pc)
{
    for (uint32_t i = 0; i < handlers; i++) {
        if (pc >= handler[i].start && pc < handler[i].end) {
            return 1;
        }
    }
    return 0;
}

static struct point *point_at(uint32_t pc)
{
    struct point **slot = &point[pc / 2u % POINTS];
    if (*slot != NULL && (*slot)->pc == pc) {
        return *slot;
    }
    struct point *made = room(sizeof *made);
    *made = (struct point){.pc = pc, .outside = pc < kernel_start || pc >= kernel_end};
    for (uint32_t i = 0; i < places; i++) {
        if (place[i].pc == pc) {
            *(place[i].stops ? &made->stops : &made->starts) |= 1ull << place[i].span;
        }
    }
    for (uint32_t i = 0; i < sizeof entry / sizeof entry[0]; i++) {
        if (entry[i] == pc) {
            made->exception = i;
        }
    }
    *slot = made;
    return made;
}

static void on_translation(qemu_plugin_id id, struct qemu_plugin_tb *block)
{
    (void)id;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, i);
        struct point *here = point_at((uint32_t)qemu_plugin_insn_vaddr(instruction));
        here->handler_fpu = is_fpu(instruction) && in_handler(here->pc);
        qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_instruction, PLUGIN_NO_REGISTERS,
                                               here);
        qemu_plugin_register_vcpu_mem_cb(instruction, count_access, PLUGIN_NO_REGISTERS,
                                         PLUGIN_ACCESSES, here);
    }
}

/* "0x..." is an address; line, tick, outside and left are the other places. */
static int add_place(uint32_t number, const char *where, int stops)
{
    if (number >= SPANS || places == PLACES) {
        return 0;
    }
    if (number >= spans) {
        spans = number + 1u;
    }
    if (strcmp(where, "line") == 0) {
        start_at_line |= 1ull << number;
    } else if (strcmp(where, "tick") == 0) {
        start_at_tick |= 1ull << number;
    } else if (strcmp(where, "outside") == 0) {
        stop_outside |= 1ull << number;
    } else if (strcmp(where, "left") == 0) {
        stop_left |= 1ull << number;
    } else {
        uint32_t pc = (uint32_t)strtoul(where, NULL, 16);
        place[places++] = (struct place){.pc = pc, .span = number, .stops = stops};
    }
    return 1;
}

static int read_config(const char *path)
{
    char word[16], first[24], second[24];
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return 0;
    }
    int good = 1;
    memset(entry, 0xFF, sizeof entry);
    while (good && fscanf(file, "%15s %23s %23s", word, first, second) == 3) {
        if (strcmp(word, "start") == 0 || strcmp(word, "stop") == 0) {
            good = add_place((uint32_t)strtoul(first, NULL, 10), second, strcmp(word, "stop") == 0);
        } else if (strcmp(word, "kernel") == 0) {
            kernel_start = (uint32_t)strtoul(first, NULL, 16);
            kernel_end = (uint32_t)strtoul(second, NULL, 16);
        } else if (strcmp(word, "entry") == 0) {
            entry[strtoul(second, NULL, 10) % 256u] = (uint32_t)strtoul(first, NULL, 16);
        } else if (strcmp(word, "handler") == 0) {
            good = handlers < sizeof handler / sizeof handler[0];
            if (good) {
                handler[handlers++] = (struct range){(uint32_t)strtoul(first, NULL, 16),
                                                     (uint32_t)strtoul(second, NULL, 16)};
            }
        } else if (strcmp(word, "count") == 0) {
            wanted = (uint32_t)strtoul(first, NULL, 10);
            limit = strtoull(second, NULL, 10);
        } else {
            good = 0;
        }
    }
    good = good && feof(file) && spans != 0 && wanted != 0;
    fclose(file);
    return good;
}

int qemu_plugin_install(qemu_plugin_id id, const void *info, int count, char **arguments)
{
    (void)info;
    if (count != 2 || strncmp(arguments[0], "config=", 7) != 0 ||
        strncmp(arguments[1], "out=", 4) != 0 || !read_config(arguments[0] + 7)) {
        return 1;
    }
    room_for = wanted * (size_t)2; /* disturbed ones among them */
    for (uint32_t i = 0; i < spans; i++) {
        span[i].sample = room(room_for * sizeof *span[i].sample);
    }
    out_path = strdup(arguments[1] + 4);
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    return 0;
}
