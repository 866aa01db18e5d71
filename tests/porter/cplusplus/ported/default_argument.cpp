#include "chip.h"
#include <fvm/guest.h>
void pulse(uint32_t pins = 1u << 5);
void pulse(uint32_t pins) { hyp_pin_write(0, pins); }
