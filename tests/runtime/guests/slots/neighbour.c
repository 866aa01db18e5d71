/* Fills the maker's slots as often as it is told, and takes all of it back. */
#include <fvm/native.h>

#include "board.h"

uint32_t serve(uint32_t a, uint32_t b, uint32_t c, uint32_t d) { return a + b + c + d; }

int main(void)
{
    for (;;) {
        (void)fvm_signal_wait(FVM_CAP_BEAT);
        if (BOARD->done == BOARD->order) {
            continue;
        }
        BOARD->beyond = fvm_delegate(FVM_CAP_SLOTS_MAKER, FVM_CAP_TRIFLE, FVM_RIGHT_INVOKE, 1);
        BOARD->filled = 0;
        for (uint32_t i = BOARD->done; i < BOARD->order; i++) {
            if (fvm_delegate(FVM_CAP_SLOTS_MAKER, FVM_CAP_TRIFLE, FVM_RIGHT_INVOKE, 0) > 0) {
                BOARD->filled++;
            }
            (void)fvm_revoke(FVM_CAP_TRIFLE);
        }
        BOARD->done = BOARD->order;
    }
}
