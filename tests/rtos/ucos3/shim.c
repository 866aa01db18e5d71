/* The demonstration on uC/OS-III, whose lowest numbers are the most urgent priorities. */
#include "board.h"
#include "rtos.h"

enum { START = 4, WORDS = RTOS_STACK_BYTES / sizeof(CPU_STK) };

static OS_TCB task[RTOS_TASKS + 1];
static CPU_STK stack[RTOS_TASKS + 1][WORDS] __attribute__((aligned(8)));
static unsigned tasks;

static void run(void *entry) { ((void (*)(void))entry)(); }

static void create(void (*entry)(void), OS_PRIO priority)
{
    OS_ERR error;
    OSTaskCreate(&task[tasks], (CPU_CHAR *)"task", run, (void *)entry, priority, stack[tasks],
                 WORDS / 10u, WORDS, 0u, 0u, (void *)0, OS_OPT_TASK_NONE, &error);
    tasks++;
}

void rtos_task(void (*entry)(void), unsigned priority)
{
    create(entry, (OS_PRIO)(START + 1u + RTOS_URGENT - priority));
}

void rtos_delay(unsigned ticks)
{
    OS_ERR error;
    OSTimeDly(ticks, OS_OPT_TIME_DLY, &error);
}

unsigned rtos_ticks(void)
{
    OS_ERR error;
    return OSTimeGet(&error);
}

void rtos_semaphore_init(rtos_semaphore *semaphore)
{
    OS_ERR error;
    OSSemCreate(semaphore, (CPU_CHAR *)"semaphore", 0u, &error);
}

int rtos_take(rtos_semaphore *semaphore, unsigned ticks)
{
    OS_ERR error;
    OS_TICK wait = ticks == RTOS_FOREVER ? 0u : ticks;
    (void)OSSemPend(semaphore, wait, OS_OPT_PEND_BLOCKING, (CPU_TS *)0, &error);
    return error == OS_ERR_NONE;
}

void rtos_give(rtos_semaphore *semaphore)
{
    OS_ERR error;
    (void)OSSemPost(semaphore, OS_OPT_POST_1, &error);
}

void rtos_give_from_interrupt(rtos_semaphore *semaphore)
{
    OSIntEnter();
    rtos_give(semaphore);
    OSIntExit();
}

static void start(void)
{
    OS_ERR error;
    OS_CPU_SysTickInitFreq(BOARD_CLOCK_HZ);
    demo_set_up();
    OSTaskSuspend((OS_TCB *)0, &error);
}

int main(void)
{
    OS_ERR error;
    CPU_Init();
    OSInit(&error);
    create(start, START);
    OSStart(&error);
    return 0;
}
