/* See load.h. The handler does what one of a network adapter does: it takes a frame. */
#include "load.h"
#include "marks.h"

#define FRAME_WORDS 16u

static volatile uint32_t adapter[FRAME_WORDS], frame[FRAME_WORDS], frames, sum;

MARKED void TIMER1_IRQHandler(void)
{
    MARK(flood);
    TIMER1->INTCLEAR = 1u;
    for (uint32_t i = 0; i < FRAME_WORDS; i++) {
        frame[i] = adapter[i];
    }
    frames++;
}

void load_start(void)
{
    if (flood_cycles != 0) {
        TIMER1->RELOAD = flood_cycles - 1u;
        TIMER1->VALUE = flood_cycles - 1u;
        TIMER1->CTRL = TIMER_INTERRUPTS;
    }
}

void load_compute(void) { sum = sum * 1664525u + frames; }
