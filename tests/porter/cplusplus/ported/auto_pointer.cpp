#include "chip.h"
#include <fvm/guest.h>
void f()
{
    hyp_pin_set(0, 1u << 5, 1u << 5);
}
