#include "chip.h"
#include <fvm/guest.h>
constexpr uint32_t bit(unsigned n) { return 1u << n; }
void f() { hyp_pin_set(0, ((bit(5)) | (bit(5)) >> 16) & 0xFFFFU, (bit(5)) & 0xFFFFU); }
