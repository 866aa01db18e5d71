/* Start-up of the demonstration on bare metal; the RTOS's handlers come from the command line. */
#include <stdint.h>
#include <string.h>

#include "board.h"

int main(void);
void SWITCH(void);
void TICK(void);
#ifdef SUPERVISOR
void SUPERVISOR(void);
#else
#define SUPERVISOR stop
#endif

extern char data_load[], data_start[], data_end[], bss_start[], bss_end[], stack_top[];

static void stop(void)
{
    for (;;) {
    }
}

/* Where an RTOS puts its handlers at run time. */
static void (*table[64])(void) __attribute__((aligned(256)));

static void reset(void);

__attribute__((section(".vectors"), used)) static void (*const vector[])(void) = {
    [0] = (void (*)(void))(uintptr_t)stack_top,
    [1] = reset,
    [2 ... 6] = stop,
    [11] = SUPERVISOR,
    [14] = SWITCH,
    [15] = TICK,
    [16 + BOARD_TIMER_LINE] = board_timer_handler,
};

static void reset(void)
{
    memcpy(data_start, data_load, (size_t)(data_end - data_start));
    memset(bss_start, 0, (size_t)(bss_end - bss_start));
#ifdef __ARM_FP
    *(volatile uint32_t *)0xE000ED88u |= 0xFu << 20; /* CPACR: CP10, CP11 */
    __asm volatile("dsb\n\tisb" ::: "memory");
#endif
    memcpy(table, vector, sizeof vector);
    *(void *volatile *)0xE000ED08u = table; /* VTOR */
    (void)main();
    stop();
}
