/* Short accesses of the guest to fvm_state on ARMv7-M: C makes one or two instructions more. */
#ifndef FVM_NEAR_H
#define FVM_NEAR_H

#include <stdint.h>

/* Stores the lowest byte of an address. */
static inline void fvm_store_low_byte(volatile uint8_t *byte, const volatile void *address)
{
    __asm volatile("strb %1, %0" : "=m"(*byte) : "r"(address) : "memory");
}

static inline uint32_t fvm_load_byte(const volatile uint8_t *byte)
{
    uint32_t value;
    __asm volatile("ldrb %0, %1" : "=r"(value) : "m"(*byte) : "memory");
    return value;
}

#endif
