#include "chip.h"
inline void set(volatile uint32_t &r, uint32_t m) { r |= m; }
void f() { set(RCC->AHB1ENR, 1); }
