/* Protection of the host's processor: there is no unit; processor.c notes whose table is loaded. */
#include "kernel/kernel.h"

void protection_arch_init(bool enable) { (void)enable; }

bool protection_arch_active(void) { return true; }
