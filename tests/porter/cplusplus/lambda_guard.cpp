#include "chip.h"
static const auto locked = [](auto &&body) {
    auto state = __get_PRIMASK();
    __disable_irq();
    body();
    __set_PRIMASK(state);
};
void f()
{
    locked([&] { GPIOA->BSRR = 1u << 5; });
}
