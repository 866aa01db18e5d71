/* A timer of an MPS2 board, its interrupt in a VM, and on the first starts one forbidden access
 * each. */
#include <fvm/guest.h>

#include "fvm_domain.h"
#include "report.h"

struct timer {
    volatile uint32_t ctrl, value, reload, status;
};

#define TIMER0 ((struct timer *)0x40000000u)
#define CTRL_ENABLE_INTERRUPT ((1u << 3) | (1u << 0))
#define TIMER0_LINE 8
#define RATE 10000u
#define RUN_MS 200u

#define KERNEL_RAM ((volatile uint32_t *)0x20000000u)

static volatile uint32_t interrupts, ticks, early;

int main(void);

void timer_handler(void)
{
    early += TIMER0->status == 0;
    TIMER0->status = 1;
    interrupts++;
}

void tick_handler(void) { ticks++; }

static void commit(uint32_t crime)
{
    switch (crime) {
    case 1:
        *KERNEL_RAM = 0;
        break;
    case 2: {
        uint32_t address; /* unknown to the compiler: 0 is where the kernel's vectors are */
        __asm volatile("movs %0, #0" : "=r"(address));
        (void)*(volatile uint32_t *)address;
        break;
    }
    case 3:
        *(volatile uint32_t *)((uint32_t)main & ~3u) = 0;
        break;
    default:
        break;
    }
}

int main(void)
{
    report_init();
    commit(boots());
    (void)hyp_tick_set(1000);
    TIMER0->reload = FVM_CLOCK_HZ / RATE - 1u;
    TIMER0->value = FVM_CLOCK_HZ / RATE - 1u;
    TIMER0->ctrl = CTRL_ENABLE_INTERRUPT;
    (void)hyp_irq_ena(TIMER0_LINE);
    while (ticks < RUN_MS) {
        (void)hyp_vct_wait();
    }
    (void)hyp_irq_dis(TIMER0_LINE);
    report("interrupts", (int32_t)interrupts);
    report("early", (int32_t)early);
    report("boots", (int32_t)boots() - 1);
    report("done", 1);
}
