/* A process that sleeps with known values in its registers, and looks whether they still are there.
 */
#include <fvm/native.h>

#include "fvm_domain.h"
#include "keeps.h"
#include "report.h"

#define ROUNDS 100u

static void sleep(void) { (void)fvm_signal_wait(FVM_CAP_PULSE); }

int main(void)
{
    uint32_t changed = 0;
    for (uint32_t i = 1;; i++) {
        changed += keeps_registers(i << 16, sleep);
        if (i == ROUNDS) {
            report("rounds", i);
            report("changed", changed);
        }
    }
}
