#include "chip.h"
#include <fvm/guest.h>
void pulse(uint32_t pins = 1u << 5);
void pulse(uint32_t pins) { hyp_pin_set(0, ((pins) | (pins) >> 16) & 0xFFFFU, (pins) & 0xFFFFU); }
