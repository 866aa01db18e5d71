#include "chip.h"
using Reg = volatile uint32_t;
void f()
{
    *(Reg *)0xE000ED08 = 0;
    *reinterpret_cast<Reg *>(0xE000ED08) = 1;
}
