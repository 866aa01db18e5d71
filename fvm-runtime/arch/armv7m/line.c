/* Interrupt lines: the NVIC (ARMv7-M ARM B3.4). */
#include "arch/cortexm/scs.h"
#include "kernel/kernel.h"

void line_arch_open(uint32_t line) { NVIC_ISER(line / 32u) = 1u << (line % 32u); }

/* Effective before a thread runs again, by the barrier before every exception return (entry.S). */
void line_arch_close(uint32_t line) { NVIC_ICER(line / 32u) = 1u << (line % 32u); }

void line_arch_mask(uint32_t word, uint32_t close, uint32_t open)
{
    NVIC_ICER(word) = close;
    NVIC_ISER(word) = open;
}

void line_arch_clear(uint32_t line) { NVIC_ICPR(line / 32u) = 1u << (line % 32u); }
