/* Lines of the host's processor. */
#include "kernel/kernel.h"
#include "processor.h"

void line_arch_open(uint32_t line) { processor_line_open(line, true); }

void line_arch_close(uint32_t line) { processor_line_open(line, false); }

void line_arch_clear(uint32_t line) { processor_line_clear(line); }
