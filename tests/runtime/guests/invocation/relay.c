/* Invoked, it invokes. */
#include <fvm/native.h>

#include "board.h"

/* a: whether the server shall fault. */
uint32_t serve_passed_on(uint32_t a, uint32_t b, uint32_t c, uint32_t broken)
{
    uint32_t result = broken;
    int32_t status = fvm_invoke(a != 0 ? FVM_CAP_FAULT : FVM_CAP_SUM, b, c, 7, &result);
    return status == FVM_OK ? result : (uint32_t)status;
}

uint32_t serve_slowly(uint32_t a, uint32_t b, uint32_t c, uint32_t broken)
{
    uint32_t result = broken;
    int32_t status = fvm_invoke(FVM_CAP_SLOW, a, b, c, &result);
    return status == FVM_OK ? result : (uint32_t)status;
}

void fragile(void)
{
    for (;;) {
        (void)fvm_signal_wait(FVM_CAP_BEAT);
        if (BOARD->trap_relay != 0 && BOARD->inside != 0) {
            BOARD->trap_relay = 0;
            __builtin_trap();
        }
    }
}

int main(void)
{
    BOARD->relay_starts++;
    (void)fvm_port_open(FVM_CAP_PASSED_ON);
    (void)fvm_port_open(FVM_CAP_SLOWLY);
    for (;;) {
        (void)fvm_signal_wait(FVM_CAP_IDLE);
    }
}
