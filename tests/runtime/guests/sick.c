/* A process that faults, 200 ms after its first start and at once after any other. */
#include <fvm/native.h>

#include "fvm_domain.h"
#include "report.h"

int main(void)
{
    if (boots() == 1) {
        (void)fvm_signal_wait(FVM_CAP_LATER);
    }
    *(volatile uint32_t *)0 = 0;
    return 0;
}
