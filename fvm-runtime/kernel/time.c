/* Kernel time: one tick drives virtual ticks, watchdogs and process timers; budgets use cycles.
 *
 * The tick itself only finds out what is due, from a wheel with a mask of alarms a tick. The alarms
 * are served by the deferred exception, the least urgent of all, which does one thing an entry:
 * what the scheduler put off, one alarm, the lines that wait for the next thread, or the switch to
 * it. An interrupt waits for one of them, never for all, however many VMs there are.
 */
#include "kernel/kernel.h"

/* Alarms: the watchdog of each vCPU, which names the thread that was ready before the tick of the
 * same moment wakes VCT; the tick of each vCPU; the timers. */
#define ALARM_WATCHDOG 0u
#define ALARM_TICK (FVM_WATCHDOGS != 0 ? FVM_VCPUS : 0u)
#define ALARM_TIMER (ALARM_TICK + FVM_VCPUS)
#define ALARMS (ALARM_TIMER + FVM_TIMERS)
_Static_assert(ALARMS <= 32, "a mask has 32 bits: the composer refuses such a system");

#define WHEEL 16u /* ticks; an alarm that is further away is put off once a turn */

static uint32_t ticks;
static uint32_t wheel[WHEEL]; /* alarms of a tick */
static uint32_t due;
static uint32_t set_timers;                       /* alarms of timers that will send */
static uint32_t expiry[FVM_AT_LEAST_ONE(ALARMS)]; /* ticks */

static void arm(uint32_t alarm)
{
    int32_t left = (int32_t)(expiry[alarm] - ticks);
    if (left <= 0) {
        due |= 1u << alarm; /* late by a whole period: at once */
    } else {
        left = left < (int32_t)WHEEL ? left : (int32_t)WHEEL - 1;
        wheel[(ticks + (uint32_t)left) % WHEEL] |= 1u << alarm;
    }
}

static void set(uint32_t alarm, uint32_t from_now)
{
    expiry[alarm] = ticks + from_now;
    arm(alarm);
}

void time_init(void)
{
    for (uint32_t i = 0; i < FVM_TIMERS; i++) {
        (void)time_set(i, fvm_timer[i].period);
    }
    timer_arch_init();
}

void time_set_tick(const struct vcpu *vcpu, uint32_t period)
{
    set(ALARM_TICK + (uint32_t)(vcpu - vcpu_table), period);
}

void time_set_watchdog(const struct vcpu *vcpu, uint32_t from_now)
{
    set(ALARM_WATCHDOG + (uint32_t)(vcpu - vcpu_table), from_now);
}

void time_tick(void)
{
    ticks++;
    due |= wheel[ticks % WHEEL];
    wheel[ticks % WHEEL] = 0;
    if (due != 0) {
        cpu_arch_defer();
    }
    scheduler_tick();
}

static uint32_t ring_timer(uint32_t alarm)
{
    const struct fvm_timer_config *timer = &fvm_timer[alarm - ALARM_TIMER];
    if ((set_timers & 1u << alarm) == 0) {
        return 0;
    }
    if (timer->period == 0) {
        set_timers &= ~(1u << alarm);
    }
    signal_send(timer->signal);
    return timer->period;
}

/* An alarm may find nothing to do: what it was for is over, or was set anew. */
static void ring(uint32_t alarm)
{
    uint32_t period = 0; /* each index is compared with its bound: fvmkit verify sees that */
    if (FVM_TIMERS != 0 && alarm - ALARM_TIMER < FVM_TIMERS) {
        period = ring_timer(alarm);
    } else if (FVM_WATCHDOGS != 0 && alarm < ALARM_TICK) {
        period = vcpu_watchdog(&vcpu_table[alarm - ALARM_WATCHDOG], expiry[alarm]);
    } else if (FVM_VCPUS != 0 && alarm < ALARM_TIMER) {
        period = vcpu_tick(&vcpu_table[alarm - ALARM_TICK]);
    }
    if (period != 0) {
        expiry[alarm] += period;
        arm(alarm);
    }
}

static void serve_alarm(void)
{
    uint32_t alarm = (uint32_t)__builtin_ctz(due);
    due &= due - 1u;
    if ((int32_t)(expiry[alarm] - ticks) > 0) {
        arm(alarm);
    } else {
        ring(alarm);
    }
}

/* Does one piece of what was put off. True if it is pended again: for the rest, or because another
 * thread is to run now. */
bool time_deferred(void)
{
    if (cpu.late != 0) {
        scheduler_catch_up();
    } else if (due != 0) {
        serve_alarm();
    } else if (!interrupt_hold(cpu.next)) {
        return false;
    }
    if ((cpu.late | due) == 0 && cpu.current == cpu.next) {
        return false;
    }
    cpu_arch_defer();
    return true;
}

uint32_t time_ticks(void) { return ticks; }

int32_t time_set(uint32_t timer, uint32_t after)
{
    uint32_t alarm = ALARM_TIMER + timer;
    set_timers &= ~(1u << alarm);
    if (after != 0) {
        set_timers |= 1u << alarm;
        set(alarm, after < INT32_MAX ? after : INT32_MAX);
    }
    return FVM_OK;
}
