/* Orders two processes to make a capability's line long, and takes it back from them and from a
 * third one that did nothing. Each round makes it two links longer: a process gets the capability
 * from the other one's, gives it back, and the upper links are revoked, a step at a time. */
#include <fvm/native.h>

#include "../report.h"
#include "orders.h"

#define ROUNDS 128u
#define TO_OTHER 1u /* of middle and of user, behind their timer: the capability for slots */

uint32_t serve_secret(uint32_t a, uint32_t b, uint32_t c, uint32_t broken)
{
    return a + b + c + broken;
}

static int32_t passed_on(uint32_t who, int32_t cap, uint32_t slot)
{
    return by(who, FVM_CALL_CAP_DELEGATE, TO_OTHER, (uint32_t)cap,
              FVM_RIGHT_INVOKE | FVM_RIGHT_DELEGATE, slot);
}

static int32_t invoked_by(uint32_t who, int32_t cap)
{
    return by(who, FVM_CALL_INVOKE, (uint32_t)cap, 1, 2, 3);
}

int main(void)
{
    report_init();
    (void)fvm_port_open(FVM_CAP_SECRET);
    int32_t bare = fvm_delegate(FVM_CAP_SLOTS_BARE, FVM_CAP_SECRET, FVM_RIGHT_INVOKE, 0);
    int32_t first = fvm_delegate(FVM_CAP_SLOTS_MIDDLE, FVM_CAP_SECRET,
                                 FVM_RIGHT_INVOKE | FVM_RIGHT_DELEGATE, 0);
    int32_t last = passed_on(MIDDLE, first, 0), round = 0;
    for (; round < (int32_t)ROUNDS; round++) {
        int32_t back = passed_on(USER, last, 1);
        (void)by(MIDDLE, FVM_CALL_CAP_REVOKE, (uint32_t)first, 0, 0, 0);
        int32_t next = passed_on(MIDDLE, back, 0);
        if (next <= 0) {
            last = back;
            break;
        }
        (void)by(MIDDLE, FVM_CALL_CAP_REVOKE, (uint32_t)first, 0, 0, 0);
        last = next;
    }
    report("rounds", round);
    report("before", invoked_by(BARE, bare));
    report("revoke", fvm_revoke(FVM_CAP_SECRET));
    report("after.middle", invoked_by(MIDDLE, last));
    report("after.user", invoked_by(USER, last));
    report("after.bare", invoked_by(BARE, bare));
    report("done", 1);
    for (;;) {
        wait(1);
    }
}
