#include "chip.h"
void f() { *reinterpret_cast<volatile uint32_t *>(0xE000ED08) = 0x08004000; }
