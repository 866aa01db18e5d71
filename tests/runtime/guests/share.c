/* Takes part in the round: what it does is a word that the test writes into the image. Counts how
 * much it got to compute between two of its own ticks, and how regularly these came. */
#include <fvm/guest.h>
#include <stdbool.h>

#include "fvm_domain.h"
#include "plan.h"
#include "report.h"

#define MS (FVM_CLOCK_HZ / 1000u)
#define SLICE (5u * MS)
#define FROM_TICK 200u
#define TO_TICK 1200u

enum role {
    SLEEPER,          /* works only in its tick handler */
    BUSY,             /* never waits */
    GREEDY,           /* waits just before its slice ends */
    BURSTER,          /* sleeps for long, then needs most of a slice at once */
    SLACKER,          /* works a tenth of the time, in small pieces */
    FLOODER,          /* has a process work for it, again and again */
    FLOODER_WITH_FPU, /* the same, with live FPU registers at each call */
    STRADDLER,        /* computes, and calls the process just before each tick */
    INTERRUPTED,      /* sleeps, and its own timer wakes it 20,000 times a second */
    OVERDRAWN,        /* uses more than its budget, then sleeps until its timer wakes it */
    PUNCTUAL,         /* goes to sleep in the moment in which that timer rings */
    EVERY_OTHER,      /* computes for plan[1] cycles after every other tick */
};

/* plan: the role; OVERDRAWN: cycles more than a slice, PUNCTUAL: before the other's timer rings. */
static volatile uint32_t ticks;
static uint32_t work, longest, last;

void tick_handler(void)
{
    uint32_t now = virt_cycles();
    if (ticks != 0 && now - last > longest) {
        longest = now - last;
    }
    last = now;
    ticks++;
}

/* The same loop for everybody, so that counts compare. */
static void compute(void)
{
    for (uint32_t i = 0; i < 100u; i++) {
        __asm volatile("");
    }
    work++;
}

static void compute_for(uint32_t cycles)
{
    uint32_t start = virt_cycles();
    while (virt_cycles() - start < cycles) {
        compute();
    }
}

#ifdef MILL
static void flood(bool with_fpu)
{
    if (with_fpu) {
        __asm volatile(".fpu fpv4-sp-d16\n\tvmov.f32 s0, #1.0");
    }
    (void)hyp_evt_snd(MILL);
}

/* A little earlier or later before each tick than before the last one: one of them comes into the
 * call just where time is counted. Ticks come at multiples of a millisecond of virt_cycles. */
static void straddle(void)
{
    static uint32_t round;
    uint32_t before = 100u + 8u * (round++ % 32u);
    while (virt_cycles() % MS < MS - before) {
    }
    flood(false);
    while (virt_cycles() % MS >= MS / 2u) {
    }
}
#else
static void straddle(void) {}
static void flood(bool with_fpu) { (void)with_fpu; }
#endif

#ifdef WAKING_TIMER
struct timer {
    volatile uint32_t ctrl, value, reload, clear;
};

#define TIMER ((struct timer *)WAKING_TIMER)
#define CTRL_ENABLE_INTERRUPT 9u

void timer_handler(void)
{
    TIMER->clear = 1;
    work++;
}

static void start_timer(uint32_t period)
{
    TIMER->value = TIMER->reload = period;
    TIMER->ctrl = CTRL_ENABLE_INTERRUPT;
    (void)hyp_irq_ena(WAKING_LINE);
}

static void sleep_between_interrupts(void)
{
    if (TIMER->ctrl == 0) {
        start_timer(FVM_CLOCK_HZ / 20000u);
    }
    (void)hyp_vct_wait();
}

#define RHYTHM MS
#define EARLIER 1500u /* cycles, of the punctual one's timer */

/* The timers of two VMs ring at a fixed distance. */
static void start_timer_in_step(uint32_t phase)
{
    while (virt_cycles() % RHYTHM - phase > 160u) {
    }
    start_timer(RHYTHM);
}

static void overdraw(void)
{
    static uint32_t used, last_look;
    if (TIMER->ctrl == 0) {
        (void)hyp_tick_set(0);
        start_timer_in_step(MS / 5u + EARLIER);
    }
    compute();
    uint32_t now = virt_cycles(), took = now - last_look;
    last_look = now;
    used += took < MS / 50u ? took : MS / 50u; /* longer: somebody else ran */
    if (used > SLICE + plan[1]) {
        used = 0;
        (void)hyp_vct_wait(); /* one that came while it computed */
        (void)hyp_vct_wait();
    }
}

static void sleep_in_time(void)
{
    if (TIMER->ctrl == 0 && ticks > FROM_TICK / 2u) {
        start_timer_in_step(MS / 5u);
    }
    (void)hyp_vct_wait();
    uint32_t until = RHYTHM - EARLIER + plan[1];
    while (TIMER->ctrl != 0 && TIMER->value > until) {
    }
}
#else
static void sleep_between_interrupts(void) {}
static void overdraw(void) {}
static void sleep_in_time(void) {}
#endif

static void take_part(void)
{
    switch (plan[0]) {
    case SLEEPER:
        (void)hyp_vct_wait();
        break;
    case BUSY:
        compute_for(SLICE / 10u);
        break;
    case GREEDY:
        compute_for(SLICE / 100u * 98u);
        (void)hyp_vct_wait();
        break;
    case BURSTER:
        if (ticks % 20u == 0) {
            compute_for(SLICE / 100u * 90u);
        }
        (void)hyp_vct_wait();
        break;
    case FLOODER:
    case FLOODER_WITH_FPU:
        flood(plan[0] == FLOODER_WITH_FPU);
        break;
    case STRADDLER:
        straddle();
        break;
    case INTERRUPTED:
        sleep_between_interrupts();
        break;
    case OVERDRAWN:
        overdraw();
        break;
    case PUNCTUAL:
        sleep_in_time();
        break;
    case EVERY_OTHER:
        if (ticks % 2u == 0) {
            compute_for(plan[1]);
        }
        (void)hyp_vct_wait();
        break;
    default:
        compute_for(MS / 10u);
        (void)hyp_vct_wait();
        break;
    }
}

int main(void)
{
    report_init();
    (void)hyp_tick_set(1000);
    while (ticks < FROM_TICK) {
        take_part();
    }
    work = longest = 0;
    while (ticks < TO_TICK) {
        take_part();
    }
    report("work", (int32_t)work);
    report("longest_us", (int32_t)(longest / (MS / 1000u)));
    report("done", 1);
    for (;;) {
        take_part(); /* the others still count */
    }
}
