#include "chip.h"
#include <fvm/guest.h>
static const char *kText = R"(__disable_irq(); GPIOA->BSRR = 1;)";
void f()
{
    virt_int_mask(VIRT_PRIMASK);
    (void)kText;
}
