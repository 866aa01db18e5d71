/* One operation after the other. The driver outranks every task while it makes them, so that all
 * are there when the first one starts. */
#include "FreeRTOS.h"
#include "task.h"

#include "board.h"
#include "core.h"
#include "operations.h"

enum { STACK = 192 };

void vPortSetupTimerInterrupt(void) {} /* no tick until its own operation */

static TaskHandle_t create(TaskFunction_t function, UBaseType_t priority)
{
    TaskHandle_t task = NULL;
    if (function != NULL) {
        xTaskCreate(function, "measured", STACK, NULL, priority, &task);
    }
    return task;
}

void run_tasks(TaskFunction_t first, UBaseType_t first_priority, TaskFunction_t second,
               UBaseType_t second_priority)
{
    TaskHandle_t task[2] = {create(first, first_priority), create(second, second_priority)};
    vTaskPrioritySet(NULL, 1); /* until they are suspended */
    vTaskPrioritySet(NULL, DRIVER);
    for (int i = 0; i < 2; i++) {
        if (task[i] != NULL) {
            vTaskDelete(task[i]);
        }
    }
}

void finish(void) { vTaskSuspend(NULL); }

static void driver(void *unused)
{
    (void)unused;
    run_cooperative();
    run_messages();
    run_interrupts();
    run_guest();
    run_tick();
    for (;;) {
    }
}

int main(void)
{
    board_init();
    NVIC_SetPriority(BOARD_LINE, configLIBRARY_MAX_SYSCALL_INTERRUPT_PRIORITY);
    NVIC_EnableIRQ(BOARD_LINE);
    xTaskCreate(driver, "driver", STACK, NULL, DRIVER, NULL);
    vTaskStartScheduler();
    for (;;) {
    }
}
