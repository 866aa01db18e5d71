/* Programs for systems whose kernel once took too long: which one TEST_ROLE says. */
#ifdef TEST_VM
#include <fvm/guest.h>
#else
#include <fvm/invoke.h>
#include <fvm/native.h>
#endif
#include "fvm_domain.h"

#define OWN_PORT 1 /* invokes a port of its own, which may be delegated, and uses the FPU */
#define JUDGE 2    /* decides about TEST_VICTIM by reading records */
#define RESTARTS 3 /* restarts TEST_VICTIM again and again */
#define COMPUTES 4 /* has a thread of the run time that is always ready */
#define LINE 5     /* woken by a VM's event, then waits for its own line */
#define FORWARDS 6 /* its port invokes TEST_NEXT */
#define DECIDES 7  /* its port tries to restart TEST_VICTIM */
#define INVOKES 8  /* invokes TEST_NEXT */
#define HANGS 10   /* a VM that stops feeding its watchdog */
#define BUSY 11    /* a VM that computes, sends an event and is interrupted */
#define OWED 12    /* a VM whose masked VCT waits having served one of several ticks */
#define FLOODS 13  /* a VM that sends an event again and again, with live FPU registers */
#define SLEEPS 14  /* a VM that its timer wakes */
#define MOVES 15   /* gives two threads of the run time each other's priorities */
#define WAITS 16   /* waits for a VM's event, with live FPU registers */

volatile uint32_t done, refused;

/* A timer that interrupts every `period` of its ticks. */
#ifdef TEST_MPS2 /* CMSDK: CTRL 0, VALUE, RELOAD, INTCLEAR 3 */
static inline void timer_done(volatile uint32_t *timer) { timer[3] = 1; }

static inline void timer_run(volatile uint32_t *timer, uint32_t period)
{
    timer[1] = timer[2] = period;
    timer[0] = 9;
}
#else /* TIMx: CR1, DIER 3, SR 4, EGR 5, PSC 10, ARR 11 */
static inline void timer_done(volatile uint32_t *timer) { timer[4] = 0; }

static inline void timer_run(volatile uint32_t *timer, uint32_t period)
{
    timer[11] = period;
    timer[5] = 1;
    timer[4] = 0;
    timer[3] = 1;
    timer[0] = 1;
}
#endif

#ifdef TEST_VM
#if TEST_ROLE == OWED
#include <fvm/trap.h>

void tick_handler(void)
{
    uint32_t start = virt_cycles();
    while (virt_cycles() - start < 3u * (FVM_CLOCK_HZ / 1000u)) {
    }
    virt_int_mask(VIRT_PRIMASK);
    (void)fvm_trap1(FVM_CALL_VCT_WAIT, FVM_VIRT_TICK);
}

int main(void)
{
    (void)hyp_tick_set(1000);
    for (;;) {
        virt_int_unmask(VIRT_PRIMASK);
    }
}
#elif TEST_ROLE == FLOODS
int main(void)
{
    for (;;) {
        __asm volatile("vmov.f32 s17, #1.0" ::: "s17");
        (void)hyp_evt_snd(FVM_EVT_CALLED);
    }
}
#elif TEST_ROLE == HANGS
static uint32_t ticks;

void tick_handler(void)
{
    if (++ticks == 3) {
        for (;;) {
        }
    }
}

int main(void)
{
    (void)hyp_tick_set(1000);
    (void)hyp_wdg_clr();
    for (;;) {
    }
}
#else
#define TIMER ((volatile uint32_t *)TEST_TIMER)

void tick_handler(void) {}

void timer_handler(void)
{
    timer_done(TIMER);
    done++;
}

int main(void)
{
#if TEST_ROLE == BUSY
    uint32_t seed = TEST_LINE;
    (void)hyp_tick_set(1000);
#endif
    timer_run(TIMER, 3000 + 27 * TEST_LINE);
    (void)hyp_irq_ena(TEST_LINE);
#if TEST_ROLE == SLEEPS
    for (;;) {
        (void)hyp_vct_wait();
    }
#else
    __asm volatile("vmov.f32 s17, #1.0" ::: "s17");
    for (;;) {
        seed = seed * 1103515245u + 12345u;
        for (volatile uint32_t i = 0; i < (seed >> 18) % 9000u; i++) {
        }
#ifdef TEST_EVENT
        (void)hyp_evt_snd(TEST_EVENT);
#endif
    }
#endif
}
#endif
#elif TEST_ROLE == MOVES
static uint64_t stack[2][64];

static void sleep(uint32_t argument)
{
    (void)argument;
    for (;;) {
        (void)fvm_signal_wait(FVM_CAP_SLOW);
    }
}

