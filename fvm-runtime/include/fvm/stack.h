/* Stacks are filled with a pattern when their domain starts, so that a dump of RAM shows how deep
 * each went since. The linker script names their ends: fvm_stack_<slot>_limit, fvm_stack_<slot>;
 * those of ports have the slots from FVM_DOMAIN_THREADS on. */
#ifndef FVM_STACK_H
#define FVM_STACK_H

#include <stdint.h>
#include <string.h>

#define FVM_STACK_PATTERN 0xA5

/* Bytes below the top that painting leaves alone: the frame that the kernel made for a thread that
 * didn't run yet, or what the painter and memset themselves use. */
#define FVM_STACK_IN_USE 128

/* The stack from `limit` to `top`, or up to the frame of the caller that runs on it. */
static inline void fvm_stack_paint(char *limit, const void *top)
{
    uintptr_t end = (uintptr_t)top - FVM_STACK_IN_USE;
    if (end > (uintptr_t)limit) {
        memset(limit, FVM_STACK_PATTERN, end - (uintptr_t)limit);
    }
}

#endif
