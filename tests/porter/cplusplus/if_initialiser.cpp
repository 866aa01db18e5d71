#include "chip.h"
bool get();
void f()
{
    if (auto on = get(); on) {
        GPIOA->BSRR = 1u << 5;
    }
}
