/* Pins at run time: GPIO ports belong to no VM, single pins do. */
#include "kernel/kernel.h"

/* Words of a port before its set/reset register. */
#define LEVELS_INPUT 8u
#define LEVELS_OUTPUT 4u

/* The table is in the order of domains and ports: found by halves, so no call takes longer for the
 * pins of other domains. */
static const struct fvm_pin_grant *pin_grant(uint8_t domain_index, uint32_t port)
{
    uint32_t first = 0, end = FVM_PINS;
    /*@ loop invariant first <= end <= FVM_PINS;
        loop assigns first, end;
        loop variant end - first; */
    while (first < end) {
        uint32_t middle = (first + end) / 2u;
        const struct fvm_pin_grant *grant = &fvm_pin[middle];
        if (grant->domain == domain_index && grant->port == port) {
            return grant;
        }
        if (grant->domain < domain_index || (grant->domain == domain_index && grant->port < port)) {
            first = middle + 1;
        } else {
            end = middle;
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
