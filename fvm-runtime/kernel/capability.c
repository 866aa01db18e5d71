/* Capabilities: what a process may name. The tables are const and come from the description; behind
 * them a domain may have slots for capabilities of the run time (slot.c). */
#include "kernel/kernel.h"

const struct fvm_capability *capability_at(const struct fvm_domain *domain, uint32_t number)
{
    return number < domain->capability_count ? &domain->capability[number]
                                             : slot_find(domain, number);
}

const struct fvm_capability *capability_find(const struct thread *thread, uint32_t number,
                                             uint8_t type, uint8_t rights)
{
    const struct fvm_domain *domain = thread->domain;
    const struct fvm_capability *capability = capability_at(domain, number);
    if (number >= domain->capability_count && capability == NULL) { /* else it never is */
        return NULL;
    }
    uint32_t word; /* type in its lowest byte, rights in the next: one load, one comparison */
    __builtin_memcpy(&word, capability, sizeof word);
    uint32_t needed = type | (uint32_t)rights << 8;
    return (word & (0xFFu | (uint32_t)rights << 8)) == needed ? capability : NULL;
}
