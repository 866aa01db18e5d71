#include "chip.h"
void f([[maybe_unused]] int x)
{
    [[maybe_unused]] uint32_t id = *reinterpret_cast<volatile uint32_t *>(0xE000ED00);
    __WFI();
}
