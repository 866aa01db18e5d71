#include "chip.h"
struct Scb {
    static inline auto &vtor = *reinterpret_cast<volatile uint32_t *>(0xE000ED08);
};
void f() { Scb::vtor = 0x08004000; }
