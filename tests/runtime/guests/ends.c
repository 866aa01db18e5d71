/* A process whose thread of the run time waits for a signal when the process faults: its stop ends
 * that thread, too. */
#include <fvm/native.h>

#include "fvm_domain.h"

static uint64_t stack[64];

static void waits(uint32_t argument)
{
    (void)argument;
    for (;;) {
        (void)fvm_signal_wait(FVM_CAP_NEVER);
    }
}

uint32_t serve(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    (void)b;
    (void)c;
    (void)d;
    return a;
}

int main(void)
{
    (void)fvm_port_open(FVM_CAP_HELP);
    int32_t thread = fvm_create_thread(FVM_CAP_KERNEL_MEMORY, 0, 0, 8);
    if (thread > 0) {
        (void)fvm_thread_run((uint32_t)thread, waits, stack + 64, 1);
    }
    (void)fvm_signal_wait(FVM_CAP_BEAT);
    (void)fvm_signal_wait(FVM_CAP_BEAT);
    __builtin_trap();
}
