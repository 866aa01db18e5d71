/* The demonstration on RMP, whose kernel has `main` and calls RMP_Init_Hook in its first thread. */
#include "rtos.h"

static volatile struct RMP_Thd thread[RTOS_TASKS];
static rmp_ptr_t stack[RTOS_TASKS][RTOS_STACK_BYTES / sizeof(rmp_ptr_t)];
static unsigned threads;

void rtos_task(void (*entry)(void), unsigned priority)
{
    (void)RMP_Thd_Crt(&thread[threads], (void *)entry, RMP_NULL, stack[threads], RTOS_STACK_BYTES,
                      priority, 10U);
    threads++;
}

void rtos_delay(unsigned ticks) { (void)RMP_Thd_Delay(ticks); }

unsigned rtos_ticks(void) { return RMP_Timestamp; }

void rtos_semaphore_init(rtos_semaphore *semaphore) { (void)RMP_Sem_Crt(semaphore, 0U); }

int rtos_take(rtos_semaphore *semaphore, unsigned ticks)
{
    return RMP_Sem_Pend(semaphore, ticks) >= 0;
}

void rtos_give(rtos_semaphore *semaphore) { (void)RMP_Sem_Post(semaphore, 1U); }

void rtos_give_from_interrupt(rtos_semaphore *semaphore) { (void)RMP_Sem_Post_ISR(semaphore, 1U); }

void RMP_Init_Hook(void) { demo_set_up(); }

void RMP_Init_Idle(void) {}
