#include "chip.h"
#include <fvm/guest.h>
struct Led {
    Led &operator=(bool on)
    {
        hyp_pin_write(0, on ? 1u << 5 : 1u << 21);
        return *this;
    }
};
