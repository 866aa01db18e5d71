#include "chip.h"
#include <fvm/guest.h>
auto state() -> uint32_t { return virt_int_query(VIRT_PRIMASK); }
