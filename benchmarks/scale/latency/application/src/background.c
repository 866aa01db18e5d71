/* The load as a part of the application: a task below all others, and an interrupt of lower
 * priority than the one that is measured. In a composed system it is a machine of its own instead.
 */
#include "FreeRTOS.h"
#include "task.h"

#include "core.h"
#include "load.h"

enum { STACK = 128 };

static void compute(void *unused)
{
    (void)unused;
    for (;;) {
        load_compute();
    }
}

void background_start(void)
{
    xTaskCreate(compute, "background", STACK, NULL, tskIDLE_PRIORITY + 1, NULL);
    NVIC_SetPriority(TIMER1_LINE, configLIBRARY_MAX_SYSCALL_INTERRUPT_PRIORITY + 1);
    NVIC_EnableIRQ(TIMER1_LINE);
    load_start();
}

void vApplicationIdleHook(void) {}
