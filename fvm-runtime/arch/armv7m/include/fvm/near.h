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

static inline uint32_t fvm_load_half(const volatile uint16_t *half)
{
    uint32_t value;
    __asm volatile("ldrh %0, %1" : "=r"(value) : "m"(*half) : "memory");
    return value;
}

struct fvm_pair {
    uint32_t first, second;
};

static inline struct fvm_pair fvm_load_pair(const volatile void *words)
{
    struct fvm_pair pair;
    __asm volatile("ldrd %0, %1, %2"
                   : "=r"(pair.first), "=r"(pair.second)
                   : "Uv"(*(const volatile uint64_t *)words)
                   : "memory");
    return pair;
}

#endif
