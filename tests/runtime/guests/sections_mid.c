/* Mid-section of USART2, as a person writes one. `!` as first byte of three makes it fault.
 * With TEST_NOTHING_IS_LEFT it says of an interrupt without a byte that its cause is gone, too, and
 * drops that. */
#include <fvm/split.h>

#include "fvm_domain.h"

#define USART2_SR (*(volatile uint32_t *)0x40004400u)
#define USART2_DR (*(volatile uint32_t *)0x40004404u)
#define SR_RXNE (1u << 5)

static bool capture(uint32_t *record)
{
    record[0] = USART2_SR;
    if ((record[0] & SR_RXNE) == 0) {
#ifdef TEST_NOTHING_IS_LEFT
        return true;
#else
        return false;
#endif
    }
    record[1] = USART2_DR;
    if (record[1] == '!') {
        *(volatile uint32_t *)0 = 0; /* not granted */
    }
    return true;
}

/* Lower case waits for the next capital, digits are nobody's business. */
static enum fvm_verdict judge(const uint32_t *record, bool consumed)
{
    if (consumed && (record[0] & SR_RXNE) == 0) {
        return FVM_DROP;
    }
    if (record[1] >= 'a' && record[1] <= 'z') {
        return FVM_POSTPONE;
    }
    return record[1] >= '0' && record[1] <= '9' ? FVM_DROP : FVM_POST;
}

static const struct fvm_split_section section = {
    .signal = FVM_CAP_USART2,
    .done = FVM_CAP_USART2_DONE,
    .post = FVM_CAP_USART2_POST,
    .memory = FVM_SHM_USART2_RING,
    .size = FVM_SHM_USART2_RING_SIZE,
    .words = 2,
    .capture = capture,
    .judge = judge,
    .count = {{0, 1u << 3}},
};

void usart2_mid(void) { fvm_split_run(&section); }
