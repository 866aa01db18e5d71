/* A port that answers, two that wait for a while, one that never comes back. */
#include <fvm/native.h>

#include "fvm_domain.h"

/* Until the next beat, whatever came before. */
static void wait_for(uint32_t beat)
{
    (void)fvm_signal_wait(beat);
    (void)fvm_signal_wait(beat);
}

uint32_t serve_paced(uint32_t a, uint32_t b, uint32_t c, uint32_t broken)
{
    (void)b, (void)c, (void)broken;
    wait_for(FVM_CAP_PACE);
    return a + 1u;
}

uint32_t serve_patient(uint32_t a, uint32_t b, uint32_t c, uint32_t broken)
{
    (void)b, (void)c, (void)broken;
    wait_for(FVM_CAP_BEAT);
    return a;
}

uint32_t serve_echo(uint32_t a, uint32_t b, uint32_t c, uint32_t broken)
{
    (void)b, (void)c, (void)broken;
    return a;
}

uint32_t serve_held(uint32_t a, uint32_t b, uint32_t c, uint32_t broken)
{
    (void)b, (void)c, (void)broken;
    (void)fvm_signal_wait(FVM_CAP_NEVER);
    return a;
}

int main(void)
{
    (void)fvm_port_open(FVM_CAP_PACED);
    (void)fvm_port_open(FVM_CAP_PATIENT);
    (void)fvm_port_open(FVM_CAP_ECHO);
    (void)fvm_port_open(FVM_CAP_HELD);
    for (;;) {
        (void)fvm_signal_wait(FVM_CAP_IDLE);
    }
}
