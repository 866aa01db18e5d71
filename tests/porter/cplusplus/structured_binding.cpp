#include "chip.h"
struct Pair {
    GPIO_TypeDef *port;
    uint32_t pin;
};
Pair led();
void f()
{
    auto [port, pin] = led();
    port->BSRR = pin;
}
