/* A mid-section by hand: each interrupt is a record, whether there is a character or not. */
#include <fvm/split.h>

#include "fvm_domain.h"

static bool capture(uint32_t *record)
{
    static uint32_t number;
    record[0] = number++;
    return true;
}

static const struct fvm_split_section section = {
    .signal = FVM_CAP_USART2,
    .done = FVM_CAP_USART2_DONE,
    .post = FVM_CAP_USART2_POST,
    .memory = FVM_SHM_USART2_RING,
    .size = FVM_SHM_USART2_RING_SIZE,
    .words = 1,
    .capture = capture,
};

void usart2_mid(void) { fvm_split_run(&section); }
