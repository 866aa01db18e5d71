#include "mcu/cmsis_nvic.h"

static inline void hal_debug_break(void) {}
