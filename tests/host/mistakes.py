"""Planted mistakes: one-line changes of the kernel that the random steps must notice.

They are chosen by what would be lost: a check of a right, of a range or of memory, a wake-up, a
line that stays closed or opens too early, something that survives a restart.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mistake:
    """`old` occurs once in `fvm-runtime/<file>`."""

    file: str
    old: str
    new: str

    @property
    def name(self) -> str:
        return f"{self.file}: {self.old.strip()[:60]}"


MISTAKES = [
    Mistake("kernel/capability.c", "number < domain->capability_count ?", "number < 200 ?"),
    Mistake(
        "kernel/capability.c",
        "uint32_t needed = type |",
        "uint32_t needed = (type > 99 ? type : word & 0xFFu) |",
    ),
    Mistake(
        "kernel/capability.c",
        "type | (uint32_t)rights << 8;",
        "type | (word & (uint32_t)rights << 8);",
    ),
    Mistake("kernel/domain.c", "domain->ram_size - offset >= size", "size != 0"),
    Mistake("kernel/domain.c", "offset < domain->ram_size &&", ""),
    Mistake("kernel/domain.c", "        domain->restarts++;\n", ""),
    Mistake(
        "kernel/fault.c",
        "    if (domain->faulted == NULL) {\n        return false;",
        "    {\n        return false;",
    ),
    Mistake("kernel/fault.c", "newest->serial != 0 && newest->domain == index ?", "true ?"),
    Mistake("kernel/fault.c", "        domain->faulted = NULL;\n", ""),
    Mistake("kernel/thread.c", "        signal_leave(thread);\n", ""),
    Mistake("kernel/fault.c", "            clear(next);", "            next->serial = 0;"),
    Mistake("kernel/domain.c", "        signal_drop(capability->index);\n", ""),
    Mistake(
        "kernel/domain.c",
        "        drop_capability(&domain->capability[step]);\n        return FVM_MORE",
        "        return FVM_MORE",
    ),
    Mistake("kernel/domain.c", "        event_drop(index, step);\n", ""),
    Mistake("kernel/domain.c", "        vcpu_drop(vcpu_of_domain(domain), step);\n", ""),
    Mistake("kernel/domain.c", "    stopped |= 1u << index;\n", ""),
    Mistake("kernel/domain.c", "        stopped &= ~(1u << index);\n", ""),
    Mistake("kernel/domain.c", "        vcpu_halt(thread->vcpu);\n", ""),
    Mistake("kernel/event.c", "!= sender_domain || may_send[event] == 0", "!= sender_domain"),
    Mistake("kernel/event.c", "fvm_event[event].sender != sender_domain", "sender_domain > 99"),
    Mistake("kernel/event.c", "!= vcpu->config->domain", "> 99 + vcpu->config->domain"),
    Mistake("kernel/event.c", "route->target != vcpu->index", "vcpu == NULL"),
    Mistake("kernel/event.c", "    if (bound[event] == 0) {", "    if (event > 99) {"),
    Mistake("kernel/event.c", "        may_send[event] = 0;\n", ""),
    Mistake("kernel/event.c", "        bound[event] = 0;\n", ""),
    Mistake("kernel/fault.c", "        lost++; /* the", "        /* the"),
    Mistake("kernel/fault.c", "        count++;\n", "        count += 2;\n"),
    Mistake(
        "kernel/fault.c", "if (offset == 0 || !domain_holds(", "if (offset == 0 || domain_holds("
    ),
    Mistake(
        "kernel/fault.c",
        "if (domain_holds(thread->domain, stack, context_arch_frame_size())) {",
        "if (stack != 0) {",
    ),
    Mistake("kernel/scheduler.c", "        signal_send(FVM_FAULT_SIGNAL);\n", ""),
    Mistake(
        "kernel/interrupt.c", "    interrupt_lines.closed[line / 32u] |= line_bit(line);\n", ""
    ),
    Mistake(
        "kernel/interrupt.c",
        "        if ((interrupt_lines.closed[word] & bit) == 0) {",
        "        {",
    ),
    Mistake("kernel/interrupt.c", "    if ((interrupt_lines.enabled[word] & bit) != 0) {", "    {"),
    Mistake("kernel/interrupt.c", "vcpu->line[route->virt_id] != line", "line > 200"),
    Mistake(
        "kernel/interrupt.c", "    interrupt_lines.enabled[line / 32u] &= ~line_bit(line);\n", ""
    ),
    Mistake(
        "kernel/interrupt.c",
        "            line_arch_clear(line);\n            line_arch_open(line);\n",
        "            line_arch_clear(line);\n",
    ),
    Mistake("kernel/pend.h", "vcpu->vct_wait = WAIT_LATCHED;", ""),
    Mistake("kernel/pend.h", "    vcpu->vct_wait = WAIT_NONE;\n", ""),
    Mistake("kernel/pend.h", "        vcpu->usr_wait = WAIT_LATCHED;\n", ""),
    Mistake("kernel/pend.h", "        state->int_pend.byte.vector = 1;\n", ""),
    Mistake("kernel/pend.h", "    if (vcpu->open) {", "    {"),
    Mistake("kernel/pend.h", "pending_group[virt_id / FVM_VECTOR_GROUP] = 1", "reserved[1] = 0"),
    Mistake(
        "kernel/pend.h",
        "transparent ? both & 0xFFu : both",
        "transparent && virt_id == 99 ? 0 : both",
    ),
    Mistake("kernel/pin.c", "(mask & ~(uint32_t)grant->mask) != 0", "mask == 0x5A5A"),
    Mistake(
        "kernel/request.c",
        "        request.asking = NULL;\n    }\n    if (take",
        "    }\n    if (take",
    ),
    Mistake(
        "kernel/scheduler.c",
        "vcpu->vct->state == THREAD_READY ? vcpu->vct : vcpu->usr;\n    } else",
        "vcpu->usr;\n    } else",
    ),
    Mistake("kernel/request.c", "if (verdict == FVM_OK) {", "if (verdict <= FVM_OK) {"),
    Mistake("kernel/request.c", "vcpu->locked != 0 ?", "vcpu->locked > 1 ?"),
    Mistake("kernel/request.c", "    scheduler_wake(request.server);\n", ""),
    Mistake(
        "kernel/scheduler.c", "if (thread->rank > cpu.next->rank) {", "if (thread->rank > 99) {"
    ),
    Mistake("kernel/scheduler.c", "vcpus.ready & vcpus.funded & (vcpu", "vcpus.ready & (vcpu"),
    Mistake(
        "kernel/scheduler.c",
        "vcpu_of(bit);\n    cpu.next = vcpu->vct->state == THREAD_READY ?",
        "vcpu_of(bit);\n    cpu.next = 0 ?",
    ),
    Mistake(
        "kernel/scheduler.c", "budget < (int32_t)vcpu->config->budget ?", "budget < INT32_MAX ?"
    ),
    Mistake(
        "kernel/scheduler.c", "    if (cycles > vcpu->config->budget) {", "    if (cycles == 7) {"
    ),
    Mistake(
        "kernel/signal.c",
        "    signal->waiter = NULL;\n    scheduler_wake(waiter); /*",
        "    scheduler_wake(waiter); /*",
    ),
    Mistake("kernel/signal.c", "return signal->waiter != NULL ? FVM_E_BUSY : 0;", "return 0;"),
    Mistake(
        "kernel/signal.c", "        signal->count = 0;\n        signal->d", "        signal->d"
    ),
    Mistake("kernel/signal.c", "    return 1;\n", "    return FVM_OK;\n"),
    Mistake("kernel/signal.c", "    interrupt_await(index);\n", ""),
    Mistake("kernel/signal.c", "    interrupt_leave(index);\n", ""),
    Mistake(
        "kernel/request.c",
        "        return FVM_E_CALL;\n    }\n    return caller->vcpu->locked",
        "    }\n    return caller->vcpu->locked",
    ),
    Mistake("kernel/syscall.c", " || signal->index != fvm_vcpu[0].request_signal", ""),
    Mistake("kernel/text.c", "number == 0) {", "number > 99) {"),
    Mistake("kernel/text.c", "FVM_RIGHT_CONTROL) == NULL", "FVM_RIGHT_READ) == NULL"),
    Mistake("kernel/text.c", "number > TEXTS", "number > 99"),
    Mistake("kernel/text.c", "character == '\\n'", "character == 1"),
    Mistake("kernel/text.c", "text->taken++ % ROOM", "text->taken++ % PIECE"),
    Mistake(
        "kernel/syscall.c", "subject == FVM_STATUS_DOMAIN && index < FVM_DOMAINS", "subject == 1"
    ),
    Mistake("kernel/time.c", "    cpu_arch_defer();\n    return true;", "    return true;"),
    Mistake("kernel/vcpu.c", "    if (--vcpu->tick_owed != 0) {", "    if (false) {"),
    Mistake("kernel/vcpu.c", "    vcpu->open = vcpu->watched = false;\n", ""),
    Mistake("kernel/vcpu.c", "        word[i] = 0;\n", "        (void)word;\n"),
    Mistake("kernel/vcpu.c", "        vcpu->line[virt_id] = FVM_NO_INDEX;\n", ""),
    Mistake("kernel/vcpu.c", "tick_owed < vcpu->config->catchup", "tick_owed < 99"),
    Mistake("kernel/vcpu.c", "(hz != 0 && FVM_TICK_HZ % hz != 0)", "hz == 77"),
    Mistake(
        "arch/armv7m/timer.c", "uint32_t before = *count + PERIOD;", "uint32_t before = *count;"
    ),
]
