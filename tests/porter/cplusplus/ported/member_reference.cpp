#include "chip.h"
#include <fvm/guest.h>
class Led
{
  public:
    explicit Led(GPIO_TypeDef &port) : port_(port) {}
    void on() { hyp_pin_write(((uint32_t)&port_ - 0x40020000U) / 0x400U, 1u << 5); }

  private:
    GPIO_TypeDef &port_;
};
Led led(*GPIOA);
