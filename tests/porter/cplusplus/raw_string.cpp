#include "chip.h"
static const char *kText = R"(__disable_irq(); GPIOA->BSRR = 1;)";
void f()
{
    asm volatile(R"(cpsid i)" ::: "memory");
    (void)kText;
}
