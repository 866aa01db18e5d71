/* A VM that computes and has a line for the overflows of its UART, and one that lets another UART
 * overflow and never quiets it. */
#include <fvm/guest.h>

#include "fvm_domain.h"
#include "report.h"

struct uart {
    volatile uint32_t data, state, ctrl, cleared, bauddiv;
};

#define UART ((struct uart *)TEST_CMSDK_UART)
#define TRANSMIT_OVERRUN (1u << 2) /* in `cleared` */
#define OVERRUN_INTERRUPT (1u << 4)

#define HALF 100u /* ms: one undisturbed, one after the overflow */

static volatile uint32_t ticks, overflows, work;

#ifdef FVM_VIRT_UART_OVERFLOW
void overflow_handler(void)
{
    UART->cleared = TRANSMIT_OVERRUN;
    overflows++;
}
#endif

#ifdef TEST_OVERFLOWS
void tick_handler(void) { ticks++; }

int main(void)
{
    (void)hyp_tick_set(1000);
    while (ticks < HALF) {
        (void)hyp_vct_wait();
    }
    UART->ctrl = OVERRUN_INTERRUPT; /* the transmitter is off: the second character is too many */
    UART->data = 'a';
    UART->data = 'b';
    for (;;) {
        (void)hyp_vct_wait();
    }
}
#else
void tick_handler(void)
{
    static uint32_t before;
    ticks++;
    if (ticks == HALF) {
        before = work;
    } else if (ticks == 2u * HALF) {
        report("before", (int32_t)before);
        report("after", (int32_t)(work - before));
        report("overflows", (int32_t)overflows);
        report("done", 1);
    }
}

int main(void)
{
    report_init();
    (void)hyp_tick_set(1000);
#ifdef FVM_VIRT_UART_OVERFLOW
    (void)hyp_irq_ena(TEST_OVERFLOW_LINE);
#endif
    for (;;) {
        work++;
    }
}
#endif
