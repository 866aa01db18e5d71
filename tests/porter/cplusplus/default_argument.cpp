#include "chip.h"
void pulse(uint32_t pins = 1u << 5);
void pulse(uint32_t pins) { GPIOA->BSRR = pins; }
