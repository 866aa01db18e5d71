/* Pins: the grant that is looked up is the caller's own, of the port that it names. */
#include "well_formed.h"

/*@ assigns \nothing;
    ensures \result != \null ==>
        \exists integer i; 0 <= i < FVM_PINS && \result == &fvm_pin[i] &&
            fvm_pin[i].domain == domain_index && fvm_pin[i].port == port;
*/
static const struct fvm_pin_grant *pin_grant(uint8_t domain_index, uint32_t port);

#include "kernel/pin.c"
