/* Watches a composed system in QEMU: who runs, how the kernel is entered, how long it takes.
 *
 * Lanes are told by the address of the code. An entry of the kernel is a block that starts where an
 * entry of the vector table points, so it is seen even if it follows another without a thread in
 * between. Registers can't be read here; which line, thread or domain the kernel deals with is told
 * by the element of its table that it reads. The instruction counter is an inline addition before
 * every instruction, so it is exact where a block is left in its middle.
 *
 * With -icount QEMU translates an access to a device anew, as a block of its own without callbacks,
 * since the instruction was counted. An interrupt that comes just then gets this for its entry:
 * that its first instruction ran is seen at the second, and it was counted with the access.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "qemu_plugin.h"
#include "shared.h"
#include "spans.h"

EXPORTED int qemu_plugin_version = QEMU_PLUGIN_API;

/* A callback's one pointer carries an address and a lane. */
_Static_assert(sizeof(uintptr_t) == 8, "needs a 64-bit host");

#define JUMPS 0x80u

struct trace_shared *shared;
static uint32_t last_pc;               /* the block that ran last */
static uint32_t second[TRACE_ENTRIES]; /* where the second instruction of an entry is */
static uint32_t number[TRACE_THREADS]; /* of the call that a thread is about to make; 0: unknown */

/* The path through the kernel that is under way. */
static uint64_t path_start;
static uint32_t path_pc;
static uint16_t path_argument = TRACE_NONE;
static uint8_t path_kind = TRACE_RESET;
static struct trace_block path_block[TRACE_BLOCKS];
static uint32_t path_blocks;
static uint64_t block_start; /* instructions before the block that ran last */
static uint8_t *widths;      /* of the kernel's instructions that were seen: bytes, and JUMPS */
static uint32_t left_at; /* where PendSV goes on that another exception interrupted; 0: it wasn't */
static uint64_t entry_event = UINT64_MAX, crime_event = UINT64_MAX; /* may lack their argument */

static uint64_t emit(enum trace_kind kind, uint32_t lane, uint32_t argument, uint32_t pc)
{
    uint64_t serial = shared->written;
    struct trace_event *event = &shared->ring[serial % shared->capacity];
    *event = (struct trace_event){.at = shared->instructions,
                                  .pc = pc,
                                  .argument = (uint16_t)argument,
                                  .kind = (uint8_t)kind,
                                  .lane = (uint8_t)lane};
    shared->happened[kind]++;
    shared->written = serial + 1; /* last: a reader meanwhile sees whole events */
    return serial;
}

/* Tells of an event what it was about, unless it has left the ring. */
static void complete(uint64_t serial, uint32_t argument)
{
    if (serial < shared->written && shared->written - serial <= shared->capacity) {
        shared->ring[serial % shared->capacity].argument = (uint16_t)argument;
    }
}

static void note_block(uint32_t pc)
{
    if (path_blocks < TRACE_BLOCKS) {
        uint32_t at = (uint32_t)(shared->instructions - path_start);
        path_block[path_blocks++] = (struct trace_block){.pc = pc, .at = at};
    }
}

static void end_path(void)
{
    struct trace_path *path = &shared->path[path_kind];
    uint64_t length = shared->instructions - path_start;
    path->count++;
    path->total += length;
    if (length > path->longest) {
        path->longest = length;
        path->longest_at = path_start;
        path->longest_pc = path_pc;
        path->longest_argument = path_argument;
        path->blocks = path_blocks;
        memcpy(path->block, path_block, path_blocks * sizeof path_block[0]);
    }
}

static void begin_path(uint8_t kind, uint16_t argument, uint64_t at, uint32_t pc)
{
    path_kind = kind;
    path_argument = argument;
    path_start = block_start = at;
    path_pc = last_pc;
    path_blocks = 0;
    note_block(pc);
}

/* The instruction that would have run next in the kernel; 0 where what ran last decides. */
static uint32_t next_instruction(uint64_t at)
{
    uint32_t pc = last_pc, base = shared->lane[TRACE_KERNEL].start;
    uint8_t width = 0;
    for (uint64_t i = block_start; i < at; i++) {
        width = pc >= base && pc < shared->lane[TRACE_KERNEL].end ? widths[(pc - base) / 2] : 0;
        if (width == 0) {
            return 0;
        }
        pc += width & ~JUMPS;
    }
    return (width & JUMPS) != 0 ? 0 : pc;
}

