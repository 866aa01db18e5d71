/* Calls the port that the judge names. */
#include "board.h"

int main(void)
{
    for (;;) {
        (void)fvm_signal_wait(FVM_CAP_CALL);
        uint32_t result = 0;
        uint32_t port = BOARD->port == 1u ? FVM_CAP_FIRST : FVM_CAP_SECOND;
        BOARD->status = fvm_invoke(port, 0, 0, 0, &result);
        BOARD->result = result;
    }
}
