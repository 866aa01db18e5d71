/* Start-up of the application on bare metal. */
#include <stdint.h>
#include <string.h>

int main(void);
void SVC_Handler(void);
void PendSV_Handler(void);
void SysTick_Handler(void);

extern char data_load[], data_start[], data_end[], bss_start[], bss_end[], stack_top[];

static void stop(void)
{
    for (;;) {
    }
}

static void reset(void)
{
    memcpy(data_start, data_load, (size_t)(data_end - data_start));
    memset(bss_start, 0, (size_t)(bss_end - bss_start));
#ifdef __ARM_FP
    *(volatile uint32_t *)0xE000ED88u |= 0xFu << 20; /* CPACR: CP10, CP11 */
    __asm volatile("dsb\n\tisb" ::: "memory");
#endif
    (void)main();
    stop();
}

__attribute__((section(".vectors"), used)) static void (*const vector[])(void) = {
    (void (*)(void))(uintptr_t)stack_top,
    reset,
    stop,
    stop,
    stop,
    stop,
    stop,
    0,
    0,
    0,
    0,
    SVC_Handler,
    stop,
    0,
    PendSV_Handler,
    SysTick_Handler,
};
