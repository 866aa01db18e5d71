/* The demonstration on RIOT, whose lowest numbers are the most urgent priorities, with a clock for
 * its timers that counts SysTick's ticks. */
#include "board.h"
#include "rtos.h"

#include <cpu.h>
#include <irq.h>
#include <thread.h>
#include <ztimer.h>

static char stack[RTOS_TASKS][RTOS_STACK_BYTES] __attribute__((aligned(8)));
static unsigned threads;
static volatile uint32_t now, due;
static volatile bool is_due;

static void set(ztimer_clock_t *clock, uint32_t ticks)
{
    (void)clock;
    due = now + ticks;
    is_due = true;
}

static uint32_t count(ztimer_clock_t *clock)
{
    (void)clock;
    return now;
}

static void cancel(ztimer_clock_t *clock)
{
    (void)clock;
    is_due = false;
}

static const ztimer_ops_t operations = {.set = set, .now = count, .cancel = cancel};
static ztimer_clock_t ticks_of = {.ops = &operations};

static void *run(void *entry)
{
    ((void (*)(void))entry)();
    return NULL;
}

void rtos_task(void (*entry)(void), unsigned priority)
{
    (void)thread_create(stack[threads], RTOS_STACK_BYTES, (uint8_t)(1u + RTOS_URGENT - priority),
                        THREAD_CREATE_WOUT_YIELD, run, (void *)entry, "thread");
    threads++;
}

void rtos_delay(unsigned ticks) { ztimer_sleep(&ticks_of, ticks); }

unsigned rtos_ticks(void) { return now; }

void rtos_semaphore_init(rtos_semaphore *semaphore) { sema_create(semaphore, 0); }

int rtos_take(rtos_semaphore *semaphore, unsigned ticks)
{
    if (ticks == RTOS_FOREVER) {
        return sema_wait(semaphore) == 0;
    }
    return sema_wait_timed_ztimer(semaphore, &ticks_of, ticks) == 0;
}

void rtos_give(rtos_semaphore *semaphore) { (void)sema_post(semaphore); }

void rtos_give_from_interrupt(rtos_semaphore *semaphore)
{
    (void)sema_post(semaphore);
    cortexm_isr_end();
}

void isr_systick(void)
{
    now++;
    if (is_due && due == now) {
        is_due = false;
        ztimer_handler(&ticks_of);
    }
    cortexm_isr_end();
}

/* The least urgent thread of the demonstration never waits, so there is no idle one. */
int main(void)
{
    (void)irq_disable();
    NVIC_SetPriority(PendSV_IRQn, CPU_CORTEXM_PENDSV_IRQ_PRIO);
    (void)SysTick_Config(BOARD_CLOCK_HZ / RTOS_TICKS_PER_SECOND);
    demo_set_up();
    cpu_switch_context_exit();
    return 0;
}
