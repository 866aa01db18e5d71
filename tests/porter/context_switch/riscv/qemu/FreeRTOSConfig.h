/* One configuration for both. configMTIME_* are QEMU's: the original's tick. */
#define configMTIME_BASE_ADDRESS 0x200BFF8
#define configMTIMECMP_BASE_ADDRESS 0x2004000
#define configCPU_CLOCK_HZ 10000000
#define configTICK_RATE_HZ 1000
#define configTICK_TYPE_WIDTH_IN_BITS TICK_TYPE_WIDTH_32_BITS
#define configMAX_PRIORITIES 4
#define configMINIMAL_STACK_SIZE 256
#define configTOTAL_HEAP_SIZE 32768
#define configISR_STACK_SIZE_WORDS 512
#define configUSE_PREEMPTION 1
#define configUSE_TIME_SLICING 1
#define configUSE_IDLE_HOOK 0
#define configUSE_TICK_HOOK 0
#define INCLUDE_vTaskDelay 1
#define INCLUDE_vTaskDelete 1
