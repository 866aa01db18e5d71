#include "chip.h"
class Led
{
    GPIO_TypeDef *const port_;
    uint32_t pin_;

  public:
    Led(GPIO_TypeDef *port, uint32_t pin) : port_(port), pin_(pin) {}
    void on() { port_->BSRR = pin_; }
    void off() { this->port_->BSRR = pin_ << 16; }
};
Led led{GPIOA, 1u << 5};
