#include "chip.h"
#include <fvm/guest.h>
constexpr uint32_t bit(unsigned n) { return 1u << n; }
void f() { hyp_pin_write(0, bit(5)); }
