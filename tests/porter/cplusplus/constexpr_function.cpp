#include "chip.h"
constexpr uint32_t bit(unsigned n) { return 1u << n; }
void f() { GPIOA->BSRR = bit(5); }
