#include "chip.h"
#define KEEP __attribute__((noinline))
struct S {
    uint32_t get() const KEEP { return __get_PRIMASK(); }
    uint32_t again() const &noexcept { return __get_PRIMASK(); }
    virtual uint32_t more() const = 0;
};
