/* PMSAv7 (ARMv7-M ARM B3.5). The kernel runs on the privileged default map, so all eight regions
 * are the domain's and the MPU can be off while they change: nothing unprivileged runs meanwhile.
 * entry.S loads them when it switches to another domain.
 */
#include "arch/cortexm/scs.h"
#include "kernel/kernel.h"

void protection_arch_init(bool enable)
{
    uint32_t regions = (MPU_TYPE >> 8) & 0xFFu;
    if (enable && regions < FVM_PROTECTION_REGIONS) {
        cpu_arch_reset(); /* never run guests unprotected by accident */
    }
    /* No table reaches regions that a unit has beyond eight. */
    for (uint32_t region = FVM_PROTECTION_REGIONS; region < regions; region++) {
        MPU_RNR = region;
        MPU_RASR = 0;
    }
    barrier_data();
    barrier_instruction();
}

bool protection_arch_active(void) { return (MPU_CTRL & 1u) != 0; }
