/* Kernel time: one tick drives virtual ticks, watchdogs and process timers; budgets use cycles. */
#include "kernel/kernel.h"

static uint32_t ticks;
static uint32_t timer_left[FVM_AT_LEAST_ONE(FVM_TIMERS)];

void time_init(void)
{
    for (uint32_t i = 0; i < FVM_TIMERS; i++) {
        timer_left[i] = fvm_timer[i].period;
    }
    timer_arch_init(FVM_CPU_HZ / FVM_TICK_HZ);
}

void time_tick(void)
{
    ticks++;
    for (uint32_t i = 0; i < FVM_VCPUS; i++) {
        vcpu_tick(&vcpu_table[i]);
    }
    for (uint32_t i = 0; i < FVM_TIMERS; i++) {
        if (timer_left[i] != 0 && --timer_left[i] == 0) {
            timer_left[i] = fvm_timer[i].period;
            signal_send(fvm_timer[i].signal);
        }
    }
    scheduler_tick();
    scheduler_choose();
}

uint32_t time_ticks(void) { return ticks; }

int32_t time_set(uint32_t timer, uint32_t after)
{
    timer_left[timer] = after;
    return FVM_OK;
}
