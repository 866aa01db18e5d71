#include "chip.h"
struct Nvic {
    volatile uint32_t ISER[8], RESERVED[24], ICER[8];
};
#define NVIC (*reinterpret_cast<Nvic *>(0xE000E100))
static auto *const nvic = reinterpret_cast<Nvic *>(0xE000E100);
void f(unsigned n)
{
    reinterpret_cast<volatile uint32_t *>(0xE000E100)[0] = 1u << 28;
    NVIC.ISER[TIM2_IRQn / 32] = 1u << (TIM2_IRQn % 32);
    nvic->ICER[n >> 5] = 1u << (n & 31);
}
