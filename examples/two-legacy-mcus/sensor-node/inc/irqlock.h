/* Critical sections that may stand inside one another. */
#ifndef IRQLOCK_H
#define IRQLOCK_H

#include <stdint.h>

#include "stm32f405xx.h"

static inline uint32_t irq_lock(void)
{
    uint32_t primask = __get_PRIMASK();

    __disable_irq();
    return primask;
}

static inline void irq_unlock(uint32_t primask) { __set_PRIMASK(primask); }

#endif
