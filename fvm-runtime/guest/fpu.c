/* What a guest may know of the FPU: whether it was built for a grant of it. */
#include <fvm/guest.h>

#define CP10_CP11_FULL (0xFu << 20) /* ARMv7-M ARM B3.2.20 */

uint32_t virt_cpacr(void)
{
#ifdef __ARM_FP
    return CP10_CP11_FULL;
#else
    return 0;
#endif
}
