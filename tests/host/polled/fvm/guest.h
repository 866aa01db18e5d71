/* As much of the guest's API as systick.c needs, on this computer. */
#ifndef FVM_GUEST_H
#define FVM_GUEST_H

#include <stdint.h>

#define VIRT_PRIMASK 2u

extern uint32_t cycles; /* the test's clock */
static inline uint32_t virt_cycles(void) { return cycles; }
static inline uint32_t virt_int_save(uint32_t w) { return w - w; }
static inline void virt_int_restore(uint32_t w, uint32_t x) { (void)(w + x); }

#endif
