/* The load: interrupts of TIMER1, as many as the program that runs the image says, and a task or a
 * machine that computes all the time. Less important than what is measured. */
#ifndef LATENCY_LOAD_H
#define LATENCY_LOAD_H

#include <stdint.h>

struct timer {
    volatile uint32_t CTRL, VALUE, RELOAD, INTCLEAR;
};
#define TIMER0 ((struct timer *)0x40000000u)
#define TIMER1 ((struct timer *)0x40001000u)
#define TIMER_INTERRUPTS 9u /* enabled, with interrupt */
#define TIMER1_LINE 9

extern const unsigned flood_cycles; /* 0: no flood */

void load_start(void);   /* opens the line, starts the flood */
void load_compute(void); /* one step of a computation */
void TIMER1_IRQHandler(void);

#endif
