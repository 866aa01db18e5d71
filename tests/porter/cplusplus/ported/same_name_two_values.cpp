#include "chip.h"
struct A {
    static constexpr uint32_t kBase = 0xE000ED00;
};
struct B {
    static constexpr uint32_t kBase = 0x40000400;
};
void f()
{
    *reinterpret_cast<volatile uint32_t *>(B::kBase + 8) = 1;
}
