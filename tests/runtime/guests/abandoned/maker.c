/* Makes threads where others left something. */
#include <fvm/native.h>

#include "../report.h"
#include "fvm_domain.h"

#define PRIORITY 7u
#define FIELDS 16u /* words of memory at which a thread begins, one after the other */

static volatile uint32_t echoed;
static uint64_t scribbler_stack[40], caller_stack[40];

static void wait(uint32_t ticks)
{
    while (ticks-- > 0) {
        (void)fvm_signal_wait(FVM_CAP_TICK);
    }
}

/* Leaves ones in all registers that the kernel keeps while a thread waits. */
static void scribble(uint32_t signal)
{
    register uint32_t r0 __asm("r0") = signal;
    register uint32_t r12 __asm("r12") = FVM_CALL_SIGNAL_WAIT;
    __asm volatile("mvn r4, #0\n\tmvn r5, #0\n\tmvn r6, #0\n\tmvn r8, #0\n\t"
                   "mvn r9, #0\n\tmvn r10, #0\n\tmvn r11, #0\n\tsvc %2"
                   : "+r"(r0)
                   : "r"(r12), "i"(FVM_SVC)
                   : "r4", "r5", "r6", "r8", "r9", "r10", "r11", "memory");
    (void)fvm_thread_stop(FVM_NONE);
}

static void echo(uint32_t number)
{
    uint32_t result;
    if (fvm_invoke(FVM_CAP_ECHO, number, 0, 0, &result) == FVM_OK && result == number) {
        echoed++;
    }
    (void)fvm_thread_stop(FVM_NONE);
}

/* A thread in kernel memory is one like any other, whatever lay there before. */
static void reuse(void)
{
    uint32_t memory = FVM_CAP_KERNEL_MEMORY;
    for (uint32_t at = 0; at < FIELDS; at++) {
        uint32_t first = (uint32_t)fvm_create_thread(memory, 0, 0, PRIORITY);
        (void)fvm_thread_run(first, scribble, scribbler_stack + 40, FVM_CAP_NEVER);
        wait(1);
        (void)fvm_delete(first);
        uint32_t second = (uint32_t)fvm_create_thread(memory, 4u * at, 0, PRIORITY);
        (void)fvm_thread_run(second, echo, caller_stack + 40, at);
        wait(1);
        (void)fvm_delete(second);
    }
    report("reuse.threads", (int32_t)FIELDS);
    report("reuse.echoed", (int32_t)echoed);
}

int main(void)
{
    report_init();
    wait(1);
    reuse();
    for (;;) {
        (void)fvm_signal_wait(FVM_CAP_TICK);
    }
}
