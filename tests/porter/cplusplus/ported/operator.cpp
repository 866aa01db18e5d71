#include "chip.h"
#include <fvm/guest.h>
struct Led {
    Led &operator=(bool on)
    {
        hyp_pin_set(0, ((on ? 1u << 5 : 1u << 21) | (on ? 1u << 5 : 1u << 21) >> 16) & 0xFFFFU, (on ? 1u << 5 : 1u << 21) & 0xFFFFU);
        return *this;
    }
};
