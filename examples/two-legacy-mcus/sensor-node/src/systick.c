/* Time base: one heartbeat is counted in the interrupt, the other in the main loop. */
#include "systick.h"

#include "stm32f405xx.h"
#include "system_stm32f4xx.h"
#include "work.h"

static volatile uint32_t ticks;
static volatile uint32_t loop_beats, isr_beats;

void systick_init(void) { (void)SysTick_Config(SystemCoreClock / SYSTICK_HZ); }

void SysTick_Handler(void)
{
    ticks++;
    if (ticks % SYSTICK_ISR_PERIOD == 0) {
        isr_beats++;
    }
    work_set(WORK_TICK);
}

uint32_t systick_ticks(void) { return ticks; }

void systick_beat(void)
{
    static uint32_t last;

    while (ticks - last >= SYSTICK_LOOP_PERIOD) {
        last += SYSTICK_LOOP_PERIOD;
        loop_beats++;
    }
}

void systick_get_status(struct systick_status *status)
{
    __asm volatile("cpsid i" : : : "memory");
    status->ticks = ticks;
    status->loop_beats = loop_beats;
    status->isr_beats = isr_beats;
    __enable_irq();
}
