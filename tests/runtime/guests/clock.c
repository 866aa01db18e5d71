/* Tick and watchdog, one scenario a start: the watchdog ends each from the third on. */
#include <fvm/guest.h>

#include "fvm_domain.h"
#include "report.h"

#define MS (FVM_CLOCK_HZ / 1000u)

static volatile uint32_t ticks;

void tick_handler(void) { ticks++; }

static void spin_ms(uint32_t ms)
{
    for (; ms != 0; ms--) {
        uint32_t start = virt_cycles();
        while (virt_cycles() - start < MS) {
        }
    }
}

static void rates(void)
{
    report("rate.3000", hyp_tick_set(3000));
    report("rate.2000", hyp_tick_set(2000));
    report("rate.300", hyp_tick_set(300));
    report("rate.max", hyp_tick_set(0xFFFFFFFFu));
    report("rate.none_runs", (int32_t)ticks);
    report("rate.500", hyp_tick_set(500));
    uint32_t before = ticks;
    spin_ms(100);
    report("ticks_of_100ms.500", (int32_t)(ticks - before));
    report("rate.1000", hyp_tick_set(1000));
    before = ticks;
    spin_ms(100);
    report("ticks_of_100ms.1000", (int32_t)(ticks - before));
    report("rate.refused_keeps", hyp_tick_set(7));
    before = ticks;
    spin_ms(100);
    report("ticks_of_100ms.after_refusal", (int32_t)(ticks - before));
    report("rate.0", hyp_tick_set(0));
    before = ticks;
    spin_ms(100);
    report("ticks_of_100ms.0", (int32_t)(ticks - before));
}

/* As LL_mDelay() and delay loops wait. */
static void polled(void)
{
    virt_systick_set_load(MS - 1, FVM_CLOCK_HZ, FVM_CLOCK_HZ);
    virt_systick_set_val(0);
    virt_systick_set_ctrl(5);
    uint32_t start = virt_cycles();
    for (uint32_t periods = 0; periods != 100;) {
        periods += virt_systick_ctrl() >> 16;
    }
    report("polled.periods_ms", (int32_t)((virt_cycles() - start) / MS));
    report("polled.val_in_period", virt_systick_val() < MS);
    virt_systick_set_ctrl(0);
    start = virt_cycles();
    for (uint32_t periods = 0; periods != 50;) {
        periods += virt_tick_ctrl(500, FVM_CLOCK_HZ) >> 16;
    }
    report("polled.tick_ms", (int32_t)((virt_cycles() - start) / MS));
}

/* The description says catchup="10". */
static void catch_up(uint32_t masked_ms, const char *key)
{
    virt_int_mask(VIRT_PRIMASK);
    uint32_t before = ticks;
    spin_ms(masked_ms);
    virt_int_unmask(VIRT_PRIMASK);
    report(key, (int32_t)(ticks - before));
}

static void long_unfed(void)
{
    spin_ms(500); /* 200 ms is the timeout, but nothing was fed yet */
    report("unfed.alive", 1);
    for (uint32_t i = 0; i < 5; i++) {
        (void)hyp_wdg_clr();
        spin_ms(150);
    }
    report("fed.alive", 1);
    (void)hyp_wdg_clr();
}

int main(void)
{
    report_init();
    uint32_t boot = boots();
    report("boot", (int32_t)boot);
    switch (boot) {
    case 1:
        rates();
        polled();
        (void)hyp_tick_set(1000);
        spin_ms(5);
        catch_up(8, "catchup.of_8");
        catch_up(25, "catchup.of_25");
        catch_up(5, "catchup.of_5_after");
        (void)hyp_tick_set(0);
        hyp_reboot();
    case 2:
        long_unfed();
        for (;;) { /* runs, unmasked */
        }
    case 3:
        (void)hyp_tick_set(1000);
        (void)hyp_wdg_clr();
        virt_int_mask(VIRT_PRIMASK);
        for (;;) { /* runs, masked */
        }
    case 4:
        (void)hyp_wdg_clr();
        for (;;) { /* waits, and nothing will come */
            (void)hyp_vct_wait();
        }
    default:
        report("done", 1); /* not fed: it may stay */
    }
}
