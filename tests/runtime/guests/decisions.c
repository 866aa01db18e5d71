/* An interrupt at every instruction of a call that the hypervisor decides on: a timer that fires
 * after 1, 2, 3, ... of its ticks, shifted by a few instructions, while the VM asks for a right
 * that it has. It asks before its lockdown, so this takes the place of the start-up's call. */
#include <fvm/guest.h>

#include "fvm_domain.h"
#include "keeps.h"
#include "report.h"

#define LINE 8
#define TICKS_OF_A_CALL 300u
#define SHIFTS 3u /* a timer's tick is 1.25 instructions */
#define PATIENCE                                                                                   \
    200u /* rounds of a loop: less than a tick of the kernel, which would set it right */
#define CTRL_ENABLE 1u
#define CTRL_INTERRUPT 8u

struct timer {
    volatile uint32_t ctrl, value, reload, interrupt;
};
#define TIMER ((struct timer *)0x40000000u)

int __real_hyp_vct_lck(void);
int __wrap_hyp_vct_lck(void);

static volatile uint32_t fired;
static uint32_t refused;

void timer_handler(void)
{
    TIMER->ctrl = 0;
    TIMER->interrupt = 1;
    fired++;
}

static void ask(void) { refused += hyp_evt_add(FVM_EVT_RING) != FVM_OK; }

int __wrap_hyp_vct_lck(void)
{
    uint32_t lost = 0, changed = 0;
    report_init();
    (void)hyp_int_ena();
    (void)hyp_irq_ena(LINE);
    for (uint32_t shift = 0; shift < SHIFTS; shift++) {
        for (uint32_t ticks = 1; ticks < TICKS_OF_A_CALL; ticks++) {
            uint32_t due = fired + 1;
            TIMER->value = ticks;
            TIMER->reload = ticks;
            TIMER->ctrl = CTRL_ENABLE | CTRL_INTERRUPT;
            for (uint32_t i = 0; i < shift; i++) {
                __asm volatile("nop");
            }
            changed += keeps_registers(ticks << 8, ask);
            for (uint32_t patience = 0; fired != due && patience < PATIENCE; patience++) {
            }
            lost += fired != due;
        }
    }
    report("fired", (int32_t)fired);
    report("lost", (int32_t)lost);
    report("refused", (int32_t)refused);
    report("changed", (int32_t)changed);
    return __real_hyp_vct_lck();
}

int main(void)
{
    report("done", 1);
    for (;;) {
        (void)hyp_vct_wait();
    }
}
