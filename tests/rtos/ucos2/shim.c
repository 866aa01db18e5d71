/* The demonstration on uC/OS-II, whose lowest numbers are the most urgent priorities. */
#include "board.h"
#include "rtos.h"

enum { START = 4 };

static OS_STK stack[RTOS_TASKS + 1][RTOS_STACK_BYTES / sizeof(OS_STK)] __attribute__((aligned(8)));
static unsigned tasks;

static void run(void *entry) { ((void (*)(void))entry)(); }

static void create(void (*entry)(void), INT8U priority)
{
    OS_STK *top = &stack[tasks][RTOS_STACK_BYTES / sizeof(OS_STK) - 1u];
    (void)OSTaskCreate(run, (void *)entry, top, priority);
    tasks++;
}

void rtos_task(void (*entry)(void), unsigned priority)
{
    create(entry, (INT8U)(START + 1u + RTOS_URGENT - priority));
}

void rtos_delay(unsigned ticks) { OSTimeDly(ticks); }

unsigned rtos_ticks(void) { return OSTimeGet(); }

void rtos_semaphore_init(rtos_semaphore *semaphore) { *semaphore = OSSemCreate(0u); }

int rtos_take(rtos_semaphore *semaphore, unsigned ticks)
{
    INT8U error = OS_ERR_NONE;
    OSSemPend(*semaphore, ticks == RTOS_FOREVER ? 0u : ticks, &error);
    return error == OS_ERR_NONE;
}

void rtos_give(rtos_semaphore *semaphore) { (void)OSSemPost(*semaphore); }

void rtos_give_from_interrupt(rtos_semaphore *semaphore)
{
    OSIntEnter();
    (void)OSSemPost(*semaphore);
    OSIntExit();
}

static void start(void)
{
    OS_CPU_SysTickInitFreq(BOARD_CLOCK_HZ);
    demo_set_up();
    (void)OSTaskSuspend(OS_PRIO_SELF);
}

int main(void)
{
    OSInit();
    create(start, START);
    OSStart();
    return 0;
}
