#include "chip.h"
constexpr uintptr_t base(char port) { return 0x40020000 + 0x400 * (port - 'A'); }
void f()
{
    reinterpret_cast<RCC_TypeDef *>(0x40023800)->CR |= 1;
    reinterpret_cast<GPIO_TypeDef *>(0x40020000)->BSRR = 1u << 5;
    (*reinterpret_cast<GPIO_TypeDef *>(0x40020000)).BSRR = 1u << (5 + 16);
    reinterpret_cast<GPIO_TypeDef *>(base('A'))->BSRR = 1u << 5;
    reinterpret_cast<volatile uint32_t *>(0xE000E100)[0] = 1u << 28;
    ((GPIO_TypeDef *)0x40020000)->BSRR = 1u << 5;
}