int main(void)
{
    int32_t a = fvm_create_thread(FVM_CAP_KERNEL_MEMORY, 0, 0, 4);
    int32_t b = fvm_create_thread(FVM_CAP_KERNEL_MEMORY, 200, 1, 5);
    (void)fvm_thread_run((uint32_t)a, sleep, stack[0] + 64, 0);
    for (uint32_t up = 4;; up = 9 - up) {
        done += fvm_thread_priorities((uint32_t)a, up, (uint32_t)b, 9 - up) == FVM_OK;
        (void)fvm_signal_wait(FVM_CAP_BEAT);
    }
}
#elif TEST_ROLE == WAITS
int main(void)
{
    for (;;) {
        __asm volatile("vmov.f32 s17, #1.0" ::: "s17");
        (void)fvm_signal_wait(FVM_CAP_CALLED);
    }
}
#elif TEST_ROLE == OWN_PORT
uint32_t serve(uint32_t a, uint32_t b, uint32_t c, uint32_t broken) { return a + b + c + broken; }

int main(void)
{
    uint32_t result;
    (void)fvm_port_open(FVM_CAP_SERVE);
    for (;;) {
        (void)fvm_signal_wait(FVM_CAP_BEAT);
        __asm volatile("vmov.f32 s17, #1.0" ::: "s17");
        done += fvm_invoke(FVM_CAP_SERVE, 1, 2, 3, &result) == FVM_OK && result == 6;
    }
}
#elif TEST_ROLE == JUDGE
static enum fvm_decision decide(const struct fvm_fault *fault)
{
    done += fault->serial != 0;
    return FVM_RESTART;
}

int main(void)
{
    static const struct fvm_watched watched[] = {{FVM_INDEX_HANG, FVM_CAP_DOMAIN_HANG}};
    fvm_fault_serve(FVM_CAP_FAULTS, FVM_CAP_LOG, watched, 1, decide);
}
#elif TEST_ROLE == RESTARTS
int main(void)
{
    for (;;) {
        (void)fvm_signal_wait(FVM_CAP_BEAT);
        done += fvm_domain_restart(FVM_CAP_DOMAIN_VICTIM) == FVM_OK;
    }
}
#elif TEST_ROLE == COMPUTES
static uint64_t stack[60];

static void compute(uint32_t argument)
{
    (void)argument;
    for (;;) {
    }
}

int main(void)
{
    int32_t thread = fvm_create_thread(FVM_CAP_KERNEL_MEMORY, 0, 0, 8);
    (void)fvm_thread_run((uint32_t)thread, compute, stack + 60, 0);
    for (;;) {
        (void)fvm_signal_wait(FVM_CAP_BEAT);
    }
}
#elif TEST_ROLE == LINE
#define TIMER ((volatile uint32_t *)0x40000800u) /* TIM4 */

int main(void)
{
    uint32_t seed = 3;
    TIMER[10] = 41;
    timer_run(TIMER, 900);
    for (;;) {
        (void)fvm_signal_wait(FVM_CAP_CALLED);
        seed = seed * 1103515245u + 12345u;
        for (volatile uint32_t i = 0; i < (seed >> 16) % 900u; i++) {
        }
        (void)fvm_signal_wait(FVM_CAP_TIM4);
        timer_done(TIMER);
        done++;
    }
}
#elif TEST_ROLE == FORWARDS || TEST_ROLE == DECIDES
#ifndef TEST_PORT
#define TEST_PORT FVM_CAP_SERVE
#endif

uint32_t serve(uint32_t a, uint32_t b, uint32_t c, uint32_t broken)
{
#if TEST_ROLE == FORWARDS
    uint32_t result = 0;
    (void)broken;
    (void)fvm_invoke(TEST_NEXT, a, b, c, &result);
    return result;
#else
    int32_t result = fvm_call(FVM_CALL_DOMAIN_RESTART, FVM_CAP_DOMAIN_VICTIM, a, b, c).r0;
    (void)broken;
    refused += result == FVM_E_ARGUMENT;
    done += result == FVM_MORE;
    return (uint32_t)result;
#endif
}

int main(void)
{
    (void)fvm_port_open(TEST_PORT);
    for (;;) {
        (void)fvm_signal_wait(FVM_CAP_BEAT);
    }
}
#else
int main(void)
{
    uint32_t result;
    for (;;) {
        (void)fvm_signal_wait(FVM_CAP_BEAT);
        done += fvm_invoke(TEST_NEXT, 1, 2, 3, &result) == FVM_OK;
    }
}
#endif
