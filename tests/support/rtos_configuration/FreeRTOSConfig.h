/* A FreeRTOS port that nothing is configured of. */
#ifndef __ASSEMBLER__
#include <stdint.h>
void handle_interrupt(uint32_t cause); /* RISC-V: what portasmHANDLE_INTERRUPT says */
#endif
#define configUSE_PREEMPTION 1
#define configUSE_IDLE_HOOK 0
#define configUSE_TICK_HOOK 0
#define configUSE_16_BIT_TICKS 0
#define configENABLE_MPU 0
#define configCPU_CLOCK_HZ 16000000
#define configTICK_RATE_HZ 1000
#define configMAX_PRIORITIES 5
#define configMINIMAL_STACK_SIZE 128
#define configTOTAL_HEAP_SIZE 8192
#define configPRIO_BITS 4
#define configKERNEL_INTERRUPT_PRIORITY 0xF0
#define configMAX_SYSCALL_INTERRUPT_PRIORITY 0x50
#define configMTIME_BASE_ADDRESS 0x0200BFF8
#define configMTIMECMP_BASE_ADDRESS 0x02004000
#define configCLINT_BASE_ADDRESS 0x02000000 /* before V10.3.0 */
