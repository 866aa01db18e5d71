/* The processor of host tests: start and reset end what ran before. */
#include <stdio.h>
#include <stdlib.h>

#include "kernel/kernel.h"
#include "processor.h"

void cpu_arch_init(void) {}

_Noreturn void cpu_arch_start(void) { longjmp(host_started, 1); }

_Noreturn void cpu_arch_reset(void)
{
    puts("reset");
    exit(0);
}

void cpu_arch_settle(void) {}

void cpu_arch_defer(void) { processor_defer(); }

void cpu_arch_forget(void) {}
