#include "chip.h"
namespace a
{
namespace b
{
void f()
{
    RCC->CR |= 1;
    __WFI();
}
} // namespace b
} // namespace a
namespace a::b
{
void g() { NVIC_EnableIRQ(TIM2_IRQn); }
} // namespace a::b
