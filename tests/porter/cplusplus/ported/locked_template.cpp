#include "chip.h"
#include <fvm/guest.h>
template <typename F> void locked(F &&body)
{
    const auto state = virt_int_save(VIRT_PRIMASK);
    body();
    virt_int_restore(VIRT_PRIMASK, state);
}
