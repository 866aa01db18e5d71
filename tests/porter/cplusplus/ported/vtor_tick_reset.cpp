#include "chip.h"
#include <fvm/guest.h>
void f()
{
    hyp_tick_set(0);
    hyp_reboot();
}
