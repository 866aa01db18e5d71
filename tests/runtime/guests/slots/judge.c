/* Reports on the maker's slots before and after a restart, which takes a tick a step. */
#include <fvm/native.h>

#include "../report.h"
#include "board.h"

#define MOST 100u /* steps; a restart takes half as many */

static void wait(uint32_t beats)
{
    while (beats-- > 0) {
        (void)fvm_signal_wait(FVM_CAP_BEAT);
    }
}

static void report_slots(void)
{
    report("boots", (int32_t)BOARD->boots);
    report("slot.0", BOARD->free[0]);
    report("slot.1", BOARD->free[1]);
    report("slot.2", BOARD->free[2]);
}

int main(void)
{
    report_init();
    wait(4);
    report_slots();
    BOARD->order = 8;
    while (BOARD->done != BOARD->order) {
        wait(1);
    }
    report("filled", BOARD->filled);
    report("beyond", BOARD->beyond);
    BOARD->stopping = 1;
    int32_t result = FVM_MORE;
    uint32_t steps = 0;
    for (; steps < MOST && result == FVM_MORE; steps++) {
        result = fvm_call(FVM_CALL_DOMAIN_RESTART, FVM_CAP_DOMAIN_MAKER, 0, 0, 0).r0;
        if (result == FVM_MORE) {
            wait(1);
        }
    }
    BOARD->stopping = 0;
    report("steps", (int32_t)steps);
    report("made", BOARD->made);
    report("restart", result);
    wait(4);
    report_slots();
    report("done", 1);
    for (;;) {
        wait(1);
    }
}
