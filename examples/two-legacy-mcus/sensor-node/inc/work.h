/* What interrupts leave for the main loop to do. */
#ifndef WORK_H
#define WORK_H

#include <stdint.h>

#define WORK_TICK (1U << 0)
#define WORK_CONSOLE (1U << 1)
#define WORK_LINK (1U << 2)

extern volatile uint32_t work;

/* From interrupts, which may interrupt each other, and from the main loop. */
void work_set(uint32_t flags);

/* Returns what there is to do and clears it. */
uint32_t work_take(void);

#endif
