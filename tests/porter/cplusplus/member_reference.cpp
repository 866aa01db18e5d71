#include "chip.h"
class Led
{
  public:
    explicit Led(GPIO_TypeDef &port) : port_(port) {}
    void on() { port_.BSRR = 1u << 5; }

  private:
    GPIO_TypeDef &port_;
};
Led led(*GPIOA);
