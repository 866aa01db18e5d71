/* Does what the judge orders. */
#include "board.h"

int main(void)
{
    for (;;) {
        (void)fvm_signal_wait(FVM_CAP_CALL);
        uint32_t result = 0;
        if (BOARD->order == SIGNAL) {
            BOARD->status = fvm_signal_wait((uint32_t)BOARD->given);
        } else {
            BOARD->status = fvm_invoke(BOARD->order == FIRST    ? FVM_CAP_FIRST
                                       : BOARD->order == SECOND ? FVM_CAP_SECOND
                                                                : FVM_CAP_WAITS,
                                       0, 0, 0, &result);
        }
        BOARD->result = result;
        BOARD->done++;
    }
}
