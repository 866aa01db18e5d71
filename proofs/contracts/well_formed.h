/* What the proofs take from the tables in flash: that they are as the composer makes them, which
 * `fvmkit verify` checks on the finished image. */
#ifndef PROOFS_WELL_FORMED_H
#define PROOFS_WELL_FORMED_H

#include "kernel/kernel.h"

/* Their lengths: tables.h leaves them open. */
extern const struct fvm_route fvm_irq_route[FVM_IRQS];
extern const struct fvm_event_config fvm_event[FVM_EVENTS];
extern const struct fvm_pin_grant fvm_pin[FVM_PINS];

#define KIND(route) ((route).kind & 0x7F)

/*@ predicate route_good(struct fvm_route *route) =
        (KIND(*route) == FVM_ROUTE_NONE || KIND(*route) == FVM_ROUTE_VCPU ||
         KIND(*route) == FVM_ROUTE_SIGNAL) &&
        route->virt_id < FVM_VECTORS &&
        (KIND(*route) == FVM_ROUTE_SIGNAL ==> route->kind == FVM_ROUTE_SIGNAL) &&
        (KIND(*route) != FVM_ROUTE_SIGNAL ==> route->target < FVM_VCPUS) &&
        (KIND(*route) == FVM_ROUTE_SIGNAL ==> route->target < FVM_SIGNALS) &&
        (route->bottom != FVM_NO_INDEX ==> route->bottom < FVM_VCPUS);

    predicate routes_good =
        \forall integer i; 0 <= i < FVM_IRQS ==> route_good(&fvm_irq_route[i]);

    predicate events_good =
        \forall integer i; 0 <= i < FVM_EVENTS ==> route_good(&fvm_event[i].route);

    predicate vcpu_good(struct vcpu *vcpu) =
        \valid(vcpu) && \valid_read(vcpu->config) &&
        vcpu->index < FVM_VCPUS && vcpu == &vcpu_table[vcpu->index];
*/

#endif
