/* Its second port opens the first one, and fills a slot of the process. Its third one waits. */
#include "board.h"

uint32_t serve_first(uint32_t a, uint32_t b, uint32_t c, uint32_t broken)
{
    (void)a, (void)b, (void)c, (void)broken;
    return BOARD->in_main;
}

uint32_t serve_second(uint32_t a, uint32_t b, uint32_t c, uint32_t broken)
{
    (void)a, (void)b, (void)c, (void)broken;
    (void)fvm_create_signal(FVM_CAP_KERNEL_MEMORY, 0, 0);
    return (uint32_t)fvm_port_open(FVM_CAP_FIRST);
}

uint32_t serve_wait(uint32_t a, uint32_t b, uint32_t c, uint32_t broken)
{
    (void)a, (void)b, (void)c, (void)broken;
    return (uint32_t)fvm_signal_wait(FVM_CAP_NEVER);
}

uint32_t serve_spin(uint32_t a, uint32_t b, uint32_t c, uint32_t broken)
{
    (void)a, (void)b, (void)c;
    BOARD->broken = broken;
    while (BOARD->go == 0) {
        BOARD->spins = 1;
    }
    BOARD->go = 0;
    return 0;
}

int main(void)
{
    BOARD->starts++;
    BOARD->made = fvm_create_signal(FVM_CAP_KERNEL_MEMORY, 0, 0);
    (void)fvm_port_open(FVM_CAP_FIRST);
    (void)fvm_port_open(FVM_CAP_SECOND);
    (void)fvm_port_open(FVM_CAP_WAITS);
    (void)fvm_port_open(FVM_CAP_SPINS);
    BOARD->given = fvm_delegate(FVM_CAP_SLOTS_CLIENT, (uint32_t)BOARD->made, FVM_RIGHT_WAIT, 0);
    BOARD->in_main = 1;
    for (;;) {
        (void)fvm_signal_wait(FVM_CAP_IDLE);
    }
}
