/* One domain's PMSAv7 regions in the order the MPU takes them: RBAR with VALID and region number,
 * then RASR (ARMv7-M ARM B3.5). Unused entries are RBAR = VALID | number, RASR = 0. All eight
 * regions belong to the domain; the kernel runs on the privileged default map (PRIVDEFENA). */
#ifndef FVM_PROTECTION_H
#define FVM_PROTECTION_H

#include <stdint.h>

#define FVM_PROTECTION_REGIONS 8

struct fvm_protection {
    struct {
        uint32_t rbar, rasr;
    } region[FVM_PROTECTION_REGIONS];
    uint32_t cpacr; /* 0x00F00000: FPU granted; 0: not */
};

#endif
