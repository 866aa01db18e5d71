/* The demonstration on LiteOS-M, whose lowest numbers are the most urgent priorities, with a timer
 * of its own: time passes a tick at a time. */
#include "board.h"
#include "rtos.h"

#include <los_task.h>
#include <los_tick.h>
#include <los_timer.h>

enum { HERTZ = 1000000 }; /* of the time that the kernel asks for */

static volatile UINT64 now;
static HWI_PROC_FUNC handler;

void rtos_task(void (*entry)(void), unsigned priority)
{
    TSK_INIT_PARAM_S task = {
        .pfnTaskEntry = (TSK_ENTRY_FUNC)entry,
        .usTaskPrio = (UINT16)(2u + RTOS_URGENT - priority),
        .uwStackSize = RTOS_STACK_BYTES,
        .pcName = "task",
    };
    UINT32 id;
    (void)LOS_TaskCreate(&id, &task);
}

void rtos_delay(unsigned ticks) { (void)LOS_TaskDelay(ticks); }

unsigned rtos_ticks(void) { return (unsigned)LOS_TickCountGet(); }

void rtos_semaphore_init(rtos_semaphore *semaphore) { (void)LOS_SemCreate(0, semaphore); }

int rtos_take(rtos_semaphore *semaphore, unsigned ticks)
{
    return LOS_SemPend(*semaphore, ticks == RTOS_FOREVER ? LOS_WAIT_FOREVER : ticks) == LOS_OK;
}

void rtos_give(rtos_semaphore *semaphore) { (void)LOS_SemPost(*semaphore); }

void rtos_give_from_interrupt(rtos_semaphore *semaphore) { (void)LOS_SemPost(*semaphore); }

void SysTick_Handler(void)
{
    now += HERTZ / RTOS_TICKS_PER_SECOND;
    handler();
}

static UINT32 start(HWI_PROC_FUNC tick)
{
    handler = tick;
    return SysTick_Config(BOARD_CLOCK_HZ / RTOS_TICKS_PER_SECOND);
}

static UINT64 time_of(UINT32 *period)
{
    (void)period;
    return now;
}

static UINT64 wake_after(UINT64 time) { return time; } /* each tick looks */

static void nothing(void) {}

static ArchTickTimer timer = {
    .freq = HERTZ,
    .irqNum = SysTick_IRQn,
    .periodMax = LOSCFG_BASE_CORE_TICK_RESPONSE_MAX,
    .init = start,
    .getCycle = time_of,
    .reload = wake_after,
    .lock = nothing,
    .unlock = nothing,
};

ArchTickTimer *ArchSysTickTimerGet(void) { return &timer; }

UINT32 ArchEnterSleep(void)
{
    __WFI();
    return LOS_OK;
}

int main(void)
{
    (void)LOS_KernelInit();
    demo_set_up();
    (void)LOS_Start();
    return 0;
}
