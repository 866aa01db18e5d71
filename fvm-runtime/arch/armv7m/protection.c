/* PMSAv7 (ARMv7-M ARM B3.5). The kernel runs on the privileged default map, so all eight regions
 * are the domain's and the MPU can be off while they change: nothing unprivileged runs meanwhile.
 */
#include "arch/cortexm/scs.h"
#include "kernel/kernel.h"

static bool active;

void protection_arch_init(bool enable)
{
    uint32_t regions = (MPU_TYPE >> 8) & 0xFFu;
    active = enable && regions >= FVM_PROTECTION_REGIONS;
    if (enable && !active) {
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

void protection_arch_load(const struct fvm_protection *protection)
{
    const struct fvm_protection *from = protection;
    MPU_CTRL = 0;
    /* RBAR, RASR and their three aliases: four regions a store multiple. */
    __asm volatile("ldmia %0!, {r1-r8}\n\t"
                   "stmia %1, {r1-r8}\n\t"
                   "ldmia %0, {r1-r8}\n\t"
                   "stmia %1, {r1-r8}"
                   : "+r"(from)
                   : "r"(0xE000ED9Cu), "m"(*protection)
                   : "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "memory");
    SCB_CPACR = protection->cpacr;
    MPU_CTRL = active ? MPU_CTRL_ENABLE_PRIVDEFENA : 0;
    barrier_data();
    barrier_instruction();
}

bool protection_arch_active(void) { return (MPU_CTRL & 1u) != 0; }
