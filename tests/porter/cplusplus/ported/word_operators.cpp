#include "chip.h"
#include <fvm/guest.h>
void f(bool a, bool b)
{
    if (a and not b) {
        hyp_pin_write(0, 1u << 5);
    }
}
