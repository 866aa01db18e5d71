#include "chip.h"
void f()
{
    try {
        GPIOA->BSRR = 1u << 5;
    } catch (...) {
        __disable_irq();
    }
}
