/* Pins at run time: GPIO ports belong to no VM, single pins do. */
#include "kernel/kernel.h"

/* Words of a port before its set/reset register. */
#define LEVELS_INPUT 8u
#define LEVELS_OUTPUT 4u

static const struct fvm_pin_grant *pin_grant(uint8_t domain_index, uint32_t port)
{
    /*@ loop invariant i <= FVM_PINS;
        loop assigns i; */
    for (uint32_t i = 0; i < FVM_PINS; i++) {
        if (fvm_pin[i].domain == domain_index && fvm_pin[i].port == port) {
            return &fvm_pin[i];
        }
    }
    return NULL;
}

int32_t pin_set(uint8_t domain_index, uint32_t port, uint32_t mask, uint32_t value)
{
    const struct fvm_pin_grant *grant = pin_grant(domain_index, port);
    if (grant == NULL || (mask & ~(uint32_t)grant->mask) != 0) {
        return FVM_E_OWNER;
    }
    /* BSRR: low half sets, high half resets; one store, so nobody's pins are touched. */
    *(volatile uint32_t *)grant->address = (mask & value) | ((mask & ~value) << 16);
    return FVM_OK;
}

int32_t pin_get(uint8_t domain_index, uint32_t port, uint32_t levels)
{
    const struct fvm_pin_grant *grant = pin_grant(domain_index, port);
    if (levels != FVM_PIN_INPUT && levels != FVM_PIN_OUTPUT) {
        return FVM_E_ARGUMENT;
    }
    if (grant == NULL) {
        return FVM_E_OWNER;
    }
    uint32_t before = levels == FVM_PIN_INPUT ? LEVELS_INPUT : LEVELS_OUTPUT;
    return (int32_t)(*(const volatile uint32_t *)(grant->address - before) & grant->own);
}
