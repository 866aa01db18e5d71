/* hyp_reboot: out of line, so that the log can name the caller by the return address. */
#include <fvm/guest.h>

#include "call.h"

_Noreturn __attribute__((noinline)) void hyp_reboot(void)
{
    for (;;) {
        (void)guest_call(FVM_CALL_REBOOT, 0, 0, 0);
    }
}
