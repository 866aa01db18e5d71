/* Events: rights are registered and used only by whom the description names, and what is then
 * reached is an object that exists. */
#include "well_formed.h"

static uint8_t may_send[FVM_AT_LEAST_ONE(FVM_EVENTS)];
static uint8_t bound[FVM_AT_LEAST_ONE(FVM_EVENTS)];

/*@ requires index < FVM_SIGNALS;
    assigns \nothing; */
void signal_send(uint32_t index);

/*@ requires \exists integer i; 0 <= i < FVM_VCPUS && vcpu == &vcpu_table[i];
    requires virt_id < FVM_VECTORS_MAX;
    assigns \nothing; */
void vcpu_pend(struct vcpu *vcpu, uint32_t virt_id, bool transparent);

/*@ requires events_good && vcpu_good(vcpu) && \valid(right);
    requires \separated(right, &may_send[0 .. FVM_EVENTS - 1], vcpu, vcpu->config);
    assigns *right;
    ensures granted: \result == FVM_OK ==> event < FVM_EVENTS &&
        fvm_event[event].sender == vcpu->config->domain && *right == &may_send[event];
*/
int32_t event_grant(const struct vcpu *vcpu, uint32_t event, uint8_t **right);

/* That the VM is the receiver is left to the host tests: the provers don't see through the
 * comparison of a pointer to const here, as they do in interrupt_route. */
/*@ requires events_good && vcpu_good(vcpu) && \valid(right);
    requires \separated(right, &bound[0 .. FVM_EVENTS - 1], vcpu, vcpu->config);
    assigns *right;
    ensures exists: \result == FVM_OK ==> event < FVM_EVENTS && *right == &bound[event];
    ensures vector: \result == FVM_OK ==> virt_id == fvm_event[event].route.virt_id;
    ensures for_a_vm: \result == FVM_OK ==> KIND(fvm_event[event].route) == FVM_ROUTE_VCPU;
*/
int32_t event_bind(const struct vcpu *vcpu, uint32_t event, uint32_t virt_id, uint8_t **right);

/*@ requires events_good && event < FVM_EVENTS;
    requires KIND(fvm_event[event].route) != FVM_ROUTE_SIGNAL;
    assigns \nothing; */
static int32_t deliver_to_vcpu(uint32_t event);

/*@ requires events_good && event < FVM_EVENTS;
    assigns \nothing; */
int32_t event_deliver(uint32_t event);

/*@ requires events_good;
    assigns \nothing;
    ensures rightful: \result == FVM_OK ==>
        event < FVM_EVENTS && fvm_event[event].sender == sender_domain && may_send[event] != 0;
*/
int32_t event_send(uint32_t event, uint8_t sender_domain);

#include "kernel/event.c"
