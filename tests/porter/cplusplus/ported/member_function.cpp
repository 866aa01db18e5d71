#include "chip.h"
#include <fvm/guest.h>
class Led
{
  public:
    void on() { hyp_pin_set(((uint32_t)&port() - 0x40020000U) / 0x400U, 1u << 5, 1u << 5); }
    static void off(const Led &led)
    {
        auto &port = led.port();
        hyp_pin_set(((uint32_t)&port - 0x40020000U) / 0x400U, 0x0020U, 0);
    }

  private:
    GPIO_TypeDef &port() const { return *GPIOA; }
};
