#include "chip.h"
auto state() -> uint32_t { return __get_PRIMASK(); }
