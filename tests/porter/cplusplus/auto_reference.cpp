#include "chip.h"
void f()
{
    auto &p = *GPIOA;
    p.BSRR = 1u << 5;
}
