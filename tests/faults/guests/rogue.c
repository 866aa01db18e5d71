/* A native process that commits the crime which the test wrote into its image, once, at a beat. */
#include <fvm/native.h>

#include "code.h"
#include "fvm_domain.h"
#include "plan.h"
#include "report.h"

#define CRIME_BEAT 40u
#define BEATS_A_LINE 5u

/* plan: 0 or 1, two arguments for the code, how many starts commit the crime. */
int main(void)
{
    report_init();
    uint32_t boot = boots();
    report("boot", (int32_t)boot);
    int due = plan[0] != 0 && boot <= plan[3];
    for (uint32_t beat = 1;; beat++) {
        (void)fvm_signal_wait(FVM_CAP_ROGUE_BEAT);
        if (due && beat >= (boot == 1 ? CRIME_BEAT : 2u)) {
            due = 0;
            report("result", run_code(plan[1], plan[2], beat));
        }
        if (beat % BEATS_A_LINE == 0) {
            report("beat", (int32_t)(10u * beat));
        }
    }
}
