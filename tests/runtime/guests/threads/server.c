/* A port in which one stays for long. */
#include <fvm/native.h>

#include "board.h"

uint32_t serve_wait(uint32_t a, uint32_t b, uint32_t c, uint32_t broken)
{
    BOARD->inside++;
    BOARD->broken = broken;
    return (uint32_t)fvm_signal_wait(FVM_CAP_LONG) + a + b + c;
}

int main(void)
{
    (void)fvm_port_open(FVM_CAP_WAIT);
    for (;;) {
        (void)fvm_signal_wait(FVM_CAP_IDLE);
    }
}
