/* Spans: a start that comes again before the end doesn't count, so the longest wait is found. */
#include "spans.h"

void open_spans(uint32_t kind, uint32_t argument, uint64_t at)
{
    for (uint32_t i = 0; i < shared->spans; i++) {
        struct trace_span *span = &shared->span[i];
        if (span->kind == kind && span->argument == argument && span->opened == 0) {
            span->opened = at + 1;
        }
    }
}

static void on_span_start(unsigned int cpu, void *data)
{
    (void)cpu;
    struct trace_span *span = data;
    if (span->opened == 0) { /* of several starts the first counts: the longest wait */
        span->opened = shared->instructions + 1;
    }
}

static void end_span(struct trace_span *span, uint64_t at)
{
    if (span->opened == 0) {
        return;
    }
    uint64_t start = span->opened - 1, length = at - start;
    span->opened = 0;
    span->count++;
    span->total += length;
    if (length < span->shortest || span->count == 1) {
        span->shortest = length;
    }
    if (length > span->longest) {
        span->longest = length;
        span->longest_at = start;
    }
}

static void on_span_stop(unsigned int cpu, void *data)
{
    (void)cpu;
    end_span(data, shared->instructions);
}

static void on_span_access(unsigned int cpu, uint32_t access, uint64_t address, void *data)
{
    (void)cpu;
    struct trace_span *span = data;
    if (address == span->data && !qemu_plugin_mem_is_store(access)) {
        end_span(span, shared->instructions - 1); /* the reading instruction is counted already */
    }
}

void instrument_spans(struct qemu_plugin_insn *instruction, uint32_t pc)
{
    /* The stop comes first: a span may begin anew where it ends. */
    for (uint32_t i = 0; i < shared->spans; i++) {
        struct trace_span *span = &shared->span[i];
        if (pc == span->stop) {
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_span_stop, PLUGIN_NO_REGISTERS,
                                                   span);
        }
        if (pc >= span->code_start && pc < span->code_end) {
            qemu_plugin_register_vcpu_mem_cb(instruction, on_span_access, PLUGIN_NO_REGISTERS,
                                             PLUGIN_ACCESSES, span);
        }
        if (pc == span->start && span->kind == TRACE_LANE) {
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_span_start, PLUGIN_NO_REGISTERS,
                                                   span);
        }
    }
}
