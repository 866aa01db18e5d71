#include "chip.h"
template <typename F> void locked(F &&body)
{
    const auto state = __get_PRIMASK();
    __disable_irq();
    body();
    __set_PRIMASK(state);
}
