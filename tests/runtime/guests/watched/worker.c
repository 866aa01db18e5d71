/* Works for ten pulses after each of its starts, then loops. */
#include <fvm/native.h>

#include "alive.h"

int main(void)
{
    for (uint32_t pulse = 0; pulse < 10u; pulse++) {
        (void)fvm_signal_wait(FVM_CAP_PULSE);
        ALIVE->pulses++;
    }
    for (;;) {
    }
}
