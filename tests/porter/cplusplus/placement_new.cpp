#include "chip.h"
void *operator new(decltype(sizeof 0), void *place);
struct Regs {
    volatile uint32_t CR;
};
void f()
{
    auto *r = new (reinterpret_cast<void *>(0x40023800)) Regs;
    r->CR |= 1;
}
