#include "chip.h"
class Led
{
  public:
    void on();
};
void Led::on() { GPIOA->BSRR = 1u << 5; }
