/* Time of the host's processor: it passes when the driver says so. */
#include "kernel/kernel.h"
#include "processor.h"

void timer_arch_init(uint32_t cycles) { processor_timer(cycles); }

uint32_t timer_arch_now(void) { return processor_now(); }
