/* The demonstration on RTX5, whose highest numbers are the most urgent priorities. */
#include "cmsis_os2.h"

#include "chip.h"
#include "os_tick.h"
#include "rtos.h"

static osRtxThread_t thread[RTOS_TASKS];
static uint64_t stack[RTOS_TASKS][RTOS_STACK_BYTES / sizeof(uint64_t)];
static unsigned threads;

static void run(void *entry) { ((void (*)(void))entry)(); }

void rtos_task(void (*entry)(void), unsigned priority)
{
    const osThreadAttr_t attributes = {
        .cb_mem = &thread[threads],
        .cb_size = sizeof thread[threads],
        .stack_mem = stack[threads],
        .stack_size = sizeof stack[threads],
        .priority = (osPriority_t)(osPriorityLow + (int)priority),
    };
    (void)osThreadNew(run, (void *)entry, &attributes);
    threads++;
}

void rtos_delay(unsigned ticks) { (void)osDelay(ticks); }

unsigned rtos_ticks(void) { return osKernelGetTickCount(); }

void rtos_semaphore_init(rtos_semaphore *semaphore)
{
    const osSemaphoreAttr_t attributes = {.cb_mem = semaphore, .cb_size = sizeof *semaphore};
    (void)osSemaphoreNew(0xFFFFu, 0u, &attributes);
}

int rtos_take(rtos_semaphore *semaphore, unsigned ticks)
{
    uint32_t wait = ticks == RTOS_FOREVER ? osWaitForever : ticks;
    return osSemaphoreAcquire(semaphore, wait) == osOK;
}

void rtos_give(rtos_semaphore *semaphore) { (void)osSemaphoreRelease(semaphore); }

void rtos_give_from_interrupt(rtos_semaphore *semaphore) { (void)osSemaphoreRelease(semaphore); }

void osRtxIdleThread(void *argument)
{
    (void)argument;
    for (;;) {
        __WFI();
    }
}

uint32_t osRtxErrorNotify(uint32_t code, void *object)
{
    (void)code;
    (void)object;
    for (;;) {
    }
}

/* The board's part of the tick: never stopped, and at the lowest priority that the core has,
 * whatever number of bits that is, as RTX5 does with PendSV. */
int32_t OS_Tick_Setup(uint32_t frequency, IRQHandler_t handler)
{
    (void)frequency;
    (void)handler;
    SCB->SHPR[11] = 0xFFu;
    SysTick->LOAD = BOARD_CLOCK_HZ / RTOS_TICKS_PER_SECOND - 1u;
    SysTick->VAL = 0u;
    SysTick->CTRL = 7u;
    return 0;
}

void OS_Tick_Enable(void) {}

void OS_Tick_Disable(void) {}

void OS_Tick_AcknowledgeIRQ(void) {}

int32_t OS_Tick_GetIRQn(void) { return (int32_t)SysTick_IRQn; }

uint32_t OS_Tick_GetClock(void) { return SystemCoreClock; }

uint32_t OS_Tick_GetInterval(void) { return SystemCoreClock / RTOS_TICKS_PER_SECOND; }

uint32_t OS_Tick_GetCount(void) { return 0u; }

uint32_t OS_Tick_GetOverflow(void) { return 0u; }

int main(void)
{
    (void)osKernelInitialize();
    demo_set_up();
    (void)osKernelStart();
    return 0;
}
