/* The load as a machine of its own. */
#include <fvm/guest.h>

#include "load.h"

int main(void)
{
    (void)hyp_irq_ena(TIMER1_LINE);
    load_start();
    for (;;) {
        load_compute();
    }
}
