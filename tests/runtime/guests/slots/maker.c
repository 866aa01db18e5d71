/* Fills and empties its slots at its start; then its thread tries for ever to fill the first one,
 * and to pass on what is in it, by the number that it would have if closing it changed but one bit.
 */
#include <fvm/native.h>

#include "board.h"

#define WORKER 1u /* the thread's slot */

static uint64_t stack[64];

static void worker(uint32_t unused)
{
    (void)unused;
    for (;;) {
        if (BOARD->stopping != 0) {
            int32_t number = fvm_create_signal(FVM_CAP_KERNEL_MEMORY, 0, 0);
            if (number > 0) {
                BOARD->made = number;
            }
            uint32_t made = (uint32_t)BOARD->made;
            (void)fvm_delegate(FVM_CAP_SLOTS_NEIGHBOUR, made, FVM_RIGHT_SEND, 0);
            made &= ~FVM_CAP_RUN_TIME;
            (void)fvm_delegate(FVM_CAP_SLOTS_NEIGHBOUR, made, FVM_RIGHT_SEND, 0);
        }
    }
}

int main(void)
{
    for (uint32_t slot = 0; slot < 3u; slot++) {
        int32_t number = fvm_create_signal(FVM_CAP_KERNEL_MEMORY, 16 * slot, slot);
        BOARD->free[slot] = number;
        if (number > 0) {
            (void)fvm_delete((uint32_t)number);
        }
    }
    BOARD->boots++;
    int32_t thread = fvm_create_thread(FVM_CAP_KERNEL_MEMORY, 64, WORKER, 7);
    (void)fvm_thread_run((uint32_t)thread, worker, stack + 64, 0);
    for (;;) {
        (void)fvm_signal_wait(FVM_CAP_NEVER);
    }
}