static void enter_lane(uint32_t lane)
{
    shared->executed[shared->running] += shared->instructions - shared->since;
    shared->since = shared->instructions;
    shared->running = lane;
}

static void on_block(unsigned int cpu, void *data)
{
    (void)cpu;
    uint32_t pc = (uint32_t)(uintptr_t)data;
    uint32_t lane = (uint32_t)((uintptr_t)data >> 32);
    if (lane != shared->running) {
        if (shared->running == TRACE_KERNEL) {
            end_path();
        }
        enter_lane(lane);
        emit(TRACE_LANE, lane, 0, pc);
        left_at = 0;
    }
    if (lane == TRACE_KERNEL && pc == left_at) { /* interrupts were open meanwhile */
        end_path();
        begin_path(TRACE_DEFERRED, TRACE_NONE, shared->instructions, pc);
        left_at = 0;
    } else if (lane == TRACE_KERNEL) {
        note_block(pc);
    }
    block_start = shared->instructions;
    last_pc = pc;
}

static void enter(const struct trace_entry *entry, uint64_t at)
{
    uint32_t from = shared->running;
    if (from == TRACE_KERNEL && at > 0) {
        if (path_kind == TRACE_DEFERRED) {
            left_at = next_instruction(at);
        }
        end_path(); /* the next exception was waiting */
    }
    uint16_t argument = entry->argument;
    if (entry->kind == TRACE_CALL && number[shared->thread] != 0) {
        argument = (uint16_t)(number[shared->thread] - 1);
        number[shared->thread] = 0;
    }
    begin_path((uint8_t)entry->kind, argument, at, entry->address);
    enter_lane(TRACE_KERNEL);
    entry_event = emit(entry->kind, from, path_argument, last_pc);
    if (path_argument != TRACE_NONE) {
        open_spans(path_kind, path_argument, path_start);
    }
    last_pc = entry->address;
}

static void on_entry(unsigned int cpu, void *data)
{
    (void)cpu;
    enter(data, shared->instructions);
}

static void on_second(unsigned int cpu, void *data)
{
    const struct trace_entry *entry = data;
    uint32_t pc = second[entry - shared->entry];
    if (last_pc != entry->address) {
        enter(entry, shared->instructions - 1);
    }
    on_block(cpu, (void *)((uintptr_t)TRACE_KERNEL << 32 | pc));
}

static void on_call(unsigned int cpu, void *data)
{
    (void)cpu;
    const struct trace_call *call = data;
    number[shared->thread] = call->number + 1;
}

static void on_crime(unsigned int cpu, void *data)
{
    (void)cpu;
    (void)data;
    uint64_t index = shared->happened[TRACE_CRIME];
    crime_event = emit(TRACE_CRIME, shared->running, TRACE_NONE, last_pc);
    if (index < TRACE_CRIMES) {
        shared->crime[index] = shared->ring[crime_event % shared->capacity];
    }
}

static void name_crime(uint32_t thread)
{
    if (crime_event == UINT64_MAX) {
        return; /* it has its thread */
    }
    uint64_t index = shared->happened[TRACE_CRIME] - 1;
    complete(crime_event, thread);
    if (index < TRACE_CRIMES) {
        shared->crime[index].argument = (uint16_t)thread;
    }
    crime_event = UINT64_MAX;
}

/* The kernel reads an element of a table that tells what it is about. */
static void on_read(unsigned int cpu, uint32_t access, uint64_t address, void *data)
{
    (void)cpu;
    const struct trace_watch *watch = data;
    if (address < watch->data_start || address >= watch->data_end ||
        qemu_plugin_mem_is_store(access)) {
        return;
    }
    uint32_t offset = (uint32_t)address - watch->data_start, index = offset / watch->stride;
    switch (watch->kind) {
    case TRACE_LINE:
        if (path_kind == TRACE_LINE && path_argument == TRACE_NONE) {
            path_argument = (uint16_t)index;
            complete(entry_event, index);
            open_spans(TRACE_LINE, index, path_start);
        }
        break;
    case TRACE_SWITCH:
        if (index != shared->thread && index < TRACE_THREADS) {
            shared->thread = index;
            emit(TRACE_SWITCH, shared->running, index, last_pc);
        }
        break;
    case TRACE_CRIME:
        name_crime(index);
        break;
    default: /* TRACE_RESTART: of several reads of an element that of its first word counts */
        if (offset % watch->stride == 0) {
            emit(TRACE_RESTART, shared->running, index, last_pc);
        }
        break;
    }
}

