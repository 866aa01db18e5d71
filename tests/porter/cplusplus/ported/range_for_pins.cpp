#include "chip.h"
#include <fvm/guest.h>
// What <initializer_list> has.
namespace std
{
template <class T> struct initializer_list {
    const T *items;
    decltype(sizeof 0) count;
    const T *begin() const { return items; }
    const T *end() const { return items + count; }
};
} // namespace std
void f()
{
    for (auto *port : {GPIOA, GPIOB}) {
        hyp_pin_write(((uint32_t)port - 0x40020000U) / 0x400U, 1u << 5);
    }
}
