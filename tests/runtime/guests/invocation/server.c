/* What others invoke. */
#include <fvm/native.h>

#include "board.h"

volatile uint32_t *const board_seen = BOARD->seen; /* for serve_registers in registers.S */

uint32_t serve_sum(uint32_t a, uint32_t b, uint32_t c, uint32_t broken)
{
    return a + b + c + 1000u * broken;
}

/* Waits for a signal of its own process; the caller's thread waits with it. */
uint32_t serve_slow(uint32_t a, uint32_t b, uint32_t c, uint32_t broken)
{
    uint32_t before = BOARD->inside;
    BOARD->inside = 1;
    (void)fvm_signal_wait(FVM_CAP_LATER);
    BOARD->inside = 0;
    return broken | before << 8 | (a + b + c) << 16;
}

uint32_t serve_fault(uint32_t a, uint32_t b, uint32_t c, uint32_t broken)
{
    *(volatile uint32_t *)a = b + c + broken;
    return 0;
}

void fragile(void)
{
    for (;;) {
        (void)fvm_signal_wait(FVM_CAP_BEAT);
        if (BOARD->trap_server != 0 && BOARD->inside != 0) {
            BOARD->trap_server = 0;
            __builtin_trap();
        }
    }
}

int main(void)
{
    BOARD->server_starts++;
    BOARD->inside = 0;
    (void)fvm_port_open(FVM_CAP_SUM);
    (void)fvm_port_open(FVM_CAP_REGISTERS);
    (void)fvm_port_open(FVM_CAP_SLOW);
    (void)fvm_port_open(FVM_CAP_FAULT);
    for (;;) {
        (void)fvm_signal_wait(FVM_CAP_IDLE);
    }
}
