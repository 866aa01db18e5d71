/* A native process with one thread that a timer signal wakes: the smallest process there is, and
 * the witness that processes keep their time whatever a VM does. */
#include "fvm_domain.h"
#include <fvm/native.h>

static volatile uint32_t beats; /* for a debugger; the kernel counts the signals it delivered */

int main(void)
{
    for (;;) {
        int32_t count = fvm_signal_wait(FVM_CAP_BEAT);
        beats += count > 0 ? (uint32_t)count : 0;
    }
}
