#include "chip.h"
#include <fvm/guest.h>
struct Nvic {
    volatile uint32_t ISER[8], RESERVED[24], ICER[8];
};
#define NVIC (*reinterpret_cast<Nvic *>(0xE000E100))
void f(unsigned n)
{
    hyp_irq_ena(28);
    hyp_irq_ena(28);
    hyp_irq_dis(n);
}
