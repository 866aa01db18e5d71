/* Stops by halves, stops who tries again, makes threads where others left something. */
#include <fvm/native.h>

#include "../report.h"
#include "fvm_domain.h"

#define PRIORITY 7u
#define FIELDS 16u /* words of memory at which a thread begins, one after the other */

#define TRIED (*(volatile uint32_t *)FVM_SHM_BOARD)

static volatile uint32_t inside, echoed;
static uint64_t scribbler_stack[40], caller_stack[40];

void caller(void)
{
    uint32_t result;
    inside = 1;
    (void)fvm_invoke(FVM_CAP_PACED, 1, 0, 0, &result);
    inside = 0;
    (void)fvm_thread_stop(FVM_NONE);
}

static void wait(uint32_t ticks)
{
    while (ticks-- > 0) {
        (void)fvm_signal_wait(FVM_CAP_TICK);
    }
}

/* Whoever has begun to stop a thread need not go on: its port serves the next caller. */
static void stop_by_half(void)
{
    int32_t served = 0, rounds = 0;
    for (uint32_t steps = 1; steps <= 3u; steps++) {
        (void)fvm_thread_start(FVM_CAP_CALLER, 0);
        while (inside == 0) {
            wait(1);
        }
        for (uint32_t i = 0; i < steps; i++) {
            (void)fvm_call(FVM_CALL_THREAD_STOP, FVM_CAP_CALLER, 0, 0, 0);
        }
        uint32_t result = 0;
        served += fvm_invoke(FVM_CAP_PACED, steps, 0, 0, &result) == FVM_OK && result == steps + 1u;
        rounds++;
        (void)fvm_thread_stop(FVM_CAP_CALLER);
        inside = 0;
    }
    report("half.rounds", rounds);
    report("half.served", served);
}

/* It is more urgent than this, and never waits but in the port. */
static void stop_who_tries_again(void)
{
    report("eager.stop", fvm_thread_stop(FVM_CAP_EAGER));
    uint32_t so_far = TRIED;
    wait(5);
    report("eager.ran", so_far > 0);
    report("eager.stays", TRIED == so_far);
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
    stop_by_half();
    stop_who_tries_again();
    report("server.stop", fvm_domain_stop(FVM_CAP_DOMAIN_SERVER));
    report("server.restart", fvm_domain_restart(FVM_CAP_DOMAIN_SERVER));
    uint32_t result = 0;
    wait(1);
    report("server.serves", fvm_invoke(FVM_CAP_PACED, 1, 0, 0, &result));
    report("done", 1);
    for (;;) {
        (void)fvm_signal_wait(FVM_CAP_TICK);
    }
}
