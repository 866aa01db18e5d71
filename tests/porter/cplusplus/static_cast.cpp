#include "chip.h"
void f()
{
    *reinterpret_cast<volatile uint32_t *>(static_cast<uintptr_t>(0xE000ED08)) =
        uint32_t(0x08004000);
}
