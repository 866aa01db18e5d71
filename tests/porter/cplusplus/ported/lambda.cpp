#include "chip.h"
#include <fvm/guest.h>
void f()
{
    auto on = [] { hyp_pin_write(0, 1u << 5); };
    on();
}
