#include "chip.h"
void f()
{
    auto on = [] { GPIOA->BSRR = 1u << 5; };
    on();
}
