#include "chip.h"
void f(bool a, bool b)
{
    if (a and not b) {
        GPIOA->BSRR = 1u << 5;
    }
}
