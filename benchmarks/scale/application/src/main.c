/* Any number of equal tasks: they yield to each other; then one waits for an interrupt, which wakes
 * a more urgent task, while the others stay ready.*/
#include "FreeRTOS.h"
#include "task.h"

#include "board.h"
#include "core.h"
#include "scale.h"

ROUNDS(ctx);
ROUNDS(interrupt);

enum { MEMBER = 2, RECEIVER = 3, DRIVER = 6, STACK = 112 };

static TaskHandle_t receiver;
static volatile unsigned left, received;

void vPortSetupTimerInterrupt(void) {} /* no tick */

MARKED void BOARD_HANDLER(void)
{
    BaseType_t woken = pdFALSE;
    MARK(handler);
    board_acknowledge();
    vTaskNotifyGiveFromISR(receiver, &woken);
    portYIELD_FROM_ISR(woken);
}

static MARKED void receive(void *unused)
{
    (void)unused;
    for (;;) {
        (void)ulTaskNotifyTake(pdTRUE, portMAX_DELAY);
        MARK(task);
        received++;
    }
}

static MARKED void member(void *unused)
{
    (void)unused;
    while (left != 0) {
        left--;
        FORGET();
        MARK(ctx_start);
        taskYIELD();
        MARK(ctx_stop);
    }
    while (received != rounds_interrupt) {
        unsigned before = received;
        board_trigger();
        while (received == before) {
        }
    }
    vTaskSuspend(NULL);
}

static void drive(void *unused)
{
    (void)unused;
    left = rounds_ctx;
    xTaskCreate(receive, "receiver", STACK, NULL, RECEIVER, &receiver);
    for (unsigned n = scale_tasks; n != 0; n--) {
        xTaskCreate(member, "member", STACK, NULL, MEMBER, NULL);
    }
    vTaskPrioritySet(NULL, 1); /* until they are suspended */
    vTaskPrioritySet(NULL, DRIVER);
    run_guest();
    for (;;) {
        rest();
    }
}

int main(void)
{
    board_init();
    NVIC_SetPriority(BOARD_LINE, configLIBRARY_MAX_SYSCALL_INTERRUPT_PRIORITY);
    NVIC_EnableIRQ(BOARD_LINE);
    xTaskCreate(drive, "driver", STACK, NULL, DRIVER, NULL);
    vTaskStartScheduler();
    for (;;) {
    }
}
