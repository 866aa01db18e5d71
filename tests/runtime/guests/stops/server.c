/* Its second port opens the first one, and fills a slot of the process. */
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

int main(void)
{
    BOARD->starts++;
    BOARD->made = fvm_create_signal(FVM_CAP_KERNEL_MEMORY, 0, 0);
    (void)fvm_port_open(FVM_CAP_FIRST);
    (void)fvm_port_open(FVM_CAP_SECOND);
    BOARD->in_main = 1;
    for (;;) {
        (void)fvm_signal_wait(FVM_CAP_IDLE);
    }
}
