/* What the processor stores when an exception comes, without FPU (ARMv7-M ARM B1.5.6). */
#ifndef FVM_EXCEPTION_FRAME_H
#define FVM_EXCEPTION_FRAME_H

#include <stdint.h>

struct exception_frame {
    uint32_t r0, r1, r2, r3, r12, lr, pc, xpsr;
};

#endif
