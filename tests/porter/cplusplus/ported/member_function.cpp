#include "chip.h"
#include <fvm/guest.h>
class Led
{
  public:
    void on() { hyp_pin_write(((uint32_t)&port() - 0x40020000U) / 0x400U, 1u << 5); }
    static void off(const Led &led)
    {
        auto &port = led.port();
        hyp_pin_write(((uint32_t)&port - 0x40020000U) / 0x400U, 1u << (5 + 16));
    }

  private:
    GPIO_TypeDef &port() const { return *GPIOA; }
};
