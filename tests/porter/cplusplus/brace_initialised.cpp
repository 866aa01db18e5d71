#include "chip.h"
void f()
{
    volatile uint32_t *cr{reinterpret_cast<volatile uint32_t *>(0x40023800)};
    *cr |= 1;
}
