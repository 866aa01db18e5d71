/* What interrupts leave for the main loop to do. */
#include "work.h"

#include "irqlock.h"

volatile uint32_t work;

void work_set(uint32_t flags)
{
    uint32_t state = irq_lock();

    work |= flags;
    irq_unlock(state);
}

uint32_t work_take(void)
{
    uint32_t flags;

    __disable_irq();
    flags = work;
    work = 0;
    __enable_irq();
    return flags;
}
