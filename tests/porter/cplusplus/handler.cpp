#include "chip.h"
extern "C" void USART1_IRQHandler() { GPIOA->BSRR = 1u << 5; }
extern "C" {
void TIM2_IRQHandler(void)
{
    __DSB();
    NVIC_ClearPendingIRQ(TIM2_IRQn);
}
}
