#include "chip.h"
#include <fvm/guest.h>
bool get();
void f()
{
    if (auto on = get(); on) {
        hyp_pin_write(0, 1u << 5);
    }
}
