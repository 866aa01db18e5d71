/* Calls all the time, and restarts on order, which breaks a call off. */
#include <fvm/native.h>

#include "board.h"

static void note(int32_t status, uint32_t result)
{
    if (status == FVM_OK) {
        BOARD->ok++;
        BOARD->last = result;
    } else if (status == FVM_E_BUSY) {
        BOARD->busy++;
    } else if (status == FVM_E_FAULT) {
        BOARD->fault++;
    } else {
        BOARD->other++;
    }
}

void caller(void)
{
    for (;;) {
        uint32_t result;
        uint32_t port = BOARD->by_relay != 0 ? FVM_CAP_SLOWLY : FVM_CAP_SLOW;
        int32_t status = fvm_invoke(port, 1, 2, 3, &result);
        note(status, result);
    }
}

int main(void)
{
    BOARD->frail_starts++;
    for (;;) {
        (void)fvm_signal_wait(FVM_CAP_BEAT);
        if (BOARD->trap_frail != 0 && BOARD->inside != 0) {
            BOARD->trap_frail = 0;
            __builtin_trap();
        }
    }
}
