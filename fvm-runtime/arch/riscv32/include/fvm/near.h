/* Short accesses of the guest to fvm_state on RV32: C makes them as short as they can be. */
#ifndef FVM_NEAR_H
#define FVM_NEAR_H

#include <stdint.h>

/* Stores the lowest byte of an address. */
static inline void fvm_store_low_byte(volatile uint8_t *byte, const volatile void *address)
{
    __asm volatile("" ::: "memory");
    *byte = (uint8_t)(uintptr_t)address;
    __asm volatile("" ::: "memory");
}

static inline uint32_t fvm_load_byte(const volatile uint8_t *byte) { return *byte; }

#endif
