#include "chip.h"
#include <fvm/guest.h>
struct Led {
    Led() { hyp_pin_write(0, 1u << 5); }
};
Led *make() { return new Led; }
