/* What a process may name: a capability of its own domain. */
#include "kernel/kernel.h"

/* Those of the run time: slot.c, whose lists aren't proved. */
/*@ assigns \nothing;
    ensures \result == \null || \valid_read(\result);
*/
const struct fvm_capability *slot_find(const struct fvm_domain *domain, uint32_t number);

/*@ requires \valid_read(domain);
    requires \valid_read(domain->capability + (0 .. domain->capability_count - 1));
    assigns \nothing;
    ensures own: number < domain->capability_count ==> \result == &domain->capability[number];
    ensures exists: \result == \null || \valid_read(\result);
*/
const struct fvm_capability *capability_at(const struct fvm_domain *domain, uint32_t number);

#include "kernel/capability.c"
