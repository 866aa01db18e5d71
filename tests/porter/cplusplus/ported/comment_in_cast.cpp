#include "chip.h"
#include <fvm/guest.h>
void f() {
    hyp_pin_set(0, ( 32), ( 32));
}
