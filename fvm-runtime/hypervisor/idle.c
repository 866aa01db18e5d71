/* The idle thread: sleeps; runs when every other thread waits. */
#include "hypervisor/policy.h"

_Noreturn void hyp_idle_thread(void)
{
    for (;;) {
        __asm volatile("dsb\n\twfi" ::: "memory");
    }
}
