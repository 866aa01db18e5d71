/* CONTROL.nPRIV as the guest's code set it (ARMv7-M ARM, B1.4.4): kept for who asks, and nothing
 * else depends on it. */
#include <fvm/guest.h>

static volatile uint8_t npriv;

void virt_npriv_set(uint32_t control)
{
    if (npriv == 0 || virt_in_vct()) { /* MSR without privilege does nothing: B5.2.3 */
        npriv = (uint8_t)(control & 1u);
    }
}

uint32_t virt_npriv(void) { return npriv; }
