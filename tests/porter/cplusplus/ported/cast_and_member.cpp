#include "chip.h"
#include <fvm/guest.h>
constexpr uintptr_t base(char port) { return 0x40020000 + 0x400 * (port - 'A'); }
void f()
{
    hyp_pin_write(0, 1u << 5);
    hyp_pin_write(0, 1u << (5 + 16));
    hyp_pin_write(((uint32_t)reinterpret_cast<GPIO_TypeDef *>(base('A')) - 0x40020000U) / 0x400U, 1u << 5);
    hyp_irq_ena(28);
    hyp_pin_write(0, 1u << 5);
}
