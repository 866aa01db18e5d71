#include "chip.h"
#include <fvm/guest.h>
class Led
{
    GPIO_TypeDef *const port_;
    uint32_t pin_;

  public:
    Led(GPIO_TypeDef *port, uint32_t pin) : port_(port), pin_(pin) {}
    void on() { hyp_pin_write(((uint32_t)port_ - 0x40020000U) / 0x400U, pin_); }
    void off() { hyp_pin_write(((uint32_t)this->port_ - 0x40020000U) / 0x400U, pin_ << 16); }
};
Led led{GPIOA, 1u << 5};
