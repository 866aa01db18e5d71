/* Threads that somebody else stops and ranks. */
#include <fvm/native.h>

#include "board.h"

void busy(void)
{
    for (;;) {
        BOARD->busy++;
        if (BOARD->quiet != 0) {
            (void)fvm_signal_wait(FVM_CAP_REST);
        }
    }
}

void caller(void)
{
    uint32_t result;
    for (;;) {
        BOARD->caller_status = 100u + (uint32_t)fvm_invoke(FVM_CAP_WAIT, 0, 0, 0, &result);
    }
}

int main(void)
{
    uint32_t nothing;
    BOARD->starts++;
    for (;;) {
        (void)fvm_signal_wait(FVM_CAP_TICK);
        if (BOARD->restart != 0) {
            BOARD->restart = 0;
            (void)fvm_function(FVM_CAP_RESTART, &nothing);
        }
    }
}
