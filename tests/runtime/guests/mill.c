/* A process that works for every event of a VM: instructions as the test writes into the image. */
#include <fvm/native.h>

#include "fvm_domain.h"
#include "plan.h"

int main(void)
{
    for (;;) {
        (void)fvm_signal_wait(FVM_CAP_TO_MILL);
        for (uint32_t left = plan[0] / 2u; left != 0; left--) {
            __asm volatile("");
        }
    }
}
