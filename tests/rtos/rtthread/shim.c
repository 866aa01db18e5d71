/* The demonstration on RT-Thread, whose lowest numbers are the most urgent priorities. */
#include <rthw.h>

#include "board.h"
#include "rtos.h"

#define SYSTICK ((volatile uint32_t *)0xE000E010u) /* CTRL, LOAD, VAL */

static struct rt_thread thread[RTOS_TASKS];
static rt_uint8_t stack[RTOS_TASKS][RTOS_STACK_BYTES] __attribute__((aligned(8)));
static unsigned threads;

static void run(void *entry) { ((void (*)(void))entry)(); }

void rtos_task(void (*entry)(void), unsigned priority)
{
    (void)rt_thread_init(&thread[threads], "task", run, (void *)entry, stack[threads],
                         RTOS_STACK_BYTES, (rt_uint8_t)(2u + RTOS_URGENT - priority), 10);
    (void)rt_thread_startup(&thread[threads]);
    threads++;
}

void rtos_delay(unsigned ticks) { (void)rt_thread_delay(ticks); }

unsigned rtos_ticks(void) { return rt_tick_get(); }

void rtos_semaphore_init(rtos_semaphore *semaphore)
{
    (void)rt_sem_init(semaphore, "sem", 0, RT_IPC_FLAG_PRIO);
}

int rtos_take(rtos_semaphore *semaphore, unsigned ticks)
{
    rt_int32_t wait = ticks == RTOS_FOREVER ? RT_WAITING_FOREVER : (rt_int32_t)ticks;
    return rt_sem_take(semaphore, wait) == RT_EOK;
}

void rtos_give(rtos_semaphore *semaphore) { (void)rt_sem_release(semaphore); }

void rtos_give_from_interrupt(rtos_semaphore *semaphore)
{
    rt_interrupt_enter();
    (void)rt_sem_release(semaphore);
    rt_interrupt_leave();
}

void SysTick_Handler(void)
{
    rt_interrupt_enter();
    rt_tick_increase();
    rt_interrupt_leave();
}

int main(void)
{
    (void)rt_hw_interrupt_disable();
    SYSTICK[1] = BOARD_CLOCK_HZ / RT_TICK_PER_SECOND - 1u;
    SYSTICK[2] = 0u;
    SYSTICK[0] = 7u;
    rt_system_timer_init();
    rt_system_scheduler_init();
    demo_set_up();
    rt_thread_idle_init();
    rt_system_scheduler_start();
    return 0;
}
