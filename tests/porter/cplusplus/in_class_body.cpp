#include "chip.h"
class Led
{
  public:
    void on() { GPIOA->BSRR = 1u << 5; }
};
