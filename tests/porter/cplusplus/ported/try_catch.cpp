#include "chip.h"
#include <fvm/guest.h>
void f()
{
    try {
        hyp_pin_write(0, 1u << 5);
    } catch (...) {
        virt_int_mask(VIRT_PRIMASK);
    }
}
