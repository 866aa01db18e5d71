/* Never waits but in the port, and when it is thrown out tries again. */
#include <fvm/native.h>

#include "fvm_domain.h"

void eager(void)
{
    volatile uint32_t *tried = (volatile uint32_t *)FVM_SHM_BOARD;
    (void)fvm_signal_wait(FVM_CAP_TICK); /* the port opens */
    for (;;) {
        uint32_t result;
        *tried += 1u;
        (void)fvm_invoke(FVM_CAP_PATIENT, 0, 0, 0, &result);
    }
}
