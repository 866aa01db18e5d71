#include "chip.h"
template <uint32_t Base> struct Port {
    static void set() { *reinterpret_cast<volatile uint32_t *>(Base + 0x18) = 1; }
};
void f() { Port<0x40020000>::set(); }
