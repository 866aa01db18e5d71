#include <fvm/native.h>

#include "orders.h"

void wait(uint32_t ticks)
{
    while (ticks-- > 0) {
        (void)fvm_signal_wait(FVM_CAP_TICK);
    }
}

int32_t by(uint32_t who, uint32_t number, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    volatile struct order *order = ORDER(who);
    order->number = number;
    order->argument[0] = a;
    order->argument[1] = b;
    order->argument[2] = c;
    order->argument[3] = d;
    order->given++;
    for (uint32_t i = 0; i < 20u && order->done != order->given; i++) {
        wait(1);
    }
    return order->done == order->given ? order->result : 1000;
}
