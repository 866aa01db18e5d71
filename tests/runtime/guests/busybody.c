/* A VM that wakes at any time: each interrupt of its timer sets the next, by turns sooner and
 * later. */
#include <fvm/guest.h>

#include "report.h"

#define LINE 9
#define LEAST 150u
#define STEP 37u
#define MOST 1500u
#define CTRL_ENABLE 1u
#define CTRL_INTERRUPT 8u
#define REPORTED 500u

struct timer {
    volatile uint32_t ctrl, value, reload, interrupt;
};
#define TIMER ((struct timer *)0x40001000u)

static volatile uint32_t fired;
static uint32_t after = LEAST;

static void start(void)
{
    after = after < MOST ? after + STEP : LEAST;
    TIMER->value = after;
    TIMER->reload = after;
    TIMER->ctrl = CTRL_ENABLE | CTRL_INTERRUPT;
}

void timer_handler(void)
{
    TIMER->ctrl = 0;
    TIMER->interrupt = 1;
    fired++;
    start();
}

void ring_handler(void) {}

int main(void)
{
    report_init();
    (void)hyp_irq_ena(LINE);
    start();
    for (;;) {
        (void)hyp_vct_wait();
        if (fired == REPORTED) {
            report("fired", (int32_t)fired);
        }
    }
}
