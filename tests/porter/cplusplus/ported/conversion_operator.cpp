#include "chip.h"
#include <fvm/guest.h>
struct Button {
    explicit operator bool() const { return (hyp_pin_get(0) & 0x20) != 0; }
};
