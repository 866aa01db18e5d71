/* Makes the calls that the owner orders. */
#include <fvm/native.h>

#include "orders.h"

static void obey(volatile struct order *order)
{
    if (order->number == ORDER_TRAP) {
        order->done = order->given;
        __builtin_trap();
    }
    struct fvm_result said = fvm_call(order->number, order->argument[0], order->argument[1],
                                      order->argument[2], order->argument[3]);
    order->result = said.r0;
    order->second = said.r1;
    order->done = order->given;
}

int main(void)
{
    volatile struct order *order = ORDER(ORDERS);
    for (;;) {
        (void)fvm_signal_wait(FVM_CAP_TICK);
        if (order->done != order->given) {
            obey(order);
        }
    }
}
