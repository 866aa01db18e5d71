/* The demonstration on Mynewt, whose lowest numbers are the most urgent priorities, and what its
 * HAL has of a board. */
#include "board.h"
#include "rtos.h"

#include "hal/hal_bsp.h"
#include "hal/hal_os_tick.h"
#include "hal/hal_system.h"

static struct os_task task[RTOS_TASKS];
static os_stack_t stack[RTOS_TASKS][RTOS_STACK_BYTES / sizeof(os_stack_t)]
    __attribute__((aligned(8)));
static unsigned tasks;

static void run(void *entry) { ((void (*)(void))entry)(); }

void rtos_task(void (*entry)(void), unsigned priority)
{
    (void)os_task_init(&task[tasks], "task", run, (void *)entry,
                       (uint8_t)(1u + RTOS_URGENT - priority), OS_WAIT_FOREVER, stack[tasks],
                       RTOS_STACK_BYTES / sizeof(os_stack_t));
    tasks++;
}

void rtos_delay(unsigned ticks) { os_time_delay(ticks); }

unsigned rtos_ticks(void) { return os_time_get(); }

void rtos_semaphore_init(rtos_semaphore *semaphore) { (void)os_sem_init(semaphore, 0); }

int rtos_take(rtos_semaphore *semaphore, unsigned ticks)
{
    os_time_t wait = ticks == RTOS_FOREVER ? OS_TIMEOUT_NEVER : ticks;
    return os_sem_pend(semaphore, wait) == OS_OK;
}

void rtos_give(rtos_semaphore *semaphore) { (void)os_sem_release(semaphore); }

void rtos_give_from_interrupt(rtos_semaphore *semaphore) { (void)os_sem_release(semaphore); }

void os_tick_init(uint32_t rate, int priority)
{
    (void)SysTick_Config(BOARD_CLOCK_HZ / rate);
    NVIC_SetPriority(SysTick_IRQn, (uint32_t)priority);
}

void os_tick_idle(os_time_t ticks)
{
    (void)ticks;
    __DSB();
    __WFI();
}

int sysdown(int reason) { return reason; }

void hal_bsp_init(void) {}

void hal_system_reset(void)
{
    for (;;) {
    }
}

int main(void)
{
    os_init(NULL);
    NVIC_SetVector(BOARD_TIMER_IRQn, (uint32_t)board_timer_handler);
    demo_set_up();
    os_start();
    return 0;
}
