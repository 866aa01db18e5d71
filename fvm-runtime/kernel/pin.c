/* Output pins at run time: GPIO ports belong to no VM, single pins do. */
#include "kernel/kernel.h"

int32_t pin_set(uint8_t domain_index, uint32_t port, uint32_t mask, uint32_t value)
{
    for (uint32_t i = 0; i < FVM_PINS; i++) {
        const struct fvm_pin_grant *grant = &fvm_pin[i];
        if (grant->domain == domain_index && grant->port == port) {
            if ((mask & ~(uint32_t)grant->mask) != 0) {
                return FVM_E_OWNER;
            }
            /* BSRR: low half sets, high half resets; one store, so nobody's pins are touched. */
            *(volatile uint32_t *)grant->address = (mask & value) | ((mask & ~value) << 16);
            return FVM_OK;
        }
    }
    return FVM_E_OWNER;
}
