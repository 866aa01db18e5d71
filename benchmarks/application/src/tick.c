/* tick: from the timer's interrupt to the line after the vTaskDelay that it ends, in a task of
 * higher priority than the one interrupted. */
#include "board.h"
#include "core.h"
#include "operations.h"

ROUNDS(tick);

static volatile unsigned left;

static MARKED void delays(void *unused)
{
    (void)unused;
    while (left != 0) {
        vTaskDelay(1);
        MARK(tick_stop);
        left--;
    }
    finish();
}

static MARKED void interrupted(void *unused)
{
    (void)unused;
    while (left != 0) {
    }
    finish();
}

void run_tick(void)
{
    left = rounds_tick;
    if (left != 0) {
        (void)SysTick_Config(BOARD_CLOCK_HZ / configTICK_RATE_HZ);
        run_tasks(delays, HIGH, interrupted, LOW);
    }
}
