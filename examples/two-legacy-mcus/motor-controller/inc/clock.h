/* System clock: 168 MHz from the 8 MHz crystal. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>

#define CLOCK_HCLK_HZ 168000000UL
#define CLOCK_APB1_HZ 42000000UL
#define CLOCK_APB2_HZ 84000000UL

/* Ready waits of clock_init that ran out. */
extern uint32_t clock_timeouts;

void clock_init(void);

#endif
