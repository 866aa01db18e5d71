/* Motor controller: speed loop under FreeRTOS, console on USART1, sensor node on the link. */
#include "FreeRTOS.h"
#include "task.h"

#include "clock.h"
#include "comm.h"
#include "console.h"
#include "motor.h"
#include "stm32f405xx.h"

int main(void)
{
    clock_init();
    motor_init();
    comm_init();
    console_init();
    vTaskStartScheduler();
    configASSERT(0); /* the scheduler comes back only for want of memory */
}

/* Stops everything; the watchdog restarts the controller. The arguments are for the debugger. */
void assert_failed(const char *file, int line)
{
    (void)file;
    (void)line;
    taskDISABLE_INTERRUPTS();
    for (;;) {
    }
}

void vApplicationIdleHook(void) { __WFI(); }

void vApplicationStackOverflowHook(TaskHandle_t task, char *name)
{
    (void)task;
    assert_failed(name, 0);
}

void vApplicationMallocFailedHook(void) { assert_failed(__FILE__, __LINE__); }
