#include "chip.h"
void f()
{
    *(volatile uint32_t *)0xE000ED08 = 0;
    *((volatile uint32_t *)(0xE000E000 + 0xD08)) = 1;
}
