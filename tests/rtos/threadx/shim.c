/* The demonstration on ThreadX, whose lowest numbers are the most urgent priorities, with the
 * set-up of the board that its kernel asks for. */
#include "board.h"
#include "rtos.h"

#include <tx_initialize.h>
#include <tx_thread.h>
#include <tx_timer.h>

#define SYSTICK ((volatile uint32_t *)0xE000E010u) /* CTRL, LOAD, VAL */
#define SHPR3 (*(volatile uint32_t *)0xE000ED20u)

static TX_THREAD thread[RTOS_TASKS];
static ULONG stack[RTOS_TASKS][RTOS_STACK_BYTES / sizeof(ULONG)];
static unsigned threads;

static void run(ULONG entry) { ((void (*)(void))entry)(); }

void rtos_task(void (*entry)(void), unsigned priority)
{
    UINT urgency = 2u + RTOS_URGENT - priority;
    (void)tx_thread_create(&thread[threads], "task", run, (ULONG)entry, stack[threads],
                           RTOS_STACK_BYTES, urgency, urgency, TX_NO_TIME_SLICE, TX_AUTO_START);
    threads++;
}

void rtos_delay(unsigned ticks) { (void)tx_thread_sleep(ticks); }

unsigned rtos_ticks(void) { return tx_time_get(); }

void rtos_semaphore_init(rtos_semaphore *semaphore)
{
    (void)tx_semaphore_create(semaphore, "s", 0);
}

int rtos_take(rtos_semaphore *semaphore, unsigned ticks)
{
    ULONG wait = ticks == RTOS_FOREVER ? TX_WAIT_FOREVER : ticks;
    return tx_semaphore_get(semaphore, wait) == TX_SUCCESS;
}

void rtos_give(rtos_semaphore *semaphore) { (void)tx_semaphore_put(semaphore); }

void rtos_give_from_interrupt(rtos_semaphore *semaphore) { (void)tx_semaphore_put(semaphore); }

void _tx_timer_interrupt(void);

void SysTick_Handler(void) { _tx_timer_interrupt(); }

/* PendSV below all others; a tick each millisecond, and the first when the scheduler opens
 * interrupts. */
void _tx_initialize_low_level(void)
{
    __asm volatile("cpsid i" ::: "memory");
    SHPR3 = 0x40FF0000u;
    SYSTICK[1] = BOARD_CLOCK_HZ / RTOS_TICKS_PER_SECOND - 1u;
    SYSTICK[2] = 0u;
    SYSTICK[0] = 7u;
}

void tx_application_define(void *first_unused_memory)
{
    (void)first_unused_memory;
    demo_set_up();
}

int main(void)
{
    tx_kernel_enter();
    return 0;
}