static uint32_t lane_of(uint32_t address)
{
    for (uint32_t i = 0; i < shared->lanes; i++) {
        if (address >= shared->lane[i].start && address < shared->lane[i].end) {
            return i;
        }
    }
    return TRACE_NOBODY;
}

static void instrument(struct qemu_plugin_insn *instruction, uint32_t pc)
{
    instrument_spans(instruction, pc);
    for (uint32_t i = 0; i < shared->calls; i++) {
        if (pc == shared->call[i].address) {
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_call, PLUGIN_NO_REGISTERS,
                                                   &shared->call[i]);
        }
    }
    for (uint32_t i = 0; i < shared->watches; i++) {
        struct trace_watch *watch = &shared->watch[i];
        if (pc < watch->code_start || pc >= watch->code_end) {
            continue;
        }
        qemu_plugin_register_vcpu_mem_cb(instruction, on_read, PLUGIN_NO_REGISTERS, PLUGIN_ACCESSES,
                                         watch);
        if (watch->kind == TRACE_CRIME && pc == watch->code_start) {
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_crime, PLUGIN_NO_REGISTERS,
                                                   NULL);
        }
    }
}

/* Blocks end with jumps, and behind what changes the state of the processor. */
static void note_width(struct qemu_plugin_insn *instruction, bool is_last)
{
    uint32_t pc = (uint32_t)qemu_plugin_insn_vaddr(instruction);
    struct trace_range kernel = shared->lane[TRACE_KERNEL];
    if (pc < kernel.start || pc >= kernel.end) {
        return;
    }
    uint16_t first;
    memcpy(&first, qemu_plugin_insn_data(instruction), sizeof first);
    bool goes_on = !is_last || (first & 0xFFE0u) == 0xB660u /* cps */ ||
                   first == 0xF3BFu /* barriers */ || (first & 0xFFE0u) == 0xF380u /* msr */;
    widths[(pc - kernel.start) / 2] =
        (uint8_t)(qemu_plugin_insn_size(instruction) | (goes_on ? 0 : JUMPS));
}

static void on_translation(qemu_plugin_id id, struct qemu_plugin_tb *block)
{
    (void)id;
    uint32_t pc = (uint32_t)qemu_plugin_tb_vaddr(block);
    on_execute *seen = on_block;
    void *data = (void *)((uintptr_t)lane_of(pc) << 32 | pc);
    for (uint32_t i = 0; i < shared->entries; i++) {
        struct trace_entry *entry = &shared->entry[i];
        if (entry->address == pc) {
            second[i] = pc + (uint32_t)qemu_plugin_insn_size(qemu_plugin_tb_get_insn(block, 0));
            seen = on_entry;
            data = entry;
        } else if (second[i] == pc) {
            seen = on_second;
            data = entry;
        }
    }
    qemu_plugin_register_vcpu_tb_exec_cb(block, seen, PLUGIN_NO_REGISTERS, data);
    size_t count = qemu_plugin_tb_n_insns(block);
    for (size_t i = 0; i < count; i++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, i);
        note_width(instruction, i + 1 == count);
        instrument(instruction, (uint32_t)qemu_plugin_insn_vaddr(instruction));
        qemu_plugin_register_vcpu_insn_exec_inline(instruction, PLUGIN_ADD, &shared->instructions,
                                                   1);
    }
}

/* The one argument is trace=PATH: the shared file, complete in its first part. */
int qemu_plugin_install(qemu_plugin_id id, const void *info, int count, char **arguments)
{
    (void)info;
    if (count != 1 || strncmp(arguments[0], "trace=", 6) != 0) {
        return 1;
    }
    int file = open(arguments[0] + 6, O_RDWR | O_CLOEXEC);
    struct stat about;
    if (file < 0 || fstat(file, &about) != 0 || (size_t)about.st_size < sizeof *shared) {
        return 1;
    }
    shared = mmap(NULL, (size_t)about.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    uint64_t room = ((size_t)about.st_size - sizeof *shared) / sizeof shared->ring[0];
    if (shared == MAP_FAILED || shared->magic != TRACE_MAGIC || shared->size != sizeof *shared ||
        shared->capacity > room || shared->capacity == 0) {
        return 1;
    }
    widths = calloc((shared->lane[TRACE_KERNEL].end - shared->lane[TRACE_KERNEL].start) / 2 + 1, 1);
    if (widths == NULL) {
        return 1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    return 0;
}
