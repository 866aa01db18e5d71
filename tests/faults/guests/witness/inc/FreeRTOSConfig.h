/* FreeRTOS V11.2.0 on STM32F405, 1 kHz tick, as little as two tasks need. */
#ifndef FREERTOS_CONFIG_H
#define FREERTOS_CONFIG_H

#define configUSE_PREEMPTION 1
#define configUSE_PORT_OPTIMISED_TASK_SELECTION 1
#define configCPU_CLOCK_HZ (168000000UL)
#define configTICK_RATE_HZ ((TickType_t)1000)
#define configTICK_TYPE_WIDTH_IN_BITS TICK_TYPE_WIDTH_32_BITS
#define configMAX_PRIORITIES 4
#define configMINIMAL_STACK_SIZE ((uint16_t)192)
#define configTOTAL_HEAP_SIZE ((size_t)(6 * 1024))
#define configMAX_TASK_NAME_LEN 16
#define configIDLE_SHOULD_YIELD 1
#define configUSE_TIME_SLICING 1
#define configUSE_IDLE_HOOK 1
#define configUSE_TICK_HOOK 1

#define INCLUDE_xTaskDelayUntil 1

/* STM32F4 has 4 priority bits. Interrupts more urgent than 5 may not call the kernel. */
#define configPRIO_BITS 4
#define configKERNEL_INTERRUPT_PRIORITY (15 << (8 - configPRIO_BITS))
#define configMAX_SYSCALL_INTERRUPT_PRIORITY (5 << (8 - configPRIO_BITS))

#define vPortSVCHandler SVC_Handler
#define xPortPendSVHandler PendSV_Handler
#define xPortSysTickHandler SysTick_Handler

#endif
