/* Lines of the host's processor. */
#include "kernel/kernel.h"
#include "processor.h"

void line_arch_open(uint32_t line) { processor_line_open(line, true); }

void line_arch_close(uint32_t line) { processor_line_open(line, false); }

void line_arch_mask(uint32_t word, uint32_t close, uint32_t open)
{
    for (uint32_t bit = 0; bit < 32u; bit++) {
        if (((close | open) >> bit & 1u) != 0) {
            processor_line_open(32u * word + bit, (open >> bit & 1u) != 0);
        }
    }
}

void line_arch_clear(uint32_t line) { processor_line_clear(line); }
