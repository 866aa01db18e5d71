/* More urgent than who stops the server, and tries again at once. */
#include <fvm/native.h>

#include "fvm_domain.h"

int main(void)
{
    for (;;) {
        uint32_t result;
        if (fvm_invoke(FVM_CAP_HELD, 0, 0, 0, &result) != FVM_E_FAULT) {
            (void)fvm_signal_wait(FVM_CAP_TICK); /* closed still, or already */
        }
    }
}
