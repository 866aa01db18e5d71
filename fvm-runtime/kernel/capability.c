/* Capabilities: what a process may name. The tables are const and come from the description. */
#include "kernel/kernel.h"

const struct fvm_capability *capability_find(const struct thread *thread, uint32_t number,
                                             uint8_t type, uint8_t rights)
{
    const struct fvm_domain *domain = thread->domain;
    if (number >= domain->capability_count) {
        return NULL;
    }
    const struct fvm_capability *capability = &domain->capability[number];
    if (capability->type != type || (capability->rights & rights) != rights) {
        return NULL;
    }
    return capability;
}
