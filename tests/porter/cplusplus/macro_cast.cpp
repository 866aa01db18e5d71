#include "chip.h"
#define REG(a) (*reinterpret_cast<volatile uint32_t *>(a))
#define VTOR REG(0xE000ED08)
void f()
{
    VTOR = 0;
    REG(0xE000ED08) = 1;
}
