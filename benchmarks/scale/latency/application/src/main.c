/* A task that an interrupt wakes: the timer is started by the task itself after a while that is
 * never the same, so that the interrupt meets whatever else happens at every moment of it. */
#include "FreeRTOS.h"
#include "task.h"

#include "core.h"
#include "load.h"
#include "marks.h"

ROUNDS(latency);

#define LINE 8         /* TIMER0 */
#define DELAY 2500u    /* cycles: 6250 instructions with shift=4 */
#define SPIN_MASK 511u /* iterations */

enum { RECEIVER = 5, STACK = 160 };

void background_start(void);

static TaskHandle_t receiver;

void TIMER0_IRQHandler(void)
{
    BaseType_t woken = pdFALSE;
    TIMER0->CTRL = 0;
    TIMER0->INTCLEAR = 1u;
    vTaskNotifyGiveFromISR(receiver, &woken);
    portYIELD_FROM_ISR(woken);
}

static MARKED void receive(void *unused)
{
    (void)unused;
    uint32_t random = 1;
    background_start();
    for (unsigned left = rounds_latency; left != 0; left--) {
        random = random * 1664525u + 1013904223u;
        for (volatile uint32_t spin = random >> 8 & SPIN_MASK; spin != 0; spin--) {
        }
        TIMER0->VALUE = DELAY;
        /* The mark is at the store itself, so that no interrupt comes between the two. */
        __asm volatile("mark_armed.%=: str %1, [%0]" ::"r"(&TIMER0->CTRL), "r"(TIMER_INTERRUPTS)
                       : "memory");
        (void)ulTaskNotifyTake(pdTRUE, portMAX_DELAY);
        MARK(task);
    }
    vTaskSuspend(NULL);
}

int main(void)
{
    TIMER0->RELOAD = 0;
    NVIC_SetPriority(LINE, configLIBRARY_MAX_SYSCALL_INTERRUPT_PRIORITY);
    NVIC_EnableIRQ(LINE);
    xTaskCreate(receive, "receiver", STACK, NULL, RECEIVER, &receiver);
    vTaskStartScheduler();
    for (;;) {
    }
}
