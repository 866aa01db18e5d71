#include "chip.h"
#include <fvm/guest.h>
#include "fvm_domain.h"
extern "C" void USART1_IRQHandler() { hyp_pin_write(0, 1u << 5); }
extern "C" {
void TIM2_IRQHandler(void)
{
    __DSB();
    virt_vct_clear(fvm_virt_of_irq(TIM2_IRQn));
}
}
