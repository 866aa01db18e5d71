/* Asks the keeper to stop the asking thread, another one, and the whole process. */
#include <fvm/native.h>

#include "fvm_domain.h"
#include "../report.h"

static volatile uint32_t rounds; /* of the other thread */

void second(void)
{
    while (fvm_signal_wait(FVM_CAP_PACE) > 0) {
        rounds++;
    }
    (void)fvm_thread_stop(FVM_NONE); /* `main` waits for it */
}

static void ask(const char *name, uint32_t port, uint32_t argument)
{
    uint32_t result = 0x55;
    report(name, fvm_invoke(port, argument, 0, 0, &result));
    report("result", (int32_t)result);
}

int main(void)
{
    report_init();
    report("boot", (int32_t)boots());
    ask("restart", FVM_CAP_RESTART_ME, 0);
    ask("stop_me", FVM_CAP_STOP_ME, 0);
    ask("stop_other", FVM_CAP_STOP_ME, 1);
    report("alive", (int32_t)rounds);
    for (;;) {
        (void)fvm_signal_wait(FVM_CAP_PACE);
    }
}
