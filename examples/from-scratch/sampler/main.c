/* A native process: one thread, more urgent than any VM, that sleeps until its timer's signal. */
#include <fvm/native.h>

#include "fvm_domain.h"

int main(void)
{
    volatile uint32_t *sample = FVM_SHM_SAMPLE;

    for (;;) {
        int32_t periods = fvm_signal_wait(FVM_CAP_PERIOD);
        if (periods > 0) {
            *sample += (uint32_t)periods;
            (void)fvm_event_send(FVM_CAP_SAMPLED); /* refused while the VM starts anew */
        }
    }
}
