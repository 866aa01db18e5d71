#include <fvm/guest.h>

struct S {
    uint32_t get() const { return virt_int_query(VIRT_PRIMASK); }
};
