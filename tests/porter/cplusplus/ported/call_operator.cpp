#include <fvm/guest.h>

struct S {
    bool operator()() { return virt_int_query(VIRT_PRIMASK) != 0; }
};
