/* The native process: its thread `answer` sends the event that the machine asks for; `main` lets a
 * line interrupt the machine, again and again, when it is told to begin. */
#include "fvm_domain.h"
#include <fvm/native.h>

#include "marks.h"

#define DELAY 6400u /* 2000 instructions in QEMU with shift=7 */

struct timer {
    volatile uint32_t CTRL, VALUE, RELOAD, INTCLEAR;
};
#define TIMER1 ((struct timer *)0x40001000u)

ROUNDS(native);

static MARKED void interrupts(void)
{
    TIMER1->RELOAD = 0;
    for (unsigned left = rounds_native; left != 0; left--) {
        TIMER1->VALUE = DELAY;
        TIMER1->CTRL = 9u; /* enabled, with interrupt */
        (void)fvm_signal_wait(FVM_CAP_TIMER1);
        MARK(native);
        TIMER1->CTRL = 0;
        TIMER1->INTCLEAR = 1u;
    }
}

MARKED void answer(void)
{
    for (;;) {
        (void)fvm_signal_wait(FVM_CAP_ASK);
        MARK(event_start);
        (void)fvm_event_send(FVM_CAP_LAST);
    }
}

int main(void)
{
    for (;;) {
        (void)fvm_signal_wait(FVM_CAP_BEGIN);
        interrupts();
        (void)fvm_event_send(FVM_CAP_DONE);
    }
}
