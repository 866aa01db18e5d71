#include "chip.h"
#include <fvm/guest.h>
#define KEEP __attribute__((noinline))
struct S {
    uint32_t get() const KEEP { return virt_int_query(VIRT_PRIMASK); }
    uint32_t again() const &noexcept { return virt_int_query(VIRT_PRIMASK); }
    virtual uint32_t more() const = 0;
};
