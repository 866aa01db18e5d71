#include <fvm/guest.h>

template <class T> auto twice(T x)
{
    virt_int_mask(VIRT_PRIMASK);
    auto y = x + x;
    virt_int_unmask(VIRT_PRIMASK);
    return y;
}
