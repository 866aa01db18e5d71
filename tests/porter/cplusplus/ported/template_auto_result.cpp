#include <fvm/guest.h>

template <class T> auto state(T) { return virt_int_query(VIRT_PRIMASK); }
