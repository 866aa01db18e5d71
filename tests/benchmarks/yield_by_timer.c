/* In place of src/cooperative.c on bare metal: what the machine's own timer says of a yield, as the
 * exit status of QEMU. 168 MHz, 16 ns an instruction. */
#include "operations.h"

enum { ROUNDS = 1000, SYS_EXIT_EXTENDED = 0x20, APPLICATION_EXIT = 0x20026 };

struct timer {
    volatile unsigned control, reload, value;
};
#define TIMER ((struct timer *)0xE000E010u)
#define TIMER_MASK 0xFFFFFFu

static volatile unsigned left = ROUNDS, start, total;

static void yielding(void *unused)
{
    (void)unused;
    while (left != 0) {
        left--;
        start = TIMER->value;
        taskYIELD();
        total += (start - TIMER->value) & TIMER_MASK;
    }
    finish();
}

static unsigned instructions(unsigned ticks)
{
    return (ticks * 125u + 168u * ROUNDS) / (336u * ROUNDS);
}

static void leave(unsigned status)
{
    unsigned block[2] = {APPLICATION_EXIT, status};
    register unsigned r0 __asm("r0") = SYS_EXIT_EXTENDED;
    register unsigned *r1 __asm("r1") = block;
    __asm volatile("bkpt 0xAB" ::"r"(r0), "r"(r1) : "memory");
}

void run_cooperative(void)
{
    unsigned reading = 0;
    TIMER->reload = TIMER_MASK;
    TIMER->value = 0;
    TIMER->control = 5; /* processor clock, no interrupt */
    for (int i = 0; i < ROUNDS; i++) {
        start = TIMER->value;
        reading += (start - TIMER->value) & TIMER_MASK;
    }
    run_tasks(yielding, LOW, yielding, LOW);
    leave(instructions(total - reading));
}
