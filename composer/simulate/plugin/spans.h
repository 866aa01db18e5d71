/* Lengths between two places of a program, in instructions. */
#ifndef FVM_TRACE_SPANS_H
#define FVM_TRACE_SPANS_H

#include "qemu_plugin.h"
#include "shared.h"

extern struct trace_shared *shared;

/* The kernel was entered in this way, at this instruction. */
void open_spans(uint32_t kind, uint32_t argument, uint64_t at);

/* While an instruction is being translated: watch it if a span starts or ends there. */
void instrument_spans(struct qemu_plugin_insn *instruction, uint32_t pc);

#endif
