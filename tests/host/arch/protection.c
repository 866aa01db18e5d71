/* Protection of the host's processor: it remembers whose table was loaded. */
#include "kernel/kernel.h"
#include "processor.h"

void protection_arch_init(bool enable) { (void)enable; }

void protection_arch_load(const struct fvm_protection *protection)
{
    for (uint32_t i = 0; i < FVM_DOMAINS; i++) {
        if (protection == &fvm_domain[i].protection) {
            host_loaded = i;
        }
    }
}

bool protection_arch_active(void) { return true; }
