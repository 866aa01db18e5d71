/* The less urgent of two processes. At the start it signals and invokes the other, again and again;
 * later it waits for a line while the virtual machine runs. */
#include "fvm_domain.h"
#include <fvm/native.h>

#include "marks.h"

ROUNDS(signal);
ROUNDS(invoke);

static MARKED void signals(void)
{
    for (unsigned left = rounds_signal; left != 0; left--) {
        FORGET();
        MARK(signal_start);
        (void)fvm_event_send(FVM_CAP_TO_SERVER);
        MARK(signal_return);
    }
}

static MARKED void invocations(void)
{
    uint32_t answer;
    for (unsigned left = rounds_invoke; left != 0; left--) {
        FORGET();
        MARK(invoke_start);
        (void)fvm_invoke(FVM_CAP_ANSWER, 1, 2, 3, &answer);
        MARK(invoke_stop);
    }
}

/* The virtual machine has the device, this process its line: it is interrupted by what it does. The
 * line stays closed until the next wait, so the machine has time to acknowledge. */
static MARKED void interrupts(void)
{
    for (;;) {
        (void)fvm_signal_wait(FVM_CAP_BEGIN);
        (void)fvm_signal_wait(BENCH_LINE);
        MARK(native_stop);
    }
}

int main(void)
{
    signals();
    invocations();
    interrupts();
}
