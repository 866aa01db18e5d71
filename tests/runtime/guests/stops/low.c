/* Calls the port that spins until the call ends well. */
#include "board.h"

int main(void)
{
    uint32_t result;
    while (fvm_invoke(FVM_CAP_SPINS, 0, 0, 0, &result) != FVM_OK) {
        (void)fvm_signal_wait(FVM_CAP_AGAIN);
    }
    for (;;) {
        (void)fvm_signal_wait(FVM_CAP_NEVER);
    }
}
