/* All that the demonstration asks of an RTOS. The folder of each has a shim.h, which defines
 * `rtos_semaphore`, and a shim.c with these functions and `main`. */
#ifndef RTOS_H
#define RTOS_H

#include "shim.h"

enum {
    RTOS_TASKS = 6,
    RTOS_STACK_BYTES = 1024,
    RTOS_TICKS_PER_SECOND = 1000,
    RTOS_URGENT = 6, /* the most urgent task's; the least urgent has 1 */
    RTOS_FOREVER = 0x7FFFFFFF
};

/* No two tasks have one priority, and none ends: not every RTOS has that. */
void rtos_task(void (*entry)(void), unsigned priority);
void rtos_delay(unsigned ticks);
unsigned rtos_ticks(void);

/* Semaphores begin with 0. */
void rtos_semaphore_init(rtos_semaphore *semaphore);
int rtos_take(rtos_semaphore *semaphore, unsigned ticks); /* 0 when nobody gave it in time */
void rtos_give(rtos_semaphore *semaphore);
void rtos_give_from_interrupt(rtos_semaphore *semaphore);

/* The demonstration's: `main` calls it before the first task runs, or the first task does. */
void demo_set_up(void);

#endif
