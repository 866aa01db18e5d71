/* The demonstration on TencentOS-tiny, whose lowest numbers are the most urgent priorities. */
#include "board.h"
#include "rtos.h"

static k_task_t task[RTOS_TASKS];
static k_stack_t stack[RTOS_TASKS][RTOS_STACK_BYTES] __attribute__((aligned(8)));
static unsigned tasks;

static void run(void *entry) { ((void (*)(void))entry)(); }

void rtos_task(void (*entry)(void), unsigned priority)
{
    (void)tos_task_create(&task[tasks], "task", run, (void *)entry,
                          (k_prio_t)(2u + RTOS_URGENT - priority), stack[tasks], RTOS_STACK_BYTES,
                          0);
    tasks++;
}

void rtos_delay(unsigned ticks) { (void)tos_task_delay(ticks); }

unsigned rtos_ticks(void) { return (unsigned)tos_systick_get(); }

void rtos_semaphore_init(rtos_semaphore *semaphore) { (void)tos_sem_create(semaphore, 0); }

int rtos_take(rtos_semaphore *semaphore, unsigned ticks)
{
    k_tick_t wait = ticks == RTOS_FOREVER ? TOS_TIME_FOREVER : ticks;
    return tos_sem_pend(semaphore, wait) == K_ERR_NONE;
}

void rtos_give(rtos_semaphore *semaphore) { (void)tos_sem_post(semaphore); }

void rtos_give_from_interrupt(rtos_semaphore *semaphore)
{
    tos_knl_irq_enter();
    (void)tos_sem_post(semaphore);
    tos_knl_irq_leave();
}

void SysTick_Handler(void)
{
    tos_knl_irq_enter();
    tos_tick_handler();
    tos_knl_irq_leave();
}

int main(void)
{
    (void)tos_knl_init();
    demo_set_up();
    (void)tos_knl_start();
    return 0;
}
