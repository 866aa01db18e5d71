/* 1 kHz time base and the heartbeats. */
#ifndef SYSTICK_H
#define SYSTICK_H

#include <stdint.h>

#define SYSTICK_HZ 1000U
#define SYSTICK_LOOP_PERIOD 10U /* ticks a beat of the main loop */
#define SYSTICK_ISR_PERIOD 20U  /* ticks a beat of the interrupt */

struct systick_status {
    uint32_t ticks;
    uint32_t loop_beats;
    uint32_t isr_beats;
};

void systick_init(void);
uint32_t systick_ticks(void);

/* From the main loop: counts the beats that are due. */
void systick_beat(void);

/* All values as of one tick. */
void systick_get_status(struct systick_status *status);

#endif
