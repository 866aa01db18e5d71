#include "chip.h"
void f() {
    *reinterpret_cast<volatile uint32_t *>(/* VTOR */ 0xE000ED08) = 0x08004000;
    *reinterpret_cast<volatile uint32_t *>(uint32_t(/* VTOR */ 0xE000ED08)) = 0x08004000;
    GPIOA->BSRR = (/* PA5 */ 32);
}
