#include "chip.h"
class Led
{
  public:
    void on() { port().BSRR = 1u << 5; }
    static void off(const Led &led)
    {
        auto &port = led.port();
        port.BSRR = 1u << (5 + 16);
    }

  private:
    GPIO_TypeDef &port() const { return *GPIOA; }
};
