#include "chip.h"
class Led
{
  public:
    Led() { RCC->AHB1ENR |= 1; }
    ~Led() { GPIOA->BSRR = 1u << (5 + 16); }
};
