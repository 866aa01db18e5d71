/* Event channels: a sender's right and a receiver's vector, both registered before lockdown. */
#include "kernel/kernel.h"

static uint8_t may_send[FVM_AT_LEAST_ONE(FVM_EVENTS)];
static uint8_t bound[FVM_AT_LEAST_ONE(FVM_EVENTS)]; /* the receiver registered its vector */

int32_t event_grant(const struct vcpu *vcpu, uint32_t event, uint8_t **right)
{
    if (event >= FVM_EVENTS) {
        return FVM_E_ARGUMENT;
    }
    if (fvm_event[event].sender != vcpu->config->domain) {
        return FVM_E_OWNER;
    }
    *right = &may_send[event];
    return FVM_OK;
}

int32_t event_bind(const struct vcpu *vcpu, uint32_t event, uint32_t virt_id, uint8_t **right)
{
    if (event >= FVM_EVENTS) {
        return FVM_E_ARGUMENT;
    }
    const struct fvm_route *route = &fvm_event[event].route;
    if ((route->kind & ~FVM_ROUTE_TRANSPARENT) != FVM_ROUTE_VCPU || route->target != vcpu->index ||
        route->virt_id != virt_id) {
        return FVM_E_OWNER;
    }
    *right = &bound[event];
    return FVM_OK;
}

/* From a VM: it names the event, and its right was registered. */
int32_t event_send(uint32_t event, uint8_t sender_domain)
{
    if (event >= FVM_EVENTS) {
        return FVM_E_ARGUMENT;
    }
    if (fvm_event[event].sender != sender_domain || may_send[event] == 0) {
        return FVM_E_OWNER;
    }
    return event_deliver(event);
}

static FVM_RARE int32_t deliver_to_vcpu(uint32_t event)
{
    const struct fvm_route *route = &fvm_event[event].route;
    if (bound[event] == 0) {
        return FVM_E_BUSY; /* the receiver is starting: it looks at its ring when it is up */
    }
    vcpu_pend(&vcpu_table[route->target], route->virt_id,
              (route->kind & FVM_ROUTE_TRANSPARENT) != 0);
    return FVM_OK;
}

int32_t event_deliver(uint32_t event)
{
    const struct fvm_route *route = &fvm_event[event].route;
    if (FVM_VCPUS != 0 && route->kind != FVM_ROUTE_SIGNAL) {
        return deliver_to_vcpu(event);
    }
    signal_send(route->target);
    return FVM_OK;
}

/* The domain stops: what it registered for the event is void. */
void event_drop(uint32_t domain, uint32_t event)
{
    const struct fvm_route *route = &fvm_event[event].route;
    if (fvm_event[event].sender == domain) {
        may_send[event] = 0;
    }
    if (FVM_VCPUS != 0 && (route->kind & ~FVM_ROUTE_TRANSPARENT) == FVM_ROUTE_VCPU &&
        fvm_vcpu[route->target].domain == domain) {
        bound[event] = 0;
    }
}
