/* Guards every access of the kernel to a domain's memory: exactly the ranges inside of its RAM. */
#include "kernel/kernel.h"

/*@ lemma wraps: \forall integer x; -0x100000000 <= x < 0 ==> (uint32_t)x == x + 0x100000000; */

/*@ requires \valid_read(domain);
    requires domain->ram_base + domain->ram_size <= 0x100000000;
    assigns \nothing;
    ensures above: address < domain->ram_base ==> \result == 0;
    ensures below: \result != 0 ==> address + size <= domain->ram_base + domain->ram_size;
    ensures aligned: \result != 0 ==> (address & 3) == 0;
    ensures every: (address & 3) == 0 && domain->ram_base <= address &&
        address < domain->ram_base + domain->ram_size &&
        address + size <= domain->ram_base + domain->ram_size ==> \result != 0;
*/
bool domain_holds(const struct fvm_domain *domain, uint32_t address, uint32_t size);

#include "kernel/domain.c"
