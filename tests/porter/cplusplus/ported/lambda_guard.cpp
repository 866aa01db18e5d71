#include "chip.h"
#include <fvm/guest.h>
static const auto locked = [](auto &&body) {
    auto state = virt_int_save(VIRT_PRIMASK);
    body();
    virt_int_restore(VIRT_PRIMASK, state);
};
void f()
{
    locked([&] { hyp_pin_write(0, 1u << 5); });
}
